package message

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// TimeOfDay is a time of day in minutes after midnight.
type TimeOfDay int

var timeOfDay = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$`)

// ParseTimeOfDay reads a time of day such as 07:30.
func ParseTimeOfDay(text string) (TimeOfDay, bool) {
	parts := timeOfDay.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	hours, _ := strconv.Atoi(parts[1]) // the expression allows digits only
	minutes, _ := strconv.Atoi(parts[2])
	return TimeOfDay(hours*60 + minutes), true
}

// String returns the time as ParseTimeOfDay reads it.
func (t TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", t/60, t%60) }

// on returns the time on the day of another time.
func (t TimeOfDay) on(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), int(t)/60, int(t)%60, 0, 0, day.Location())
}

// QuietHours is the part of each day in which a person wants no messages: from Start to
// before End, and over midnight if End is before Start. Equal times mean no quiet hours.
type QuietHours struct{ Start, End TimeOfDay }

// Set reports whether there are quiet hours.
func (q QuietHours) Set() bool { return q.Start != q.End }

// EndAfter returns when the quiet hours that contain now end, or the zero time if now is
// outside of them. The times are in the location of now.
func (q QuietHours) EndAfter(now time.Time) time.Time {
	clock := TimeOfDay(now.Hour()*60 + now.Minute())
	day := now
	switch {
	case q.Start < q.End && q.Start <= clock && clock < q.End, q.Start > q.End && clock < q.End:
	case q.Start > q.End && clock >= q.Start:
		day = now.AddDate(0, 0, 1)
	default:
		return time.Time{}
	}
	end := q.End.on(day)
	if !end.After(now) { // the clock was set back meanwhile: 02:30 exists twice on that day
		return time.Time{}
	}
	return end
}
