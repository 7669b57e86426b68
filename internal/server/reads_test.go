package server_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestReadsTakeTwoStatements: a read has the check of the session, which writes nothing after the first use of a token, and one more
// statement. It is not parallel, because it observes the statements of all.
func TestReadsTakeTwoStatements(t *testing.T) {
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, "+919812380001")
		player := coach.AddPlayer(t, touchlinetest.Minor("+919812380002", "")).String("player_id")
		guardian := s.SignIn(t, "guardian", "+919812380002")
		for _, read := range []struct {
			by   *touchlinetest.User
			path string
		}{
			{coach, "/api/me"},
			{guardian, "/api/me"},
			{guardian, "/api/me/players"},
			{coach, "/api/services/availability/" + player},
			{guardian, "/api/services/availability/" + player},
			{coach, "/api/players"},
			{coach, "/api/players/" + player},
		} {
			read.by.Call(t, "GET", read.path, nil).Want(t, 200) // the first use of the token is saved
			var fewest []string
			for range 5 { // the worker runs statements, too
				var mu sync.Mutex
				var statements []string
				stop := database.Observe(func(query string, _ []any) {
					mu.Lock()
					defer mu.Unlock()
					statements = append(statements, strings.Join(strings.Fields(query), " "))
				})
				read.by.Call(t, "GET", read.path, nil).Want(t, 200)
				stop()
				mu.Lock()
				if fewest == nil || len(statements) < len(fewest) {
					fewest = slices.Clone(statements)
				}
				mu.Unlock()
			}
			if len(fewest) != 2 || !strings.HasPrefix(fewest[0], "SELECT account_id, role, mobile_number") {
				t.Errorf("GET %s of a %s runs %d statements, want the check of the session and one more:\n%s", read.path, read.by.Role, len(fewest), strings.Join(fewest, "\n"))
			}
		}
	})
}
