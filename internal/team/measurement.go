package team

import (
	"math"
	"time"
)

// MaxValue bounds the size of a value.
const MaxValue = 1e12

// Measurement is one value of a player on a day, such as 12.4 s over 80 m.
type Measurement struct {
	ID, CoachID, PlayerID string
	Metric                string
	Value                 float64
	Unit                  string // may be empty
	// On is a day, YYYY-MM-DD.
	On                   string
	CreatedAt, UpdatedAt time.Time
}

// MeasurementPatch changes a measurement; nil keeps a field.
type MeasurementPatch struct {
	Metric *string
	Value  *float64
	Unit   *string
	On     *string
}

// Apply changes m.
func (p MeasurementPatch) Apply(m *Measurement) {
	set(&m.Metric, p.Metric)
	set(&m.Value, p.Value)
	set(&m.Unit, p.Unit)
	set(&m.On, p.On)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// CheckValue returns why a value cannot be stored, as the code and detail of a fault, or "".
func CheckValue(v float64) (code, detail string) {
	switch {
	case math.IsNaN(v) || v > MaxValue:
		return "too_large", "This may be at most 1000000000000."
	case v < -MaxValue:
		return "too_small", "This must be at least -1000000000000."
	}
	return "", ""
}

// oldestDay and newestDay bound the days of records.
const oldestDay, newestDay = "1950-01-01", "2149-12-31"

// CheckDay returns why a day cannot be stored, as the code and detail of a fault, or "".
func CheckDay(day string) (code, detail string) {
	switch _, err := time.Parse(time.DateOnly, day); {
	case err != nil:
		return "invalid_date", "This must be a date such as 2026-05-30."
	case day < oldestDay:
		return "too_early", "This date is too long ago."
	case day > newestDay:
		return "too_late", "This date is too far away."
	}
	return "", ""
}

// CheckMeasured checks the day of a measurement: see CheckDay. The day must have begun
// somewhere on earth, so it is at most the day after the current one in UTC.
func CheckMeasured(day string, now time.Time) (code, detail string) {
	if code, detail := CheckDay(day); code != "" {
		return code, detail
	}
	if day > now.UTC().AddDate(0, 0, 1).Format(time.DateOnly) {
		return "in_future", "This date is in the future."
	}
	return "", ""
}
