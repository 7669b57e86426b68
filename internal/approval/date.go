package approval

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/team"
)

// Date is a calendar day without time or zone, such as a birth date.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// ParseDate parses YYYY-MM-DD. It refuses days that do not exist.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return Date{}, fmt.Errorf("not a date of the form YYYY-MM-DD")
	}
	return DateOf(t), nil
}

// DateOf returns the UTC date of t.
func DateOf(t time.Time) Date {
	y, m, d := t.UTC().Date()
	return Date{y, m, d}
}

// String returns YYYY-MM-DD.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// Before reports whether d is earlier than e.
func (d Date) Before(e Date) bool { return d.String() < e.String() }

// IsAdult reports whether a person born on d is an adult at now.
func (d Date) IsAdult(now time.Time) bool { return d.AgeOn(now) >= team.AdultAge }

// AdultBirthDate returns the latest birth date of an adult on the UTC date of now.
func AdultBirthDate(now time.Time) Date { return BornBefore(now, team.AdultAge) }

// BornBefore returns the latest birth date of a person of that age in full years on the UTC date of now.
func BornBefore(now time.Time, age int) Date {
	born := DateOf(now)
	born.Year -= age
	return born
}

// AgeOn returns the full years from d to the UTC date of now. Someone born on 29
// February is a year older on 1 March of a common year.
func (d Date) AgeOn(now time.Time) int {
	today := DateOf(now)
	age := today.Year - d.Year
	if today.Month < d.Month || today.Month == d.Month && today.Day < d.Day {
		age--
	}
	return age
}

// Limits of text fields in characters, which package api checks.
const (
	MaxName         = 100
	MaxRelationship = 50
	maxAge          = 120
)

// CheckBirthDate returns the text of the fault in d, or "".
func CheckBirthDate(d Date, now time.Time) string {
	switch {
	case DateOf(now).Before(d):
		return "A birth date cannot lie in the future."
	case d.AgeOn(now) > maxAge:
		return "This birth date is more than 120 years ago."
	}
	return ""
}
