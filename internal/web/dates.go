package web

import (
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/team"
)

// Moment is a time that people read.
type Moment struct {
	// Text is relative in the first 14 days: "3 days ago". Later it is the day.
	Text string
	// Exact is the day and time: "Tuesday 12 May, 17:30".
	Exact string
	// Machine is for the attribute datetime (RFC 3339).
	Machine string
}

// Ago returns when t was, relative to now.
func (v *Texts) Ago(t time.Time) Moment {
	return Moment{Text: v.relative(t), Exact: v.DateTime(t), Machine: t.UTC().Format(time.RFC3339)}
}

func (v *Texts) relative(t time.Time) string {
	passed := v.now.Sub(t)
	switch {
	case passed < time.Minute:
		return v.MustT("time.now")
	case passed < time.Hour:
		return v.MustT("time.minutes_ago", "Count", int(passed/time.Minute))
	case passed < 24*time.Hour:
		return v.MustT("time.hours_ago", "Count", int(passed/time.Hour))
	case passed < 14*24*time.Hour:
		return v.MustT("time.days_ago", "Count", int(passed/(24*time.Hour)))
	}
	return v.Date(t)
}

// Days returns a duration in whole days, or in hours or minutes below a day: "3 days".
func (v *Texts) Days(d time.Duration) string {
	switch {
	case d < time.Minute:
		return v.MustT("time.short")
	case d < time.Hour:
		return v.MustT("time.minutes", "Count", int(d/time.Minute))
	case d < 24*time.Hour:
		return v.MustT("time.hours", "Count", int(d/time.Hour))
	}
	return v.MustT("time.days", "Count", int(d/(24*time.Hour)))
}

// Since returns the days since t: "3 days".
func (v *Texts) Since(t time.Time) string { return v.Days(v.now.Sub(t)) }

// Date returns the day in the reader's time zone: "12 May", with the year if it is another.
func (v *Texts) Date(t time.Time) string {
	t = t.In(v.zone)
	return v.texts.Date(t, t.Year() != v.now.In(v.zone).Year())
}

// Birthday returns a birth date with its year: "30 April 2014".
func (v *Texts) Birthday(d approval.Date) string {
	return v.dayMonthYear(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC))
}

// dayMonthYear returns the date of t in UTC: "30 April 2014".
func (v *Texts) dayMonthYear(t time.Time) string {
	return v.texts.Date(t, true)
}

// DateTime returns the day and time in the reader's time zone: "Tuesday 12 May, 17:30".
func (v *Texts) DateTime(t time.Time) string {
	local := t.In(v.zone)
	return v.texts.Weekday(local) + " " + v.Date(t) + v.texts.Comma + local.Format("15:04")
}

// Clock returns the time of the day: "17:30".
func (v *Texts) Clock(t time.Time) string { return t.In(v.zone).Format("15:04") }

// When returns when a message was written, in short words: "17:30" today, "Tue" in the week before, else "12 May". The exact time
// is with it.
func (v *Texts) When(t time.Time) Moment {
	m := Moment{Exact: v.DateTime(t), Machine: t.UTC().Format(time.RFC3339)}
	switch today, day := team.DateOf(v.now, v.zone), team.DateOf(t, v.zone); {
	case day >= today:
		m.Text = v.Clock(t)
	case day > today.AddDays(-7):
		m.Text = strings.Fields(v.MustT("time.weekdays.short"))[t.In(v.zone).Weekday()]
	default:
		m.Text = v.Date(t)
	}
	return m
}

// Stamp is a moment in a log: "28 Nov 2026, 13:07".
func (v *Texts) Stamp(t time.Time) Moment {
	local := t.In(v.zone)
	day := strconv.Itoa(local.Day()) + " " + strings.Fields(v.MustT("time.months.short"))[local.Month()-1] + " " + strconv.Itoa(local.Year())
	return Moment{Text: day + ", " + v.Clock(t), Exact: v.DateTime(t), Machine: t.UTC().Format(time.RFC3339)}
}

// DayOf returns the day of t: "Today", or "Tuesday 12 May".
func (v *Texts) DayOf(t time.Time) string {
	day := team.DateOf(t, v.zone)
	if day == team.DateOf(v.now, v.zone) {
		return v.MustT("today.title")
	}
	return v.TeamDay(day)
}

// Before reports whether t is still to come.
func (v *Texts) Before(t time.Time) bool { return v.now.Before(t) }

// Validity returns whether a certificate is valid, ends soon or has ended.
func (v *Texts) Validity(d coach.Document) string { return string(d.Validity(v.now)) }

// Day returns a date for people: "12 May", with the year if it is another.
func (v *Texts) Day(d coach.Date) string {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return string(d)
	}
	return v.Date(time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, v.zone)) // a day may have no midnight
}

// Micros returns t as forms carry it: see Request.Time.
func (v *Texts) Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
