package e2e_test

import (
	"testing"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestSecurityEventsOfPages: what pages refuse is logged as what the API refuses.
func TestSecurityEventsOfPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	seen := 0
	expect := func(what string, want ...object) {
		t.Helper()
		lines := logLines(t, s, "security event")
		got := lines[seen:]
		seen = len(lines)
		if len(got) != len(want) {
			t.Fatalf("%s: got the events %v, want %v", what, got, want)
		}
		for i, attributes := range want {
			for name, value := range attributes {
				if got[i][name] != value {
					t.Errorf("%s: got %v, want %s %v", what, got[i], name, value)
				}
			}
		}
	}

	b := s.Browser(t)
	codes := s.Sent(coachNumber, "otp")
	b.Open("/sign-in/coach")
	b.Press("Send me a code", "number", coachNumber)
	otp := s.OTP(coachNumber, codes)
	for i := range 5 {
		b.Press("Continue", "code", wrongOTP(otp, i))
	}
	if page := b.Press("Continue", "code", otp); page.Status != 429 {
		t.Errorf("a code without attempts: got %d, want 429", page.Status)
	}
	wrong := object{"event": "otp_wrong"}
	expect("wrong codes", wrong, wrong, wrong, wrong, wrong, object{"event": "otp_locked"},
		object{"event": "limit_reached", "code": "otp_attempts_exceeded", "route": "/sign-in/code"})

	op := s.Operator(t, operator.Audit)
	console := s.Browser(t)
	console.Open(s.AdminURL + "/")
	console.Press("Sign in", "token", op.Token+"x")
	console.Press("Sign in", "token", op.Token)
	if page := console.Open(s.AdminURL + "/coaches"); page.Status != 403 {
		t.Errorf("a page of another scope: got %d, want 403", page.Status)
	}
	expect("operators",
		object{"event": "operator_token_refused", "code": "token_invalid", "route": "/sign-in"},
		object{"event": "scope_refused", "operator_id": op.ID, "route": "/coaches"})
}
