package web

import (
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/team"
)

// TeamDay returns a day with its weekday: "Tuesday 12 May".
func (v *Texts) TeamDay(d team.Date) string {
	noon := d.At(12*60, v.zone)
	return v.texts.Weekdays[d.Weekday()] + " " + v.Date(noon)
}

// ShortDay returns a day in short words: "Tue 12 May".
func (v *Texts) ShortDay(d team.Date) string {
	noon := d.At(12*60, v.zone)
	weekdays, months := strings.Fields(v.MustT("time.weekdays.short")), strings.Fields(v.MustT("time.months.short"))
	return weekdays[d.Weekday()] + " " + strconv.Itoa(noon.Day()) + " " + months[noon.Month()-1]
}

// Month returns a month, YYYY-MM, as people write it: "March 2026".
func (v *Texts) Month(month string) string {
	year, number, _ := strings.Cut(month, "-")
	n, _ := strconv.Atoi(number)
	return v.texts.Months[max(int(time.January), n)-1] + " " + year
}

// Counted returns how many marks of a kind there are: "11 present"; "" for none.
func (v *Texts) Counted(counts team.Counts, mark string) string {
	n := counts[team.Mark(mark)]
	if n == 0 {
		return ""
	}
	return v.MustT("mark.count."+mark, "Count", n)
}

// TrainingTimes returns the weekly times of a schedule, one line for each time of the day:
// "Monday, Thursday 17:30–19:00".
func (v *Texts) TrainingTimes(s team.Schedule) []string {
	var times []string
	days := map[string][]string{}
	for _, slot := range s {
		at := slot.Start.String() + "–" + slot.End.String()
		if days[at] == nil {
			times = append(times, at)
		}
		days[at] = append(days[at], v.texts.Weekdays[slot.Weekday])
	}
	for i, at := range times {
		names := strings.Join(days[at], ", ")
		if len(days[at]) == len(WeekdayOrder) {
			names = v.MustT("batch.every_day")
		}
		times[i] = names + " " + at
	}
	return times
}

// WeekdayOrder are the days of the week as a schedule shows them.
var WeekdayOrder = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}
