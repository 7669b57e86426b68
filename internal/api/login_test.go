package api_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/phone"
)

// fakeLoginStore accepts every OTP. Its accounts have filled in these fields.
type fakeLoginStore struct {
	auth.Store
	filled []string
}

func (s fakeLoginStore) VerifyOTP(_ context.Context, t auth.Attempt) (auth.VerificationResult, error) {
	t.SignIn.Session.FilledFields = s.filled
	return auth.VerificationResult{Outcome: auth.CorrectCode, Registered: true}, nil
}

// TestLoginReadsNothingAfterTheOTP checks that a login makes no other call to the store
// after the OTP is used up, because a failed call would lose the login.
func TestLoginReadsNothingAfterTheOTP(t *testing.T) {
	tests := []struct {
		name     string
		filled   []string
		complete bool
		next     string
	}{
		{"empty profile", nil, false, "complete_profile"},
		{"a required field is missing", []string{"email", "name"}, false, "complete_profile"},
		{"complete profile", []string{"name", "email", "bio"}, true, "dashboard"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newFixture(t, func(c *api.Config) {
				c.Auth.Store = fakeLoginStore{filled: tt.filled}
				c.Auth.Settings = auth.Settings{
					OTPChannel: "sms",
					OTPTries:   5, RefreshIdle: time.Hour, RefreshLifetime: time.Hour, AccessLifetime: time.Minute,
					TestCode: func(phone.Number, time.Time) string { return "" },
				}
				c.Coaches = &coach.Service{Required: []string{"name", "bio"}, Now: time.Now}
			})
			w := send(a.server.Handler(), "POST", "/auth/login", `{"mobile_number":"+919812345678","otp":"123456"}`)
			var got struct {
				ProfileComplete bool   `json:"profile_complete"`
				Next            string `json:"next"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if w.Code != 200 || got.ProfileComplete != tt.complete || got.Next != tt.next {
				t.Errorf("got %d %s, want profile_complete %v, next %s", w.Code, w.Body, tt.complete, tt.next)
			}
		})
	}
}
