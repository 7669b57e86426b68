package proof_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

const origin = "touchline.example/log"

var by = actor.Operator{Name: "shell:test"}

// fixture is a log with its database.
type fixture struct {
	testing.TB
	*proof.Service
	sql      *database.DB
	vault    *vault.Vault
	mu       sync.Mutex // guards events and stopped: replicas number at once
	events   []string
	stopped  bool
	recorded int
	// ahead is how far the clock was moved.
	ahead atomic.Int64
	// old is a checkpoint.
	old []byte
}

func newFixture(tb testing.TB, url string) *fixture {
	f := &fixture{TB: tb}
	var err error
	f.sql, err = database.Open(bg, url, database.Options{Migrations: store.Migrations(), MaxConns: 4, Now: func() time.Time { return time.Now().Add(time.Duration(f.ahead.Load())) }})
	ok(tb, err)
	tb.Cleanup(func() { ok(tb, f.sql.Close()) })
	ok(tb, f.sql.Migrate(bg))
	f.vault, err = vault.New([]byte("0123456789abcdef0123456789abcdef"))
	ok(tb, err)
	f.Service = f.service(filepath.Join(tb.TempDir(), "checkpoint"))
	return f
}

// service returns a log of a replica with its file of the published checkpoint.
func (f *fixture) service(file string) *proof.Service {
	return &proof.Service{
		DB: store.New(f.sql, store.Options{Vault: f.vault, Settings: store.Settings{Brand: "Touchline"}}), Secrets: f.vault.For(vault.ForLog), Origin: origin, File: file, Sender: webhook.NewOperatorSender(f.sql.Now),
		SecurityEvent: func(_ context.Context, name string, attrs ...slog.Attr) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.events = append(f.events, fmt.Sprint(name, " ", attrs))
		},
		Stopped: func(stopped bool) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.stopped = stopped
		},
	}
}

// restart replaces the service, as a start of the process does.
func (f *fixture) restart() { f.Service = f.service(f.File) }

func (f *fixture) run(query string, args ...any) {
	f.Helper()
	_, err := f.sql.Exec(bg, query, args...)
	ok(f, err)
}

func (f *fixture) count(query string, args ...any) (n int) {
	f.Helper()
	ok(f, f.sql.QueryRow(bg, query, args...).Scan(&n))
	return n
}

// keep keeps the checkpoint for a restore.
func (f *fixture) keep() {
	f.Helper()
	ok(f, f.sql.QueryRow(bg, `SELECT checkpoint FROM consent_log`).Scan(&f.old))
}

// restore brings the 300 records back that were there at keep.
func (f *fixture) restore() {
	f.Helper()
	f.run(`DELETE FROM consent_records WHERE position >= 300`)
	f.run(`UPDATE consent_log SET size = 300, checkpoint = $1`, f.old)
	f.run(`DELETE FROM log_hashes WHERE position >= 300`)
}

// edit changes the first byte of a value.
func (f *fixture) edit(table, column, row string) {
	f.Helper()
	var value []byte
	ok(f, f.sql.QueryRow(bg, `SELECT `+column+` FROM `+table+` WHERE `+row).Scan(&value))
	value[0] ^= 1
	f.run(`UPDATE `+table+` SET `+column+` = $1 WHERE `+row, value)
}

// publish replaces the published checkpoint by another one that the key of the log signed.
func (f *fixture) publish(name string, size int64) {
	f.Helper()
	signed, err := proof.SignCheckpoint(f.Service, proof.Checkpoint{Origin: name, Size: size, Root: tlog.Hash{1}})
	ok(f, err)
	ok(f, os.WriteFile(f.File, signed, 0o600))
}

