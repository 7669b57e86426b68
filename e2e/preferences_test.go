package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// A person's preferences belong to the number, and a student whose approval is pending may
// change them.
func TestPreferences(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, "+919812345670")
		coach.AddPlayer(t, touchlinetest.Minor("+919812345671", "+919812345671"))
		guardian, student := s.SignIn(t, "guardian", "+919812345671"), s.SignIn(t, "student", "+919812345671")

		got := student.Call(t, "GET", "/api/me/preferences", nil).Want(t, 200)
		const none = `{"language":null,"time_zone":null,"quiet_hours":null,"channels":{"notice":null,"reminder":null,"request":null,"team":null},"stopped_coaches":[]}`
		if string(got.Body) != none {
			t.Errorf("preferences before a choice: %s", got.Body)
		}
		got = student.Call(t, "PATCH", "/api/me/preferences", map[string]any{"language": "hi", "time_zone": "Asia/Kolkata"}).Want(t, 200)
		if got.String("language") != "hi" || got.String("time_zone") != "Asia/Kolkata" {
			t.Errorf("chosen preferences: %s", got.Body)
		}
		got = guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"time_zone": nil}).Want(t, 200)
		if got.String("language") != "hi" || got.JSON["time_zone"] != nil {
			t.Errorf("the same number in another role: %s", got.Body)
		}
		if got := coach.Call(t, "GET", "/api/me/preferences", nil).Want(t, 200); got.JSON["language"] != nil {
			t.Errorf("another number: %s", got.Body)
		}
		got = guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{
			"quiet_hours": map[string]any{"start": "21:30", "end": "07:00"}, "stopped_coaches": []string{strings.ToUpper(coach.ID)},
			"channels": map[string]any{"request": []string{"sms", "email"}, "notice": []string{}},
		}).Want(t, 200)
		const chosen = `{"language":"hi","time_zone":null,"quiet_hours":{"start":"21:30","end":"07:00"},"channels":{"notice":[],"reminder":null,"request":["sms","email"],"team":null},"stopped_coaches":["%s"]}`
		if want := fmt.Sprintf(chosen, coach.ID); string(got.Body) != want {
			t.Errorf("chosen preferences: %s, want %s", got.Body, want)
		}
		got = guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"channels": map[string]any{"request": nil}}).Want(t, 200)
		if got.String("quiet_hours.start") != "21:30" || strings.Contains(string(got.Body), "email") {
			t.Errorf("one kind cleared: %s", got.Body)
		}
		got = guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"language": nil, "quiet_hours": nil, "channels": nil, "stopped_coaches": nil}).Want(t, 200)
		if string(got.Body) != none {
			t.Errorf("everything cleared: %s", got.Body)
		}
		for pointer, body := range map[string]map[string]any{
			"/language":          {"language": "fr"},
			"/time_zone":         {"time_zone": "Mars/Olympus"},
			"/quiet_hours":       {"quiet_hours": "night"},
			"/quiet_hours/end":   {"quiet_hours": map[string]any{"start": "21:30"}},
			"/quiet_hours/start": {"quiet_hours": map[string]any{"start": "9 pm", "end": "07:00"}},
			"/channels":          {"channels": []string{"sms"}},
			"/channels/request":  {"channels": map[string]any{"request": []string{}}},
			"/channels/notice/0": {"channels": map[string]any{"notice": []string{"pigeon"}}},
			"/channels/notice/1": {"channels": map[string]any{"notice": []string{"sms", "sms"}}},
			"/channels/otp":      {"channels": map[string]any{"otp": []string{"sms"}}},
			"/stopped_coaches/0": {"stopped_coaches": []string{"coach"}},
		} {
			got := guardian.Call(t, "PATCH", "/api/me/preferences", body).Want(t, 422, "validation_failed")
			if !strings.Contains(string(got.Body), `"pointer":"`+pointer+`"`) {
				t.Errorf("%v: %s, want a fault at %s", body, got.Body, pointer)
			}
		}
		for _, body := range []map[string]any{
			{"language": ""},
			{"time_zone": "Local"},
			{"quiet_hours": map[string]any{"start": "21:30", "end": "21:30"}},
		} {
			guardian.Call(t, "PATCH", "/api/me/preferences", body).Want(t, 422, "validation_failed")
		}
		s.Call(t, "GET", "/api/me/preferences", "", nil).Want(t, 401, "token_missing")
	})
}

