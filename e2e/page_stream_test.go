package e2e_test

import (
	"bufio"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/clock"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestPageStream: no proxy may compress the stream of a page, a comment keeps it open, and a browser that has seen more than there
// is, because a backup was restored, loads its page again.
func TestPageStream(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Coach(t, coachNumber)
		b := s.Browser(t)
		codes := s.Sent(coachNumber, "otp")
		s.Clock.Skip(2 * time.Minute)
		b.Open("/sign-in/coach")
		b.Press("Send me a code", "number", coachNumber)
		b.Press("Continue", "code", s.OTP(coachNumber, codes))
		for _, tt := range []struct{ seen, first string }{{"", "id: 0"}, {"0", "id: 0"}, {"999999", "data: changed"}, {"x", "id: 0"}} {
			req, err := http.NewRequest("GET", s.URL+"/coach/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.AddCookie(&http.Cookie{Name: "touchline-coach", Value: b.Cookie("touchline-coach")})
			if tt.seen != "" {
				req.Header.Set("Last-Event-ID", tt.seen)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got := resp.Header.Get("Cache-Control"); resp.StatusCode != 200 || got != "no-store, no-transform" {
				t.Fatalf("%d, Cache-Control %q", resp.StatusCode, got)
			}
			lines := bufio.NewScanner(resp.Body)
			var read []string
			until := func(line string) {
				t.Helper()
				for lines.Scan() {
					if read = append(read, lines.Text()); lines.Text() == line {
						return
					}
				}
				t.Fatalf("the stream has no %q: %q, %v", line, read, lines.Err())
			}
			until(tt.first)
			stop := advance(s.Clock) // the stream may not have its ticker yet
			defer stop()
			until(strings.TrimSpace(httpx.StreamComment))
			stop()
			if changed := strings.Contains(strings.Join(read, "\n"), "data: changed"); changed != (tt.first == "data: changed") {
				t.Errorf("Last-Event-ID %q: %q", tt.seen, read)
			}
		}
	})
}

// advance moves the clock forward by a heartbeat each 100 ms until stop.
func advance(c *clock.Clock) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				c.Advance(httpx.StreamHeartbeat)
			}
		}
	}()
	return sync.OnceFunc(func() { close(done) })
}
