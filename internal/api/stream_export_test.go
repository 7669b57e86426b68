package api

import (
	"net/http"
	"time"
)

// NewEventWriter returns the write function of an event stream on w.
func NewEventWriter(w http.ResponseWriter, timeout time.Duration) func(text string) bool {
	return (&eventWriter{w: w, control: http.NewResponseController(w), timeout: timeout}).write
}