// A message in quiet hours leaves when they end; a code does not wait. A guardian stops the
// messages of a coach on the page, and the coach sees why nothing arrives.
func TestQuietHoursAndStoppedCoach(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		first := coach.AddPlayer(t, child(0, guardianNumber))
		s.SMS(guardianNumber, "message", 0)
		guardian := s.SignIn(t, "guardian", guardianNumber)
		now := s.Clock.Now().UTC()
		quiet := map[string]any{"start": now.Add(-time.Hour).Format("15:04"), "end": now.Add(2 * time.Hour).Format("15:04")}
		guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"time_zone": "UTC", "quiet_hours": quiet}).Want(t, 200)
		waiting := coach.AddPlayer(t, child(1, guardianNumber)).String("guardian_request_id")
		eventually(t, "the message waits", func() bool {
			state, reason := smsDelivery(getRequest(t, coach, waiting))
			return state == "queued" && reason == "quiet_hours"
		})
		s.Clock.Skip(2 * time.Minute) // past OTP_RESEND_AFTER
		codes, sent := s.Sent(guardianNumber, "otp"), s.Sent(guardianNumber, "message")

		b := s.Browser(t)
		b.Open("/sign-in/guardian")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, codes))
		if sent != 1 || s.Sent(guardianNumber, "message") != 1 {
			t.Errorf("%d messages were sent in quiet hours, want 1 before them", s.Sent(guardianNumber, "message"))
		}
		s.Clock.Advance(2*time.Hour + time.Minute)
		s.SMS(guardianNumber, "message", 1)

		b.Open("/me/guardian/settings")
		b.Press("Save", "language", "en", "quiet_start", "21:00", "quiet_end", "")
		if got := b.Page.Text(); !strings.Contains(got, "Enter both times") || b.Page.Value("quiet_start") != "21:00" {
			t.Errorf("after half of the quiet hours: %s", got)
		}
		b.Press("Save", "language", "en", "time_zone", "UTC", "quiet_start", "", "quiet_end", "")
		b.Open("/me/guardian/players/" + first.String("player_id"))
		b.Press("Stop messages from this coach")
		if got := b.Page.Text(); !strings.Contains(got, "The messages from this coach are stopped.") {
			t.Errorf("after the stop: %s", got)
		}
		got := guardian.Call(t, "GET", "/api/me/preferences", nil).Want(t, 200)
		if !strings.Contains(string(got.Body), coach.ID) || got.JSON["quiet_hours"] != nil {
			t.Errorf("preferences after the forms: %s", got.Body)
		}
		stopped := coach.AddPlayer(t, child(2, guardianNumber)).String("guardian_request_id")
		eventually(t, "the message is dropped", func() bool {
			state, reason := smsDelivery(getRequest(t, coach, stopped))
			return state == "failed" && reason == "stopped" && smsDetail(getRequest(t, coach, stopped)) != ""
		})
		for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
			if item["approver_type"] == "guardian" && item["blocked_by"] != "stopped" {
				t.Errorf("pending: %v, want blocked by stopped", item)
			}
		}
		b.Open("/me/guardian/settings")
		b.Press("Allow messages again: Meera Nair")
		coach.AddPlayer(t, child(3, guardianNumber))
		s.SMS(guardianNumber, "message", 2)
	}, func(c *config.Config) { c.AccessTokenLifetime = 12 * time.Hour })
}

// The coach chooses the language of a guardian who has chosen none.
func TestLanguageOfPlayer(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, "+919812345670")
		body := touchlinetest.Minor("+919812345671", "+919812345672")
		body["guardian"].(map[string]any)["language"] = "hi"
		player := coach.AddPlayer(t, body)
		if player.String("guardian.language") != "hi" || player.String("student.language") != "" {
			t.Errorf("the player: %s", player.Body)
		}
		path := "/api/players/" + player.String("player_id")
		if got := coach.Call(t, "PATCH", path, map[string]any{"student": map[string]any{"language": "en"}}).Want(t, 200); got.String("student.language") != "en" {
			t.Errorf("the changed player: %s", got.Body)
		}
		coach.Call(t, "PATCH", path, map[string]any{"guardian": map[string]any{"language": "fr"}}).Want(t, 422, "validation_failed")
		for role, want := range map[string]string{"guardian": "hi", "student": "en"} {
			number := map[string]string{"guardian": "+919812345671", "student": "+919812345672"}[role]
			if got := s.SignIn(t, role, number).Call(t, "GET", "/api/me/preferences", nil).Want(t, 200); got.String("language") != want {
				t.Errorf("the %s: %s, want %s", role, got.Body, want)
			}
		}
	})
}
