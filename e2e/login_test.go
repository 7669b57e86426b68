package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestClockBehind: sign-in works on a replica whose clock is behind the clock of the
// replica which created the signing key.
func TestClockBehind(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Clock.Advance(-10 * time.Second)
		p := s.SignIn(t, "coach", coachNumber)
		p.Call(t, "GET", "/api/me", nil).Want(t, 200)
		refresh(t, s, p.Refresh).Want(t, 200)
	})
}

// TestPageSignInSurvivesFailure: a code is used up when it was right, so a failure after it does
// not lose the session.
func TestPageSignInSurvivesFailure(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	db := openTables(t, s)
	rename := func(from, to string) {
		t.Helper()
		if _, err := db.Exec("ALTER TABLE " + from + " RENAME TO " + to); err != nil {
			t.Fatal(err)
		}
	}
	b := s.Browser(t)
	codes := s.Sent(coachNumber, "otp")
	b.Open("/sign-in/coach")
	b.Press("Send me a code", "number", coachNumber)
	otp := s.OTP(coachNumber, codes)
	rename("preferences", "preferences_gone")
	b.Press("Continue", "code", otp)
	rename("preferences_gone", "preferences")
	if page := b.Open("/coach"); page.Status != 200 || page.Path != "/coach" {
		t.Errorf("after the sign-in: got %d at %s, want 200 at /coach", page.Status, page.Path)
	}
}
