package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestCopy moves a service from SQLite to PostgreSQL and back. Its sessions live on, its documents and the log of consents too.
func TestCopy(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.EmptySQLite(t), enableKYC)
	coach := s.Coach(t, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	guardian := s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
	passport := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
	origin := logName(t, s)

	student := s.SignIn(t, "student", studentNumber)
	decisions := []func(){
		func() {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "revoked"}).Want(t, 200)
		},
		func() {
			student.Call(t, "PUT", "/api/approval/student-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
		},
	}
	for i, to := range []string{storetest.EmptyPostgres(t), storetest.EmptySQLite(t)} {
		from, files := s.Config.DatabaseURL.Reveal(), "file:"+t.TempDir()
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		r, err := server.Copy{From: from, To: to, FromFiles: s.Config.Files.Reveal(), ToFiles: files}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Rows() == 0 || r.Files.Count != 2 || len(r.Files.Missing) > 0 {
			t.Errorf("copied %d rows and %+v", r.Rows(), r.Files)
		}
		publicURL := s.Config.PublicURL
		s = s.Replica(func(c *config.Config) {
			c.DatabaseURL, c.Files, c.PublicURL = config.SecretURL(to), config.SecretURL(files), publicURL
		})
		for _, u := range []*touchlinetest.User{coach, guardian, student} {
			u.Service = s
			u.Call(t, "GET", "/auth/sessions", nil).Want(t, 200)
			next := refresh(t, s, u.Refresh).Want(t, 200)
			u.Access, u.Refresh = next.String("access_token"), next.String("refresh_token")
		}
		if got := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200); got.String("guardian_state") != []string{"approved", "revoked"}[i] || got.String("student.has_medical_information") != "true" {
			t.Errorf("player: got %s", got.Body)
		}
		coach.Call(t, "GET", "/api/coach/documents/"+passport+"/content", nil).Want(t, 200)
		decisions[i]()
		if got := logName(t, s); got != origin {
			t.Errorf("the log continues as %q, want %q", got, origin)
		}
	}
}

// logName waits until all records are in the log, and returns the name that its newest checkpoint has.
func logName(t *testing.T, s *touchlinetest.Service) string {
	t.Helper()
	db := openTables(t, s)
	eventually(t, "all records have a position", func() bool {
		return queryOne[int](t, db, `SELECT count(*) FROM consent_records WHERE position IS NULL`) == 0
	})
	name, _, _ := strings.Cut(string(queryOne[[]byte](t, db, `SELECT checkpoint FROM consent_log`)), "\n")
	return name
}
