package e2e_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// logLines returns the log lines of s with a message.
func logLines(t *testing.T, s *touchlinetest.Service, message string) []object {
	t.Helper()
	var lines []object
	for text := range strings.Lines(s.Log.String()) {
		line := object{}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("the log line is not JSON: %s", text)
		}
		if line["msg"] == message {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestSecurityEvents: each security event is logged once at info with ids, and without
// personal data.
func TestSecurityEvents(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		seen := 0
		// expect checks the events since the last call, by name, and that those given have
		// these attributes.
		expect := func(what string, want ...object) {
			t.Helper()
			lines := logLines(t, s, "security event")
			got := lines[seen:]
			seen = len(lines)
			if len(got) != len(want) {
				t.Errorf("%s: got the events %v, want %v", what, got, want)
				return
			}
			for i, attributes := range want {
				for name, value := range attributes {
					if got[i][name] != value {
						t.Errorf("%s: got %v, want %s %v", what, got[i], name, value)
					}
				}
				if got[i]["level"] != "INFO" || len(got[i]["trace_id"].(string)) != 32 {
					t.Errorf("%s: got %v, want a trace id at info", what, got[i])
				}
			}
		}
		coach := s.Coach(t, coachNumber)
		session := coach.Login.String("session_id")
		expect("sign-in", object{"event": "sign_in", "account_id": coach.ID, "session_id": session, "role": "coach", "new_account": true})

		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		expect("sign-in", object{"event": "sign_in", "account_id": guardian.ID, "new_account": false})
		decideAsGuardian(t, guardian, player, "approved")
		decideAsGuardian(t, guardian, player, "approved") // repeats the decision and changes nothing
		expect("decision", object{"event": "decision_recorded", "account_id": guardian.ID, "player_id": player, "party": "guardian", "action": "approved"})

		guardian.Call(t, "GET", "/api/players", nil).Want(t, 403, "role_not_allowed")
		expect("role", object{
			"event": "role_refused", "account_id": guardian.ID, "session_id": guardian.Login.String("session_id"), "route": "/api/players",
		})

		otp := requestCoachOTP(t, s, newNumber)
		attempt := func(code string) *touchlinetest.Response {
			return s.Call(t, "POST", "/auth/login", "", object{"mobile_number": newNumber, "otp": code})
		}
		for i := range 5 {
			attempt(wrongOTP(otp, i)).Want(t, 422, "otp_incorrect")
		}
		attempt(otp).Want(t, 429, "otp_attempts_exceeded")
		expect("wrong OTPs",
			object{"event": "otp_wrong", "attempts_left": 4.0}, object{"event": "otp_wrong"}, object{"event": "otp_wrong"}, object{"event": "otp_wrong"},
			object{"event": "otp_wrong", "attempts_left": 0.0}, object{"event": "otp_locked"},
			object{"event": "limit_reached", "code": "otp_attempts_exceeded", "route": "/auth/login"})

		coach.Call(t, "PUT", "/api/coach/visibility", object{"visible": true, "show": []string{"name"}}).Want(t, 200)
		coach.Call(t, "PUT", "/api/coach/visibility", object{"visible": true, "show": []string{"name"}}).Want(t, 200) // no change
		expect("visibility", object{"event": "setting_changed", "setting": "visibility", "value": true, "account_id": coach.ID})

		next := refresh(t, s, coach.Refresh).Want(t, 200)
		s.Call(t, "GET", "/api/me", next.String("access_token"), nil).Want(t, 200)
		s.Clock.Advance(time.Minute)
		refresh(t, s, coach.Refresh).Want(t, 401, "refresh_token_reused")
		expect("reuse", object{"event": "refresh_reused", "account_id": coach.ID, "session_id": session})

		guardian.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		expect("logout", object{"event": "logout", "account_id": guardian.ID, "session_id": guardian.Login.String("session_id")})
		guardian = s.SignIn(t, "guardian", guardianNumber)
		s.Call(t, "POST", "/auth/logout", "", object{"refresh_token": guardian.Refresh, "all": true}).Want(t, 204)
		expect("logout of all", object{"event": "sign_in"}, object{"event": "logout_all", "account_id": guardian.ID, "session_id": guardian.Login.String("session_id")})

		op := s.Operator(t, operator.Coaches)
		op.Call(t, "POST", "/api/admin/coaches/"+coach.ID+"/suspend", object{"reason": "asked for by the school"}).Want(t, 200)
		otp = requestCoachOTP(t, s, coachNumber)
		s.Call(t, "POST", "/auth/login", "", object{"mobile_number": coachNumber, "otp": otp}).Want(t, 403, "account_suspended")
		op.Call(t, "POST", "/api/admin/coaches/"+coach.ID+"/restore", nil).Want(t, 200)
		op.Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", object{"tier": "academy"}).Want(t, 200)
		op.Call(t, "GET", "/api/admin/audit", nil).Want(t, 403, "insufficient_scope")
		s.AdminCall(t, "GET", "/api/admin/audit", op.Token+"x", nil).Want(t, 401)
		expect("operators",
			object{"event": "coach_suspended", "account_id": coach.ID, "operator_id": op.ID},
			object{"event": "sign_in_refused", "code": "account_suspended"},
			object{"event": "coach_restored", "account_id": coach.ID, "operator_id": op.ID},
			object{"event": "setting_changed", "setting": "tier", "value": "academy", "account_id": coach.ID, "operator_id": op.ID},
			object{"event": "scope_refused", "operator_id": op.ID, "route": "/api/admin/audit"},
			object{"event": "operator_token_refused", "code": "token_invalid", "route": "/api/admin/audit"})

		for _, line := range append(logLines(t, s, "security event"), logLines(t, s, "request")...) {
			text, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			for _, private := range []string{
				coachNumber[1:], guardianNumber[1:], newNumber[1:], "Meera", "Rao", "school", otp, op.Token, coach.Access, coach.Refresh, coach.Device, "127.0.0.1",
			} {
				if strings.Contains(string(text), private) {
					t.Errorf("the log line %s contains %q", text, private)
				}
			}
		}
	})
}

