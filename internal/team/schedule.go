package team

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// MaxSlots is the number of slots in a weekly schedule.
const MaxSlots = 21

// TimeOfDay is a time on the clock, in minutes after midnight.
type TimeOfDay int

// ParseTimeOfDay reads HH:MM from 00:00 to 23:59.
func ParseTimeOfDay(text string) (TimeOfDay, error) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("not a time of day: %q", text)
	}
	return TimeOfDay(t.Hour()*60 + t.Minute()), nil
}

// String returns HH:MM.
func (t TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", int(t)/60, int(t)%60) }

// Slot is a weekly time of training.
type Slot struct {
	Weekday    time.Weekday
	Start, End TimeOfDay
}

// ParseWeekday reads the name of a day of the week, such as monday.
func ParseWeekday(name string) (day time.Weekday, ok bool) {
	i := slices.Index(weekdays, name)
	return time.Weekday(i), i >= 0
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// WeekdayName returns the name of a day of the week in small letters.
func WeekdayName(day time.Weekday) string { return weekdays[day] }

// Schedule are the weekly trainings of a batch.
type Schedule []Slot

// String returns the slots as in "monday 17:30-19:00, thursday 17:30-19:00".
func (s Schedule) String() string {
	all := make([]string, len(s))
	for i, slot := range s {
		all[i] = fmt.Sprintf("%s %s-%s", WeekdayName(slot.Weekday), slot.Start, slot.End)
	}
	return strings.Join(all, ", ")
}

// Sort orders the slots from Monday to Sunday, and the slots of a day by their start.
func (s Schedule) Sort() {
	slices.SortFunc(s, func(a, b Slot) int {
		if a.Weekday != b.Weekday {
			return int(a.Weekday+6)%7 - int(b.Weekday+6)%7 // Monday is 0
		}
		return int(a.Start - b.Start)
	})
}

// Check returns the faults of the slots, with pointers below /schedule.
func (s Schedule) Check() []fault.Field {
	var faults []fault.Field
	for i, a := range s {
		at := fmt.Sprintf("/schedule/%d", i)
		if a.End <= a.Start {
			faults = append(faults, fault.Field{Pointer: at + "/end", Code: "invalid_value", Detail: "The end must be after the start on the same day."})
			continue
		}
		if slices.ContainsFunc(s[:i], func(b Slot) bool { return a.Weekday == b.Weekday && a.Start < b.End && b.Start < a.End }) {
			faults = append(faults, fault.Field{Pointer: at, Code: "overlap", Detail: "This overlaps with another time on that day."})
		}
	}
	return faults
}

// On returns the slots on a day.
func (s Schedule) On(d Date) Schedule {
	var on Schedule
	for _, slot := range s {
		if slot.Weekday == d.Weekday() {
			on = append(on, slot)
		}
	}
	return on
}

// Outside reports whether the schedule has slots, but none on d.
func (s Schedule) Outside(d Date) bool { return len(s) > 0 && len(s.On(d)) == 0 }

// Training is one slot of a batch on a day.
type Training struct {
	Batch *Batch
	Date  Date
	Slot
}

// StartsAt returns when the training starts.
func (t Training) StartsAt() time.Time { return t.Date.At(t.Start, Zone(t.Batch.TimeZone)).UTC() }
