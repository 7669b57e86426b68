package wire

import (
	"math"
	"time"
)

// Timestamp returns t in RFC 3339, in UTC, with microseconds.
func Timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}

// TimestampOrNull returns Timestamp(t), or nil for the zero time.
func TimestampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := Timestamp(t)
	return &s
}

// OrNull returns s, or nil if it is empty.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Seconds rounds d down to whole seconds; negative durations become 0.
func Seconds(d time.Duration) int { return max(0, int(d/time.Second)) }

// CeilSeconds rounds d up to whole seconds, for a client that must wait at least d.
func CeilSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
