package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestCSVPaths: each list that is also a file has a path of the file alone. It sends what the list
// sends for "Accept: text/csv", to its owner.
func TestCSVPaths(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, coachNumber), s.Coach(t, otherNumber)
		s.Operator(t, operator.Coaches).Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", object{"tier": "pro"}).Want(t, 200)
		batch := addBatch(t, coach, "Juniors")
		player := coach.AddPlayer(t, named("Asha", guardianNumber, batch)).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
		today := s.Clock.Now().Format("2006-01-02")
		sheet := "/api/batches/" + batch + "/attendance/" + today
		coach.Call(t, "PUT", sheet, object{"marks": []object{{"player_id": player, "mark": "present"}}}).Want(t, 200)
		coach.Call(t, "POST", "/api/fees", object{"player_id": player, "title": "Kit", "amount": 500, "due_on": today}).Want(t, 201)
		for _, tt := range []struct {
			by         *touchlinetest.User
			list, file string
			private    bool
		}{
			{coach, "/api/batches", "/api/batches.csv", false},
			{coach, "/api/batches/" + batch + "/attendance", "/api/batches/" + batch + "/attendance.csv", true},
			{coach, sheet, sheet + "/sheet.csv", true},
			{coach, sheet + "/superseded", sheet + "/superseded.csv", true},
			{coach, "/api/players/" + player + "/attendance?from=" + today, "/api/players/" + player + "/attendance.csv?from=" + today, true},
			{guardian, "/api/me/players/" + player + "/attendance", "/api/me/players/" + player + "/attendance.csv", false},
			{coach, "/api/fees?state=due", "/api/fees.csv?state=due", false},
			{coach, "/api/players?q=asha", "/api/players.csv?q=asha", false},
		} {
			want := tt.by.Call(t, "GET", tt.list, nil, "Accept: text/csv").Want(t, 200)
			for _, accept := range []string{"", "Accept: */*", "Accept: application/json;q=0.9, text/csv;q=0.1"} {
				got := tt.by.Call(t, "GET", tt.file, nil, headersOf(accept)...).Want(t, 200)
				if string(got.Body) != string(want.Body) || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/csv") {
					t.Errorf("%s with %q: got %s %q, want %q", tt.file, accept, got.Header.Get("Content-Type"), got.Body, want.Body)
				}
			}
			tt.by.Call(t, "GET", tt.file, nil, "Accept: application/json").Want(t, 406, "not_acceptable")
			path, _, _ := strings.Cut(tt.file, "?")
			tt.by.Call(t, "GET", path+"?limit=1", nil).Want(t, 422, "validation_failed")
			if tt.private {
				other.Call(t, "GET", tt.file, nil).Want(t, 404, "not_found")
			}
		}
		guardian.Call(t, "GET", "/api/players.csv", nil).Want(t, 403, "role_not_allowed")
	})
}

func headersOf(accept string) []string {
	if accept == "" {
		return nil
	}
	return []string{accept}
}
