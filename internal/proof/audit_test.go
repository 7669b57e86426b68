package proof_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// players adds a player and a decision for each record, as the approvals of the records say.
func (f *fixture) players() {
	f.Helper()
	for _, a := range []string{"coach", "guardian"} {
		f.run(`INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ($1, $1, $1, 1)`, a)
	}
	f.run(`
		INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, student_state, student_pending_since,
			guardian_name, guardian_id, guardian_state, guardian_changed_at, guardian_pending_since, created_at)
		SELECT player_id, 'coach', 2, player_id, player_id, '2014-05-06', '', 'pending', 1, 'Meera Rao', 'guardian', 'approved', 1, 1, $1 FROM record_keys`, time.Now().Add(time.Hour).UnixMicro())
	f.run(`
		INSERT INTO approval_history (id, player_id, approver_type, approver_id, action, decided_at)
		SELECT r.id, k.player_id, 'guardian', 'guardian', 'approved', r.at FROM consent_records r JOIN record_keys k ON k.record_id = r.id`)
}

// copyOf returns a fixture with a copy of the database file of f, which is closed.
func copyOf(t *testing.T, path, checkpoint string) *fixture {
	t.Helper()
	folder := t.TempDir()
	for name, from := range map[string]string{"copy.db": path, "checkpoint": checkpoint} {
		in, err := os.Open(from)
		ok(t, err)
		out, err := os.Create(filepath.Join(folder, name))
		ok(t, err)
		_, err = io.Copy(out, in)
		ok(t, err)
		ok(t, in.Close())
		ok(t, out.Close())
	}
	f := newFixture(t, "sqlite:"+filepath.Join(folder, "copy.db"))
	f.Service = f.service(filepath.Join(folder, "checkpoint"))
	return f
}

// rebuild makes the tiles follow from the records, as the key's owner could, and signs a checkpoint if sign is true.
func (f *fixture) rebuild(sign bool) {
	f.Helper()
	var old []byte
	ok(f, f.sql.QueryRow(bg, `SELECT checkpoint FROM consent_log`).Scan(&old))
	f.run(`DELETE FROM log_tiles`)
	f.run(`UPDATE consent_records SET at = position WHERE position IS NOT NULL`) // keeps the order
	f.run(`UPDATE consent_records SET position = NULL`)
	f.run(`UPDATE consent_log SET size = 0, checkpoint = NULL`)
	file := f.File
	f.Service = f.service("")
	ok(f, f.Work(bg))
	f.Service = f.service(file)
	if !sign {
		f.run(`UPDATE consent_log SET checkpoint = $1`, old)
	}
}

