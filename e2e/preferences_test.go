package e2e_test

import (
	"testing"

	"github.com/touchline/touchline/internal/touchlinetest"
)

// A person's preferences belong to the number, and a student whose approval is pending may
// change them.
func TestPreferences(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, "+919812345670")
		coach.AddPlayer(t, touchlinetest.Minor("+919812345671", "+919812345671"))
		guardian, student := s.SignIn(t, "guardian", "+919812345671"), s.SignIn(t, "student", "+919812345671")

		got := student.Call(t, "GET", "/api/me/preferences", nil).Want(t, 200)
		if len(got.JSON) != 2 || got.JSON["language"] != nil || got.JSON["time_zone"] != nil {
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
		for _, body := range []map[string]any{{"language": "fr"}, {"language": ""}, {"time_zone": "Mars/Olympus"}, {"time_zone": "Local"}, {"channels": []string{"sms"}}} {
			guardian.Call(t, "PATCH", "/api/me/preferences", body).Want(t, 422, "validation_failed")
		}
		s.Call(t, "GET", "/api/me/preferences", "", nil).Want(t, 401, "token_missing")
	})
}

// The coach chooses the language of a guardian who has chosen none.
func TestLanguageOfPlayer(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
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
