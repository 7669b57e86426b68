package httpx

import (
	"net/http"
	"time"
)

// WriteTimeout limits the time a client has to read a short response, or each
// piece of a long one.
const WriteTimeout = 30 * time.Second

// deadlineWriter renews the write deadline before each write. The write timeout of
// http.Server covers a whole response, which is too short for a large file.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

// WriteHeader renews the write deadline and writes the status.
func (w *deadlineWriter) WriteHeader(status int) {
	w.extend()
	w.ResponseWriter.WriteHeader(status)
}

// Write renews the write deadline and writes b.
func (w *deadlineWriter) Write(b []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(b)
}

func (w *deadlineWriter) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(WriteTimeout)) }