// change returns an approval of the nth player.
func change(db *store.DB, n int) approval.ConsentChange {
	p := &approval.Player{
		ID: fmt.Sprint("player ", n), CoachID: "coach", CoachName: "Ravi Kumar",
		Student: approval.Child{FullName: fmt.Sprint("Child ", n), DateOfBirth: approval.Date{Year: 2014, Month: 5, Day: 6}},
	}
	p.Party(actor.Guardian).Person = approval.Person{Name: "Meera Rao", Relationship: "mother", Number: "+919800000001"}
	p.Party(actor.Guardian).AccountID = "guardian"
	at := time.Now().UTC().Truncate(time.Microsecond)
	return approval.ConsentChange{
		ID: db.NewID(), Kind: approval.ConsentKind(approval.Approve), Party: actor.Guardian, Before: approval.Pending, After: approval.Approved, Player: p, Version: 2, RequestID: "request", At: at,
		Wording: approval.Wording{Language: "en", TextHash: strings.Repeat("ab", 32), NoticeHash: strings.Repeat("cd", 32)},
		By:      actor.Actor{AccountID: "guardian", Role: actor.Guardian, Via: actor.ViaPage, SignedInAt: at.Add(-time.Minute)},
	}
}

// record adds n records, at most 100 in one transaction: a busy machine has 10 s for each.
func (f *fixture) record(n int) {
	f.Helper()
	for last := f.recorded + n; f.recorded < last; {
		ok(f, f.DB.Write(bg, func(tx *store.Tx) error {
			var changes []approval.ConsentChange
			for i := range min(100, last-f.recorded) {
				changes = append(changes, change(f.DB, f.recorded+i))
			}
			return proof.ConsentChanged(bg, tx, changes)
		}))
		f.recorded = min(f.recorded+100, last)
	}
}

// checkpoint returns the newest checkpoint, whose signature it checks.
func (f *fixture) checkpoint(name string) proof.Checkpoint {
	f.Helper()
	var signed []byte
	ok(f, f.sql.QueryRow(bg, `SELECT checkpoint FROM consent_log`).Scan(&signed))
	c, err := proof.OpenCheckpoint(signed, f.verifier(name))
	ok(f, err)
	return c
}

func (f *fixture) verifier(name string) note.Verifier {
	f.Helper()
	key, err := f.Key(name)
	ok(f, err)
	v, err := note.NewVerifier(key)
	ok(f, err)
	return v
}

// TestNumber: two replicas number records of concurrent transactions. There is one log: each record has one
// position, none is lost, and the signed tree is the tree of RFC 6962 over the hashes of the bodies.
func TestNumber(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		f := newFixture(t, url)
		other := f.service("")
		const writers, each, size = 4, 5, 1200
		for range 4 { // one write of all takes too long on a busy machine
			f.record((size - writers*each) / 4)
		}
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range each {
					err := f.DB.Write(bg, func(tx *store.Tx) error {
						return proof.ConsentChanged(bg, tx, []approval.ConsentChange{change(f.DB, 10000+10*w+i)})
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		for _, s := range []*proof.Service{f.Service, other} {
			all.Go(func() {
				for range 20 {
					if _, err := s.Number(bg); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		ok(t, f.Work(bg))
		if n := f.count(`SELECT count(*) FROM consent_records WHERE position IS NULL`); n != 0 || f.stopped {
			t.Errorf("%d records wait, stopped %t, %v", n, f.stopped, f.events)
		}
		rs, err := f.sql.Query(bg, `SELECT position, body FROM consent_records ORDER BY position`)
		var hashes []tlog.Hash
		next := int64(0)
		_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
			var position int64
			var body []byte
			err := row.Scan(&position, &body)
			if position != next {
				t.Errorf("got position %d, want %d", position, next)
			}
			next++
			stored, treeErr := tlog.StoredHashes(position, proof.EntryOf(body), tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, _ error) {
				for _, i := range indexes {
					list = append(list, hashes[i])
				}
				return list, nil
			}))
			ok(t, treeErr)
			hashes = append(hashes, stored...)
			return struct{}{}, err
		})
		ok(t, err)
		want, err := tlog.TreeHash(size, tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, _ error) {
			for _, i := range indexes {
				list = append(list, hashes[i])
			}
			return list, nil
		}))
		ok(t, err)
		if c := f.checkpoint(origin); c.Size != size || c.Root != want || next != size {
			t.Errorf("checkpoint %+v, %d positions, want %d records with root %s", c, next, size, want)
		}
		published, err := os.ReadFile(f.File)
		ok(t, err)
		if c, err := proof.OpenCheckpoint(published, f.verifier(origin)); err != nil || c.Size == 0 {
			t.Errorf("published %s, %v", published, err)
		}
		if n, err := f.Number(bg); n != 0 || err != nil {
			t.Errorf("without new records: got %d, %v", n, err)
		}
	})
}

