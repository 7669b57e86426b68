package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// loginStore takes every OTP for the right one.
type loginStore struct {
	auth.Store
	registered bool
}

func (s loginStore) TryOTP(context.Context, auth.Try) (auth.Tried, error) {
	return auth.Tried{Verdict: auth.RightCode, Registered: s.registered}, nil
}

// profileStore has a complete profile, once it has failed a few times.
type profileStore struct {
	coach.Store
	failures int
	reads    int
}

func (s *profileStore) Profile(ctx context.Context, _ string) (coach.Profile, error) {
	s.reads++
	if s.reads <= s.failures {
		return coach.Profile{}, fault.Down(errors.New("away"))
	}
	return coach.Profile{Name: "Ravi"}, ctx.Err()
}

// TestLoginSurvivesItsProfile: when the profile is read the OTP is used up, so
// one failure must not lose the login.
func TestLoginSurvivesItsProfile(t *testing.T) {
	tests := []struct {
		name       string
		registered bool
		failures   int
		status     int
		complete   bool
		reads      int
	}{
		{"all is well", true, 0, 200, true, 1},
		{"one read fails", true, 1, 200, true, 2},
		{"the database is away", true, 2, 503, false, 2},
		{"a new coach has no profile to read", false, 2, 200, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			profiles := &profileStore{failures: tt.failures}
			a := newAdapter(t, func(c *api.Config) {
				c.Auth.Store = loginStore{registered: tt.registered}
				c.Auth.Settings = auth.Settings{
					OTPTries: 5, RefreshIdle: time.Hour, RefreshLifetime: time.Hour, AccessLifetime: time.Minute,
					TestCode: func(phone.Number, time.Time) string { return "" },
				}
				c.Coaches = &coach.Service{Store: profiles, Required: []string{"name"}, Now: time.Now}
			})
			w := ask(a.server.Handler(), "POST", "/auth/login", `{"mobile_number":"+919812345678","otp":"123456"}`)
			var answer struct {
				ProfileComplete bool `json:"profile_complete"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if w.Code != tt.status || answer.ProfileComplete != tt.complete || profiles.reads != tt.reads {
				t.Errorf("%d after %d reads, want %d after %d: %s", w.Code, profiles.reads, tt.status, tt.reads, w.Body)
			}
		})
	}
}