// TestAccessLog: with ACCESS_LOG each request is a line at info with the pattern of its
// route and its duration in milliseconds; without it the line has the level debug.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	for level, on := range map[string]bool{"INFO": true, "DEBUG": false} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
				coach := s.Coach(t, coachNumber)
				var before int
				eventually(t, "the sign-in is logged", func() bool {
					before = len(logLines(t, s, "request"))
					return before == 3
				})
				coach.Call(t, "GET", "/api/players/"+coach.ID+"?secret=query", nil).Want(t, 404)
				s.AdminCall(t, "GET", "/api/admin/coaches/"+coach.ID, "tlo_x", nil).Want(t, 401)
				var lines []object
				eventually(t, "both requests are logged", func() bool { // a line follows the response
					lines = logLines(t, s, "request")[before:]
					return len(lines) == 2
				})
				for i, want := range []object{
					{"level": level, "method": "GET", "route": "/api/players/{player_id}", "status": 404.0},
					{"level": level, "method": "GET", "route": "/api/admin/coaches/{coach_id}", "status": 401.0},
				} {
					for name, value := range want {
						if lines[i][name] != value {
							t.Errorf("got %v, want %s %v", lines[i], name, value)
						}
					}
					if ms, ok := lines[i]["duration_ms"].(float64); !ok || ms <= 0 || ms > 60_000 {
						t.Errorf("got duration_ms %v, want milliseconds", lines[i]["duration_ms"])
					}
					if got := slices.Sorted(maps.Keys(lines[i])); !slices.Equal(got, []string{"duration_ms", "level", "method", "msg", "route", "span_id", "status", "time", "trace_id"}) {
						t.Errorf("got the attributes %v", got)
					}
				}
			}, func(c *config.Config) { c.AccessLog = on })
		})
	}
}
