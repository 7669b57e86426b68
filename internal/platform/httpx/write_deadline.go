package httpx

import (
	"net/http"
	"time"
)

// WriteTimeout limits the time a client has to read a short response, or each
// piece of a long one.
const WriteTimeout = 30 * time.Second

// deadlineWriter gives each write its own deadline, and the whole response another. The
// write timeout of http.Server covers a whole response, which is too short for a large
// file.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	end     time.Time // of the whole response
}

// Write writes b within WriteTimeout. Between writes only the end of the response
// limits the time: over HTTP/2, net/http resets the stream when a deadline passes, even
// if no write is waiting.
func (w *deadlineWriter) Write(b []byte) (int, error) {
	w.extend()
	defer w.relax()
	return w.ResponseWriter.Write(b)
}

// extend gives the next write its time.
func (w *deadlineWriter) extend() {
	deadline := time.Now().Add(WriteTimeout)
	if w.end.Before(deadline) {
		deadline = w.end
	}
	_ = w.control.SetWriteDeadline(deadline)
}

func (w *deadlineWriter) relax() { _ = w.control.SetWriteDeadline(w.end) }