// TestTamperings: each of 200 tamperings with the database is found by an audit. Those of an attacker who has the key, or
// an older copy of the database, are found against the published checkpoint alone, as docs/proof.md says.
func TestTamperings(t *testing.T) {
	t.Parallel()
	const size = 300
	path := filepath.Join(t.TempDir(), "template.db")
	template := newFixture(t, "sqlite:"+path)
	template.record(size)
	ok(t, template.Work(bg))
	template.players()
	if r, err := template.Audit(bg); err != nil || len(r.Findings) > 0 || r.Records != size || r.Players != size {
		t.Fatalf("without a change: %+v, %v", r, err)
	}
	ok(t, template.sql.Close())
	tamperings := []struct {
		name   string
		tamper func(f *fixture, n, m int)
		want   string
	}{
		{"edit a body", func(f *fixture, n, m int) { f.edit(n) }, "is not the one that was numbered"},
		{"edit a body and its tiles", func(f *fixture, n, m int) { f.edit(n); f.rebuild(false) }, "checkpoint of the database"},
		{"edit a body, its tiles and the checkpoint", func(f *fixture, n, m int) { f.edit(n); f.rebuild(true) }, "published checkpoint"},
		{"delete a record", func(f *fixture, n, m int) { f.run(`DELETE FROM consent_records WHERE position = $1`, n) }, "was removed"},
		{"delete records and sign", func(f *fixture, n, m int) {
			f.run(`DELETE FROM consent_records WHERE position = $1`, n)
			f.rebuild(true)
		}, "published checkpoint"},
		{"insert a record", func(f *fixture, n, m int) {
			f.run(`INSERT INTO consent_records (id, body, at, position) SELECT 'x' || id, body, at, $2 FROM consent_records WHERE position = $1`, n, size+m)
		}, "was inserted"},
		{"insert a record in the middle and sign", func(f *fixture, n, m int) {
			f.run(`UPDATE consent_records SET position = position + 1000 WHERE position > $1`, n)
			f.run(`INSERT INTO consent_records (id, body, at, position) SELECT 'x' || id, body, at, position + 1 FROM consent_records WHERE position = $1`, n)
			f.rebuild(true)
		}, "published checkpoint"},
		{"swap two records", func(f *fixture, n, m int) { f.swap(n, m) }, "is not the one that was numbered"},
		{"swap two records and sign", func(f *fixture, n, m int) { f.swap(n, m); f.rebuild(true) }, "published checkpoint"},
		{"truncate", func(f *fixture, n, m int) { f.run(`DELETE FROM consent_records WHERE position >= $1`, n) }, "was removed"},
		{"restore an older copy", func(f *fixture, n, m int) {
			f.run(`DELETE FROM approval_history WHERE id IN (SELECT id FROM consent_records WHERE position >= $1)`, n)
			f.run(`DELETE FROM players WHERE id IN (SELECT player_id FROM record_keys k JOIN consent_records r ON r.id = k.record_id WHERE position >= $1)`, n)
			f.run(`DELETE FROM record_keys WHERE record_id IN (SELECT id FROM consent_records WHERE position >= $1)`, n)
			f.run(`DELETE FROM consent_records WHERE position >= $1`, n)
			f.rebuild(true)
		}, "published checkpoint"},
		{"fork", func(f *fixture, n, m int) {
			f.run(`DELETE FROM consent_records WHERE position >= $1`, n)
			f.rebuild(true)
			f.record(size)
			ok(f, f.sign())
		}, "published checkpoint"},
		{"edit a hash", func(f *fixture, n, m int) { f.editTile(0, n/256, n%256) }, "is not the one that was numbered"},
		{"delete a tile", func(f *fixture, n, m int) { f.run(`DELETE FROM log_tiles WHERE n = $1 AND level = 0`, n/256) }, "is missing"},
		{"delete the log", func(f *fixture, n, m int) {
			f.run(`DELETE FROM log_tiles`)
			f.run(`DELETE FROM consent_records`)
			f.run(`UPDATE consent_log SET size = 0, checkpoint = NULL, started_at = NULL`)
		}, "published checkpoint"},
		{"edit the state of a consent", func(f *fixture, n, m int) {
			f.run(`UPDATE players SET student_state = 'approved' WHERE id = $1`, fmt.Sprint("player ", n))
		}, `the state is "approved", but there is no record`},
		{"turn a yes into a no", func(f *fixture, n, m int) {
			f.run(`UPDATE players SET guardian_state = 'rejected' WHERE id = $1`, fmt.Sprint("player ", n))
		}, `says "approved"`},
		{"edit the history", func(f *fixture, n, m int) {
			f.run(`UPDATE approval_history SET action = 'rejected' WHERE player_id = $1`, fmt.Sprint("player ", n))
		}, "differs from its record"},
		{"date a decision back", func(f *fixture, n, m int) {
			f.run(`UPDATE approval_history SET decided_at = decided_at - 1 WHERE player_id = $1`, fmt.Sprint("player ", n))
		}, "differs from its record"},
		{"add a decision", func(f *fixture, n, m int) {
			f.run(`INSERT INTO approval_history (id, player_id, approver_type, approver_id, action, decided_at) SELECT 'x', player_id, 'student', 'guardian', 'approved', decided_at + 60000000 FROM approval_history WHERE player_id = $1`, fmt.Sprint("player ", n))
		}, "has no record"},
		{"give a record to another player", func(f *fixture, n, m int) {
			f.run(`UPDATE record_keys SET player_id = $2, version = 9 WHERE player_id = $1`, fmt.Sprint("player ", n), fmt.Sprint("player ", m))
		}, "is of another player"},
		{"delete a key", func(f *fixture, n, m int) {
			f.run(`DELETE FROM record_keys WHERE player_id = $1`, fmt.Sprint("player ", n))
		}, "there is no record"},
	}
	random := rand.New(rand.NewPCG(1, 31))
	for i := range 200 {
		tt := tamperings[i%len(tamperings)]
		n, m := random.IntN(size), random.IntN(size)
		if n == m {
			m = (n + 1) % size
		}
		f := copyOf(t, path, template.File)
		tt.tamper(f, n, m)
		r, err := f.Audit(bg)
		ok(t, err)
		if !strings.Contains(strings.Join(r.Findings, "\n"), tt.want) {
			t.Errorf("%s (%d, %d): got %q, want %s", tt.name, n, m, r.Findings, tt.want)
		}
		ok(t, f.sql.Close())
	}
}

// sign numbers and signs without a look at the published checkpoint.
func (f *fixture) sign() error { return f.service("").Work(bg) }

// edit turns a yes into a no.
func (f *fixture) edit(position int) {
	f.Helper()
	var body []byte
	ok(f, f.sql.QueryRow(bg, `SELECT body FROM consent_records WHERE position = $1`, position).Scan(&body))
	f.run(`UPDATE consent_records SET body = $2 WHERE position = $1`, position, []byte(strings.Replace(string(body), `"event_state":"approved"`, `"event_state":"rejected"`, 1)))
}

func (f *fixture) swap(n, m int) {
	f.Helper()
	f.run(`UPDATE consent_records SET position = 100000 WHERE position = $1`, n)
	f.run(`UPDATE consent_records SET position = $2 WHERE position = $1`, m, n)
	f.run(`UPDATE consent_records SET position = $1 WHERE position = 100000`, m)
}

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

// fill gives the log size records, or as many as TOUCHLINE_LOG_RECORDS says, the last 200 of them with a key. It returns how many.
func (f *fixture) fill(size int64) int64 {
	f.Helper()
	if n := os.Getenv("TOUCHLINE_LOG_RECORDS"); n != "" {
		_, err := fmt.Sscan(n, &size)
		ok(f, err)
	}
	const withKey = 200
	f.record(1)
	var body []byte
	ok(f, f.sql.QueryRow(bg, `SELECT body FROM consent_records`).Scan(&body))
	f.run(`DELETE FROM consent_records`)
	f.run(`DELETE FROM record_keys`)
	ok(f, proof.FillLog(bg, f.Service, size-withKey, body))
	f.record(withKey)
	ok(f, f.Work(bg))
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
		_, err := db.Exec(bg, `UPDATE players SET student_state = 'approved', version = version + 1 WHERE id = $1`, f.player)
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
