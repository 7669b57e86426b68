package notifications

import (
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// StreamEvent returns what the stream writes for a notification.
func StreamEvent(n message.Notification) string {
	w := httptest.NewRecorder()
	(&eventWriter{w: w, control: http.NewResponseController(w), timeout: time.Second, pause: time.Second}).notification(n)
	return w.Body.String()
}

// NewEventWriter returns the write function of an event stream on w.
func NewEventWriter(w http.ResponseWriter, timeout time.Duration) func(text string) bool {
	return (&eventWriter{w: w, control: http.NewResponseController(w), timeout: timeout, pause: time.Minute}).write
}
