package httpx

import (
	"net/http"
	"time"
)

// WriteTimeout limits the time a client has to read a short response, or each
// piece of a long one.
const WriteTimeout = 30 * time.Second

// deadlineWriter gives each write its own deadline. The write timeout of http.Server
// covers a whole response, which is too short for a large file.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write writes b within WriteTimeout. It clears the deadline afterwards: over HTTP/2,
// net/http resets the stream when it passes, even if no write is waiting.
func (w *deadlineWriter) Write(b []byte) (int, error) {
	w.extend()
	defer w.clear()
	return w.ResponseWriter.Write(b)
}

func (w *deadlineWriter) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(WriteTimeout)) }

func (w *deadlineWriter) clear() { _ = w.control.SetWriteDeadline(time.Time{}) }
