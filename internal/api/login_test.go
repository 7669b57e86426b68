package api_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/phone"
)

// loginStore takes every OTP for the right one, and has accounts that have filled
// these fields.
type loginStore struct {
	auth.Store
	filled []string
}

func (s loginStore) VerifyOTP(_ context.Context, t auth.Attempt) (auth.VerificationResult, error) {
	t.SignIn.Session.FilledFields = s.filled
	return auth.VerificationResult{Outcome: auth.CorrectCode, Registered: true}, nil
}

// TestLoginAsksOnce: once the OTP is used up nothing more is asked of the store,
// so that nothing that is away can lose the login.
func TestLoginAsksOnce(t *testing.T) {
	tests := []struct {
		name     string
		filled   []string
		complete bool
		next     string
	}{
		{"nothing is filled", nil, false, "complete_profile"},
		{"something is missing", []string{"email", "name"}, false, "complete_profile"},
		{"more than is wanted", []string{"name", "email", "bio"}, true, "dashboard"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAdapter(t, func(c *api.Config) {
				c.Auth.Store = loginStore{filled: tt.filled}
				c.Auth.Settings = auth.Settings{
					OTPTries: 5, RefreshIdle: time.Hour, RefreshLifetime: time.Hour, AccessLifetime: time.Minute,
					TestCode: func(phone.Number, time.Time) string { return "" },
				}
				c.Coaches = &coach.Service{Required: []string{"name", "bio"}, Now: time.Now}
			})
			w := ask(a.server.Handler(), "POST", "/auth/login", `{"mobile_number":"+919812345678","otp":"123456"}`)
			var answer struct {
				ProfileComplete bool   `json:"profile_complete"`
				Next            string `json:"next"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatal(err)
			}
			if w.Code != 200 || answer.ProfileComplete != tt.complete || answer.Next != tt.next {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
	}
}
