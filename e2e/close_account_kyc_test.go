package e2e_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/verification"
)

// TestCloseAccountDuringKYC: closing an account deletes the legal names,
// documents and files of its KYC submissions. Operators have nothing left to
// decide; their earlier decisions stay in the audit log.
func TestCloseAccountDuringKYC(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db, c := openTables(t, s), s.Coach(t, coachNumber)
		passport := c.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(600, 1)).Want(t, 201).String("document_id")
		submit := func() {
			c.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Meera K. Nair", "document_ids": []string{passport}}).Want(t, 201)
		}
		submit()
		rejected := queryOne[string](t, db, `SELECT id FROM kyc_submissions WHERE coach_id = $1`, c.ID)
		decideKYC(t, s, func(ctx context.Context, by actor.Operator, v *verification.Service, id string) (verification.Submission, error) {
			return v.Reject(ctx, by, id, "The photo is not readable.")
		})
		submit()
		waiting := queryOne[string](t, db, `SELECT id FROM kyc_submissions WHERE coach_id = $1 AND state = 'submitted'`, c.ID)
		if n := len(documentFiles(t, s)); n != 1 {
			t.Fatalf("got %d files before the closure", n)
		}
		closeAccount(t, s, c)

		s.CLI(t, func(ctx context.Context, by actor.Operator, sh *server.Operators) {
			queue, err := sh.Verifications.Queue(ctx, by, verification.Cursor{}, 9)
			if err != nil || len(queue) != 0 {
				t.Errorf("KYC queue: got %d submissions, error %v", len(queue), err)
			}
			for _, id := range []string{rejected, waiting} {
				if _, err := sh.Verifications.Approve(ctx, by, id); err == nil {
					t.Errorf("submission %s was approved after the closure", id)
				}
			}
		})
		for query, want := range map[string]int{
			`SELECT count(*) FROM kyc_submissions WHERE coach_id = $1`:                               0,
			`SELECT count(*) FROM documents WHERE coach_id = $1`:                                     0,
			`SELECT count(*) FROM audit_log WHERE object_kind = 'coach' AND object_id = $1`:          1,
			`SELECT count(*) FROM kyc_documents WHERE document_id = '` + passport + `' AND $1 <> ''`: 0,
		} {
			if got := queryOne[int](t, db, query, c.ID); got != want {
				t.Errorf("%s: got %d, want %d", query, got, want)
			}
		}
		s.Clock.Advance(fileSweepPeriod)
		eventually(t, "the files are deleted", func() bool {
			return queryOne[int](t, db, `SELECT count(*) FROM blobs WHERE coach_id = $1`, c.ID) == 0 && len(documentFiles(t, s)) == 0
		})
		if strings.Contains(s.Log.String(), "Meera K. Nair") {
			t.Error("the legal name is in the log")
		}
	}, enableKYC)
}

// documentFiles returns the paths of all stored documents.
func documentFiles(t *testing.T, s *touchlinetest.Service) (paths []string) {
	t.Helper()
	root := strings.TrimPrefix(s.Config.Files.Reveal(), "file:")
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Base(path) != "touchline-store" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
