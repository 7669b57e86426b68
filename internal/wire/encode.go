package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Encode answers v as JSON.
func Encode(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller who is gone needs no answer
	return nil
}

// Created answers 201 with v and where it is.
func Created(w http.ResponseWriter, location string, v any) error {
	w.Header().Set("Location", location)
	return Encode(w, http.StatusCreated, v)
}

// Nothing answers 204.
func Nothing(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Timestamp returns t as answers write it: RFC 3339, UTC, to the microsecond.
func Timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}

// TimestampOrNull is Timestamp, with nil for the zero time.
func TimestampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := Timestamp(t)
	return &s
}

// OrNull returns s, or nil where it is empty: what is unset is null on the wire.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Seconds returns d as answers write it: whole, and never more than is left.
func Seconds(d time.Duration) int { return max(0, int(d/time.Second)) }

// WholeSeconds rounds d up: whoever waits that long has waited long enough.
func WholeSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }
