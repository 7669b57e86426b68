package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// TestLoginReadsNothingAfterTheOTP checks that a login reads nothing after the OTP is used up, because a
// failed read would lose the login: the database is closed by then.
func TestLoginReadsNothingAfterTheOTP(t *testing.T) {
	const number = phone.Number("+919812345679")
	tests := []struct {
		name     string
		filled   string // sets columns of the profile
		complete bool
		next     string
	}{
		{"empty profile", "version = 1", false, "complete_profile"},
		{"a required field is missing", "email = 'a@example.org', name = 'A'", false, "complete_profile"},
		{"complete profile", "email = 'a@example.org', name = 'A', bio = 'B'", true, "dashboard"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newFixture(t, func(c *api.Config) {
				c.Auth.Settings = auth.Settings{
					OTPLength: 6, OTPValidity: time.Hour, OTPTries: 5, OTPWrongPerDay: 10, RefreshIdle: time.Hour, RefreshLifetime: time.Hour, AccessLifetime: time.Minute,
					OTPChannel: "sms",
					Reachable:  func(phone.Number) bool { return true },
					TestCode:   func(phone.Number, time.Time) string { return "123456" },
				}
				c.Coaches = &coach.Service{Required: []string{"name", "bio"}, Now: time.Now}
			})
			id := newID()
			a.exec(t, `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ($1, $2, 'coach', 0)`, id, string(number))
			a.exec(t, `INSERT INTO coaches (id, created_at, updated_at) VALUES ($1, 0, 0)`, id)
			a.exec(t, `UPDATE coaches SET `+tt.filled)
			if _, err := a.auth.RequestOTP(t.Context(), auth.OTPRequest{Number: number, Role: actor.Coach}); err != nil {
				t.Fatal(err)
			}
			a.auth.Store.Verified = func(outcome auth.VerifyOutcome) {
				if err := a.sql.Close(); err != nil || outcome != auth.CorrectCode {
					t.Errorf("after the attempt: outcome %v, close the database: %v", outcome, err)
				}
			}
			w := send(a.server.Handler(), "POST", "/auth/login", `{"mobile_number":"`+string(number)+`","otp":"123456"}`)
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
