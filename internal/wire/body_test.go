package wire_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wire"
)

func TestReadAll(t *testing.T) {
	tests := []struct {
		name   string
		body   io.Reader
		length int64 // -1 if the request does not say it
		code   string
	}{
		{"at the limit", strings.NewReader(strings.Repeat("a", 1024)), 1024, ""},
		{"at the limit, without length", strings.NewReader(strings.Repeat("a", 1024)), -1, ""},
		{"above the limit", strings.NewReader(strings.Repeat("a", 1025)), 1025, "payload_too_large"},
		{"above the limit, without length", strings.NewReader(strings.Repeat("a", 1025)), -1, "payload_too_large"},
		{"ends early", iotest.ErrReader(io.ErrUnexpectedEOF), 10, "malformed_request"},
		{"fails", iotest.ErrReader(io.ErrClosedPipe), 10, "malformed_request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", tt.body)
			r.ContentLength = tt.length
			w := httptest.NewRecorder()
			raw, err := wire.ReadAll(w, r, 1024)
			if fault.CodeOf(err) != tt.code || (err == nil) != (len(raw) == 1024) {
				t.Errorf("got %d bytes, %v, want the code %q", len(raw), err, tt.code)
			}
			if closes := w.Header().Get("Connection") == "close"; closes != (tt.code == "payload_too_large") {
				t.Errorf("the connection closes: %v", closes)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	at := time.Date(2026, 3, 2, 14, 45, 0, 120_000, time.FixedZone("IST", 5*3600+1800))
	if got := wire.Timestamp(at); got != "2026-03-02T09:15:00.00012Z" {
		t.Errorf("got %s", got)
	}
	if got := wire.TimestampOrNull(time.Time{}); got != nil {
		t.Errorf("got %s for the zero time, want nil", *got)
	}
	for d, want := range map[time.Duration][2]int{-time.Second: {0, -1}, 0: {0, 0}, 1500 * time.Millisecond: {1, 2}, 2 * time.Second: {2, 2}} {
		if floor, ceil := wire.Seconds(d), wire.CeilSeconds(d); floor != want[0] || ceil != want[1] {
			t.Errorf("%s: got %d and %d, want %v", d, floor, ceil, want)
		}
	}
}
