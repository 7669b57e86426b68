package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// encode answers v as JSON.
func encode(w http.ResponseWriter, status int, v any) error {
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

// created answers 201 with v and where it is.
func created(w http.ResponseWriter, location string, v any) error {
	w.Header().Set("Location", location)
	return encode(w, http.StatusCreated, v)
}

// nothing answers 204.
func nothing(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// timestamp returns t as answers write it: RFC 3339, UTC, to the microsecond.
func timestamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
}

// timestampOrNull is timestamp, with nil for the zero time.
func timestampOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := timestamp(t)
	return &s
}

// orNull returns s, or nil where it is empty: what is unset is null on the wire.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// seconds returns d as answers write it: whole, and never more than is left.
func seconds(d time.Duration) int { return max(0, int(d/time.Second)) }
