package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/store/storetest"
)

// TestDevelopmentSendsWithoutLimit: a server that only listens on loopback and prints its
// SMS sends as many OTPs as are requested, and says so. A limit that is set holds, and
// wrong attempts stay limited.
func TestDevelopmentSendsWithoutLimit(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		const body = `{"mobile_number": "+919812300001"}`
		p := startServer(t, "TOUCHLINE_DATABASE_URL="+url)
		eventually(t, "the start says that limits are off, and that no proxy may stand in front", func() bool {
			return strings.Contains(p.stdout.String(), "Limits on OTPs and messages are off") && strings.Contains(p.stderrText(), "never put a proxy")
		})
		for i := range 30 {
			if status, _, answer := p.post("/auth/request-otp", body); status != 202 {
				t.Fatalf("request %d: got %d %s, want 202", i+1, status, answer)
			}
		}
		wrong := strings.Replace(body, "}", `, "otp": "0000"}`, 1) // too short to be right
		for range 5 {
			if status, _, answer := p.post("/auth/login", wrong); status != 422 {
				t.Fatalf("wrong code: got %d %s, want 422", status, answer)
			}
		}
		if status, _, answer := p.post("/auth/login", wrong); status != 429 {
			t.Errorf("sixth wrong code: got %d %s, want 429", status, answer)
		}

		p.interrupt()
		p.wait(waitLimit)
		limited := launch(t, p.dir, []string{"serve"}, "TOUCHLINE_ADDR=127.0.0.1:0", "TOUCHLINE_DATABASE_URL="+url, "TOUCHLINE_OTP_SENDS_PER_HOUR=1")
		limited.waitUntilServing()
		for i, want := range []int{202, 429} {
			if status, _, answer := limited.post("/auth/request-otp", body); status != want {
				t.Errorf("limited, request %d: got %d %s, want %d", i+1, status, answer, want)
			}
		}
	})
}
