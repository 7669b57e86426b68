package touchlinetest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	touchline "github.com/touchline/touchline/clients/go"
	"github.com/touchline/touchline/clients/go/touchlinetest"
)

type player struct {
	PlayerID       string `json:"player_id"`
	GuardianStatus string `json:"guardian_status"`
}

func signIn(t *testing.T, s *touchlinetest.Service, number, role string) *touchline.Client {
	t.Helper()
	c := touchline.New(touchline.Options{BaseURL: s.URL})
	if err := c.Session.RequestOTP(t.Context(), number, role, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Session.SignIn(t.Context(), number, role, s.Code(number)); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestForce is the longer example of docs/testing.md: an app sees a guardian's approval, and a month later still does.
func TestForce(t *testing.T) {
	s := touchlinetest.Start(t)
	number, guardian := s.Number(), s.Number()
	coach := signIn(t, s, number, "coach")
	profile := map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}
	if _, err := touchline.Call[struct{}](t.Context(), coach, http.MethodPost, "/auth/complete-profile", profile); err != nil {
		t.Fatal(err)
	}
	added, err := touchline.Call[player](t.Context(), coach, http.MethodPost, "/api/players/add", map[string]any{
		"student":  map[string]any{"full_name": "Asha Rao", "date_of_birth": "2014-05-06"},
		"guardian": map[string]any{"name": "Ravi Rao", "relationship": "father", "mobile_number": guardian},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Force(added.PlayerID, "guardian", "approved")
	before := time.Now()
	if now := s.Advance(30 * 24 * time.Hour); now.Sub(before) < 29*24*time.Hour {
		t.Errorf("the clock says %s", now)
	}
	coach = signIn(t, s, number, "coach") // the session has ended
	for p, err := range touchline.All[player](t.Context(), coach, "/api/players", nil) {
		if err != nil || p.GuardianStatus != "approved" {
			t.Errorf("got %+v, %v", p, err)
		}
	}
	if token := s.Token("availability"); !strings.HasPrefix(token, "tlo_") {
		t.Errorf("got token %q", token)
	}
}

// TestStop: the service ends with the test.
func TestStop(t *testing.T) {
	var url string
	t.Run("run", func(t *testing.T) { url = touchlinetest.Start(t).URL })
	if _, err := http.Get(url + "/healthz"); err == nil {
		t.Error("the service still answers")
	}
}
