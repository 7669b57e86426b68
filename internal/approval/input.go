package approval

import "time"

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