// TestStop: no checkpoint is signed that contradicts the newest one, in the database or outside. The service goes on, and
// an operator continues the log under another name.
func TestStop(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tamper func(f *fixture)
		reason string
	}{
		"an older copy was restored":   {(*fixture).restore, "has 320 records, the database has 300"},
		"the newest hash was edited":   {func(f *fixture) { f.edit("log_hashes", "hash", "position = 319") }, "are not those of the"},
		"an older hash was edited":     {func(f *fixture) { f.edit("log_tiles", "hashes", "level = 1 AND n = 0") }, "are not those of the"},
		"a hash was deleted":           {func(f *fixture) { f.run(`DELETE FROM log_hashes WHERE position = 300`) }, "are not those of the"},
		"the newest hash was deleted":  {func(f *fixture) { f.run(`DELETE FROM log_hashes WHERE position = 319`) }, "cannot be read"},
		"a tile was deleted":           {func(f *fixture) { f.run(`DELETE FROM log_tiles WHERE level = 1`) }, "cannot be read"},
		"the checkpoint was edited":    {func(f *fixture) { f.run(`UPDATE consent_log SET checkpoint = $1`, []byte("x\n1\n")) }, "the signed checkpoint"},
		"the checkpoint was deleted":   {func(f *fixture) { f.run(`UPDATE consent_log SET checkpoint = NULL`) }, "no checkpoint"},
		"the size was edited":          {func(f *fixture) { f.run(`UPDATE consent_log SET size = 310`) }, "has 320 records, the database has 310"},
		"another log was published":    {func(f *fixture) { f.publish("other.example/log", 320) }, "is of the log"},
		"a later name was published":   {func(f *fixture) { f.publish(origin+"/2", 1) }, "the database is older"},
		"a later tree was published":   {func(f *fixture) { f.publish(origin, 400) }, "has 400 records"},
		"another tree was published":   {func(f *fixture) { f.publish(origin, 310) }, "the first 310 records are not those of the published"},
		"the published one was edited": {func(f *fixture) { ok(f, os.WriteFile(f.File, []byte(origin+"\n320\nx\n"), 0o600)) }, "the published checkpoint"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, storetest.SQLite(t))
			f.record(300)
			ok(t, f.Work(bg))
			f.keep()
			f.record(20)
			ok(t, f.Work(bg))
			tt.tamper(f)
			f.restart()
			f.record(1)
			ok(t, f.Work(bg))
			ok(t, f.Work(bg))
			waiting := f.count(`SELECT count(*) FROM consent_records WHERE position IS NULL`)
			if waiting != 1 || !f.stopped || len(f.events) != 1 || !strings.Contains(fmt.Sprint(f.events), tt.reason) {
				t.Fatalf("%d wait, stopped %t, %v, want one event log_stopped: %s", waiting, f.stopped, f.events, tt.reason)
			}
			if name != "an older copy was restored" {
				return
			}
			got, err := f.Continue(bg, by)
			if err != nil || got != origin+"/2" {
				t.Fatalf("continue: %s, %v", got, err)
			}
			f.restart()
			ok(t, f.Work(bg))
			if c := f.checkpoint(origin + "/2"); c.Size != 301 || f.stopped {
				t.Errorf("continued: %+v, stopped %t, %v", c, f.stopped, f.events)
			}
			if _, err := f.Continue(bg, by); err == nil {
				t.Error("a log that runs was continued")
			}

			// The same copy again: its log is continued under a name that was never published.
			f.restore()
			f.restart()
			f.record(1)
			ok(t, f.Work(bg))
			if got, err := f.Continue(bg, by); err != nil || got != origin+"/3" {
				t.Errorf("continue the copy that was restored twice: %s, %v", got, err)
			}
			ok(t, f.Work(bg))
			if c := f.checkpoint(origin + "/3"); c.Size != 301 || f.stopped {
				t.Errorf("continued: %+v, stopped %t, %v", c, f.stopped, f.events)
			}
		})
	}
}

