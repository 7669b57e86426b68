package team

import (
	"errors"
	"sync"
	"time"
)

// Date is a day, YYYY-MM-DD. Dates compare as strings; "" is no date.
type Date string

// The first and last Date that a request may name.
const (
	FirstDate Date = "2000-01-01"
	LastDate  Date = "2099-12-31"
)

var errDate = errors.New("not a date")

// ParseDate reads a day from FirstDate to LastDate.
func ParseDate(text string) (Date, error) {
	if _, err := time.Parse(time.DateOnly, text); err != nil || len(text) != len(time.DateOnly) {
		return "", errDate
	}
	if d := Date(text); d >= FirstDate && d <= LastDate {
		return d, nil
	}
	return "", errDate
}

// DateOf returns the day of t in a zone.
func DateOf(t time.Time, zone *time.Location) Date { return Date(t.In(zone).Format(time.DateOnly)) }

// zones are the time zones that Zone has returned, by name. Reading one from the disk takes
// longer than most statements.
var zones sync.Map

// Zone returns the time zone with an IANA name, UTC if there is none.
func Zone(name string) *time.Location {
	if known, ok := zones.Load(name); ok {
		return known.(*time.Location)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	zones.Store(name, zone)
	return zone
}

// Weekday returns the day of the week of d.
func (d Date) Weekday() time.Weekday { return d.utc().Weekday() }

// AddDays returns the day that is n days after d.
func (d Date) AddDays(n int) Date { return Date(d.utc().AddDate(0, 0, n).Format(time.DateOnly)) }

// Month returns the month of d, YYYY-MM.
func (d Date) Month() string { return string(d[:7]) }

// At returns a time of the day d in a zone, as RFC 5545 (section 3.3.5) reads one. If the start of daylight saving time skips that time, it
// returns the time that is as much later: 01:00 for a skipped midnight. Of a time that is there twice, when daylight saving time ends, it
// returns the first. time.Date takes either, depending on the zone.
func (d Date) At(of TimeOfDay, zone *time.Location) time.Time {
	clock := d.utc().Add(time.Duration(of) * time.Minute)
	t := time.Date(clock.Year(), clock.Month(), clock.Day(), clock.Hour(), clock.Minute(), 0, 0, zone)
	offset := offsetOf(t)
	if t.Add(offset).Before(clock) { // skipped, and before the change of the clocks
		return clock.Add(-offset).In(zone)
	}
	if changed, _ := t.ZoneBounds(); !changed.IsZero() {
		if first := t.Add(offset - offsetOf(changed.Add(-1))); first.Before(changed) {
			return first
		}
	}
	return t
}

// offsetOf returns how much later than UTC the clocks in the zone of t are.
func offsetOf(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// End returns the first moment after d in a zone.
func (d Date) End(zone *time.Location) time.Time { return d.AddDays(1).At(0, zone) }

// utc returns d as a time; the zero time for a string that is not a date.
func (d Date) utc() time.Time {
	t, _ := time.Parse(time.DateOnly, string(d))
	return t
}

// AddMonths returns the same day n months later, or the last day of a shorter month.
func (d Date) AddMonths(n int) Date {
	t := d.utc()
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return Date(first.AddDate(0, 0, min(t.Day(), last)-1).Format(time.DateOnly))
}

// AddYears returns the same day n years later.
func (d Date) AddYears(n int) Date { return d.AddMonths(12 * n) }

// AdultAge is the age at which a student may approve alone (spec section 3, rule 5).
const AdultAge = 18
