package proof_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkAudit audits records. TOUCHLINE_LOG_RECORDS is their number.
func BenchmarkAudit(b *testing.B) {
	for engine, url := range engines(b) {
		b.Run(engine, func(b *testing.B) {
			f := newFixture(b, url(b))
			size := f.fill(20_000)
			for b.Loop() {
				r, err := f.Audit(bg)
				if err != nil || len(r.Findings) > 0 || r.Records != size {
					b.Fatalf("%+v, %v", r, err)
				}
			}
			b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkReceipt makes receipts with inclusion proofs.
func BenchmarkReceipt(b *testing.B) {
	for engine, url := range engines(b) {
		b.Run(engine, func(b *testing.B) {
			f := newFixture(b, url(b))
			f.fill(100_000)
			list, err := f.Receipts(bg, guardian, "", 200)
			ok(b, err)
			for i := 0; b.Loop(); i++ {
				if _, err := f.Receipt(bg, guardian, list[i%len(list)].Body.RecordID); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func engines(testing.TB) map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres}
}

// fill gives the log size records, or as many as TOUCHLINE_LOG_RECORDS says. It returns how many.
func (f *fixture) fill(size int64) int64 {
	f.Helper()
	if n := os.Getenv("TOUCHLINE_LOG_RECORDS"); n != "" {
		_, err := fmt.Sscan(n, &size)
		ok(f, err)
	}
	size -= size % 4
	ok(f, proof.FillLog(bg, f.Service, size))
	return size
}

// BenchmarkRecord adds the record of a decision to a transaction.
func BenchmarkRecord(b *testing.B) {
	f := newFixture(b, storetest.SQLite(b))
	for i := 0; b.Loop(); i++ {
		ok(b, f.DB.Write(bg, func(tx *store.Tx) error {
			return proof.ConsentChanged(bg, tx, []approval.ConsentChange{change(f.DB, i)})
		}))
	}
}

// TestSample: within an hour an approval that was edited into the database no longer counts, and the operators know. Real
// approvals stay.
func TestSample(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f, db := newFamily(t, s), open(t, s)
		f.decide(f.guardian, "guardian", "approved")
		f.guardian.Call(t, "GET", "/api/me/receipts/"+f.guardian.Call(t, "GET", "/api/me/receipts", nil).Items()[0]["record_id"].(string), nil).Want(t, 200)
		_, err := db.Exec(bg, `UPDATE parties SET state = 'approved' WHERE role = 'student' AND player_id = $1`, f.player)
		ok(t, err)
		_, err = db.Exec(bg, `UPDATE players SET version = version + 1 WHERE id = $1`, f.player)
		ok(t, err)
		f.student.Call(t, "GET", "/api/me/players/"+f.player+"/progress", nil).Want(t, 200)
		s.Clock.Advance(time.Hour)
		ok(t, waitFor(func() bool { return strings.Contains(s.Log.String(), "consent_unproved") }))
		f.student, f.guardian = s.SignIn(t, "student", "+919812380003"), s.SignIn(t, "guardian", "+919812380002")
		f.student.Call(t, "GET", "/api/me/players/"+f.player+"/progress", nil).Want(t, 403, "approval_pending")
		f.guardian.Call(t, "GET", "/api/me/players/"+f.player+"/progress", nil).Want(t, 200)
		list := bodies(t, db)
		if newest := list[len(list)-1]; newest.EventType != "reset_by_service" || newest.PartyRole != "student" || newest.EventState != "pending" {
			t.Errorf("the newest record: %+v", newest)
		}
		s.Coach(t, "+919812380001").Call(t, "POST", "/api/approval/send-student-request", object{"player_id": f.player}).Want(t, 409, "request_pending") // the student can still answer
	})
}

// waitFor waits up to a minute.
func waitFor(done func() bool) error {
	for range 6000 {
		if done() {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("it did not happen in a minute")
}