// TestServeLog: a reader with the checkpoint and the tiles alone computes the same tree, and LOG says who may read.
func TestServeLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		log               string
		public, operators int
	}{{"off", 404, 404}, {"operators", 404, 200}, {"public", 200, 200}} {
		s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.Log = tt.log })
		f := newFamily(t, s)
		f.decide(f.guardian, "guardian", "approved")
		record := f.guardian.Call(t, "GET", "/api/me/receipts", nil).Items()[0]["record_id"].(string)
		f.guardian.Call(t, "GET", "/api/me/receipts/"+record, nil).Want(t, 200) // numbers it
		token := s.Operator(t, operator.Audit)
		for _, path := range []string{"/log/checkpoint", "/log/tile/0/000.p/3", "/log/tile/entries/000.p/3"} {
			public := s.Call(t, "GET", path, "", nil).Want(t, tt.public)
			for status, got := range map[int]*touchlinetest.Response{tt.public: public, tt.operators: token.Call(t, "GET", path, nil).Want(t, tt.operators)} {
				if want := map[bool]int{true: 3 * 32, false: 3 * 34}[strings.Contains(path, "/0/")]; status == 200 && path != "/log/checkpoint" && len(got.Body) != want {
					t.Errorf("%s: %d bytes, want %d", path, len(got.Body), want)
				}
			}
		}
		s.AdminCall(t, "GET", "/log/checkpoint", "", nil).Want(t, 401)
		if tt.public != 200 {
			continue
		}
		c, _, _ := strings.Cut(string(s.Call(t, "GET", "/log/checkpoint", "", nil).Body), "\n\n")
		lines := strings.Split(c, "\n")
		leaves := s.Call(t, "GET", "/log/tile/0/000.p/3", "", nil).Body
		entries := s.Call(t, "GET", "/log/tile/entries/000.p/3", "", nil).Body
		var hashes []tlog.Hash
		for i := range 3 {
			if got := tlog.RecordHash(entries[34*i+2 : 34*(i+1)]); !strings.Contains(string(leaves), string(got[:])) || entries[34*i+1] != 32 {
				t.Errorf("entry %d has not the hash of its leaf", i)
			}
			hashes = append(hashes, tlog.Hash(leaves[32*i:32*(i+1)]))
		}
		if root := tlog.NodeHash(tlog.NodeHash(hashes[0], hashes[1]), hashes[2]); lines[1] != "3" || lines[2] != root.String() {
			t.Errorf("checkpoint %q, root %s", lines, root)
		}
		for _, missing := range []string{"/log/tile/0/000", "/log/tile/0/000.p/4", "/log/tile/0/001.p/1", "/log/tile/1/000.p/1", "/log/tile/x/000", "/log/tile/0/0", "/log/tile/data/000.p/3", "/log/tile/0/x001/000", "/log/tile/0/x001/000.p/1", "/log/tile/00/000.p/3", "/log/tile/0/000.p/256"} {
			s.Call(t, "GET", missing, "", nil).Want(t, 404, "not_found")
		}
	}
}
