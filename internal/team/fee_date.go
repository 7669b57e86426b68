package team

import "time"

// AddMonths returns the same day n months later, or the last day of a shorter month.
func (d Date) AddMonths(n int) Date {
	t := d.utc()
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return Date(first.AddDate(0, 0, min(t.Day(), last)-1).Format(time.DateOnly))
}

// addYears returns the same day n years later.
func (d Date) addYears(n int) Date { return d.AddMonths(12 * n) }
