package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestToldInAnswers: the answer of each call that tells families counts the people whom it told, and names the others. The guardian of one
// player has approved, that of the other has not.
func TestToldInAnswers(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, "+919812365001")
		batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201).String("batch_id")
		approved := coach.AddPlayer(t, named("Asha Rao", "+919812365002", batch)).String("player_id")
		pending := coach.AddPlayer(t, named("Bela Rao", "+919812365003", batch)).String("player_id")
		s.SignIn(t, "guardian", "+919812365002").Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": approved, "action": "approved"}).Want(t, 200)
		day := func(n int) string { return s.Clock.Now().AddDate(0, 0, n).Format(time.DateOnly) }
		fees := map[string]string{}
		for _, player := range []string{approved, pending} {
			fees[player] = coach.Call(t, "POST", "/api/fees", map[string]any{"player_id": player, "title": "Training in May", "amount": 150000, "due_on": day(-9)}).Want(t, 201).String("fee_id")
		}
		result := map[string]any{"metric": "Sprint", "value": 12.1, "unit": "s", "on": day(-1)}
		report := map[string]any{"title": "Spring term", "text": "Quick.", "from": day(-9), "to": day(-1)}
		for _, tt := range []struct {
			path      string
			body      map[string]any
			status    int
			told, not int // people
		}{
			{"/api/batches/" + batch + "/trainings", map[string]any{"date": day(6), "start": "09:00", "end": "10:30", "kind": "match", "opponent": "Tigers"}, 201, 1, 1},
			{"/api/players/" + approved + "/progress", result, 201, 1, 0},
			{"/api/players/" + pending + "/progress", result, 201, 0, 1},
			{"/api/players/" + approved + "/reports", report, 201, 1, 0},
			{"/api/players/" + pending + "/reports", report, 201, 0, 1},
			{"/api/fees/" + fees[approved] + "/remind", map[string]any{}, 202, 1, 0},
		} {
			answer := coach.Call(t, "POST", tt.path, tt.body).Want(t, tt.status)
			told, _ := answer.JSON["told"].(map[string]any)
			not, _ := told["not_told"].([]any)
			if told["people"] != float64(tt.told) || len(not) != tt.not {
				t.Errorf("%s: %s, want %d told and %d not", tt.path, answer.Body, tt.told, tt.not)
			}
		}
	})
}
