package api

import (
	"io"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/platform/upload"
)

// NewEventWriter returns the write function of an event stream on w.
func NewEventWriter(w http.ResponseWriter, timeout time.Duration) func(text string) bool {
	return (&eventWriter{w: w, control: http.NewResponseController(w), timeout: timeout, pause: time.Minute}).write
}

// NewUploadBody returns the body of an upload request as a handler reads it.
func NewUploadBody(w http.ResponseWriter, r *http.Request) io.Reader {
	return upload.NewBody(r.Body, http.NewResponseController(w), upload.Timeouts{})
}
