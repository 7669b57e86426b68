package e2e_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestLostMasterKey runs the SQL in docs/operating.md for a lost master key.
// Afterwards the service works with a new key.
func TestLostMasterKey(t *testing.T) {
	t.Parallel()
	way := documentedSQL(t, "### Without the master key")
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		decide := object{"player_id": player, "action": "approved"}
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", decide).Want(t, 200)
		newest := func() string {
			return guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items()[0]["record_id"].(string)
		}
		guardian.Call(t, "GET", "/api/me/receipts/"+newest(), nil).Want(t, 200)
		later := coach.AddPlayer(t, child(2, guardianNumber)).String("player_id") // after the log began
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": later, "action": "approved"}).Want(t, 200)
		passport := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		coach.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Meera Devi Nair", "document_ids": []string{passport}}).Want(t, 201)
		decideKYC(t, s, approve)

		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		db := openTables(t, s)
		execSQL(t, db, `INSERT INTO tls_entries (name, sealed, claim_ends_at) VALUES ('touchline.test', $1, 0)`, make([]byte, 100))
		execSQL(t, db, `
			INSERT INTO push_subscriptions (session_id, id, account_id, role, endpoint, sealed, show_names, ends_at, created_at)
			SELECT id, id, account_id, role, $1, $1, FALSE, ends_at, created_at FROM sessions WHERE role = 'coach'`, make([]byte, 100))
		for statement := range strings.SplitSeq(way, ";") {
			if statement = strings.TrimSpace(statement); statement != "" && statement != "BEGIN" && statement != "COMMIT" {
				execSQL(t, db, statement)
			}
		}
		for _, table := range []string{"tls_entries", "push_subscriptions"} {
			if n := queryOne[int](t, db, `SELECT count(*) FROM `+table); n != 0 {
				t.Errorf("%d rows of %s are still encrypted under the lost key", n, table)
			}
		}
		s = touchlinetest.New(t, s.Config.DatabaseURL.Reveal(), enableKYC, func(c *config.Config) { c.Files = s.Config.Files })

		coach = s.SignIn(t, "coach", coachNumber)
		if kyc := coach.Call(t, "GET", "/api/coach/kyc", nil).Want(t, 200); kyc.String("state") != "verified" || kyc.JSON["legal_name"] != nil {
			t.Errorf("KYC: got %s", kyc.Body)
		}
		if a := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200); a.String("guardian_status") != "approved" || a.String("student.has_medical_information") != "false" {
			t.Errorf("player: got %s", a.Body)
		}
		coach.Call(t, "GET", "/api/coach/documents/"+passport+"/content", nil).Want(t, 200)
		guardian = s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "GET", "/api/players/approval-status/"+player, nil).Want(t, 200)

		// The log goes on with a new key. An audit says that nothing proves the approvals from before.
		if got := guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items(); len(got) != 0 {
			t.Errorf("receipts: got %v", got)
		}
		log := func(fn func(ctx context.Context, by actor.Operator, log *proof.Service) error) {
			s.CLI(t, func(ctx context.Context, by actor.Operator, ops *server.Operators) {
				log, err := ops.Log(ctx)
				if err == nil {
					err = fn(ctx, by, log)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		log(func(ctx context.Context, by actor.Operator, log *proof.Service) error {
			_, err := log.Continue(ctx, by)
			return err
		})
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "revoked"}).Want(t, 200)
		guardian.Call(t, "GET", "/api/me/receipts/"+newest(), nil).Want(t, 200)
		log(func(ctx context.Context, _ actor.Operator, log *proof.Service) error {
			report, err := log.Audit(ctx)
			for _, finding := range report.Findings {
				if !strings.Contains(finding, "is missing") && !strings.Contains(finding, "has no record") {
					t.Errorf("audit: %s", finding)
				}
			}
			if len(report.Findings) == 0 {
				t.Error("audit: the keys of all records are gone, and nothing is said")
			}
			return err
		})
	}, enableKYC)
}

// documentedSQL returns the first SQL block after a text in docs/operating.md.
func documentedSQL(t *testing.T, behind string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), behind)
	_, rest, opened := strings.Cut(rest, "```sql\n")
	block, _, closed := strings.Cut(rest, "```")
	if !found || !opened || !closed {
		t.Fatalf("docs/operating.md has no SQL after %q", behind)
	}
	return block
}
