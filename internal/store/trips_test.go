package store_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store/storetest"
)

// costs are what one operation costs a database. Rows are the versions of rows that it writes, entries those of its indexes, and
// bytes what it adds to the log of the database.
type costs struct{ trips, statements, rows, entries, bytes int64 }

// TestCosts fails if an operation takes another number of round trips on PostgreSQL than expected, or more statements, rows, index
// entries or bytes of the log. On SQLite it counts statements, and the bytes of the log.
func TestCosts(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		url := storetest.Postgres(t)
		address, trips := countTrips(t, url)
		log := readPostgresLog(t, url)
		measureOperations(t, newFixture(t, address), func(do func()) (c costs) {
			from := log.end()
			before := trips.Load()
			do()
			c.trips = trips.Load() - before
			log.read(from, &c)
			return c
		}, func(most operationCosts) costs { return most.postgres })
	})
	t.Run("sqlite", func(t *testing.T) {
		url := storetest.SQLite(t)
		measureOperations(t, newFixture(t, url), func(do func()) (c costs) {
			from := sqliteFrames(t, url)
			do()
			c.bytes = (sqliteFrames(t, url) - from) * sqliteFrame
			return c
		}, func(most operationCosts) costs { return most.sqlite })
	})
}

// operationCosts are the costs of an operation on each engine.
type operationCosts struct{ postgres, sqlite costs }

// measureOperations runs the operations of a day, and compares what each costs with the most that it may.
func measureOperations(t *testing.T, p *fixture, measure func(do func()) costs, of func(operationCosts) costs) {
	t.Helper()
	number := func(n int) phone.Number { return number(100 + n) }
	limits := []auth.Limit{{Name: "hour", Key: "hour", Max: 1000, Per: time.Hour}, {Name: "day", Key: "day", Max: 1000, Per: 24 * time.Hour}}
	now := p.clock.Now
	ask := func(n int) {
		c := auth.Challenge{ChallengeKey: auth.ChallengeKey{Number: number(n), Role: actor.Coach}, ID: p.db.NewID(), Code: []byte("x"), SentAt: now(), EndsAt: now().Add(time.Hour)}
		_, err := p.accounts().OpenChallenge(bg, auth.ChallengeRequest{Challenge: c, MaxAttempts: 5, LastSentBefore: now(), Limits: func(auth.RoleFacts) []auth.Limit { return limits }, Channel: "sms"})
		ok(t, err)
	}
	login := func(n int) *auth.Session {
		s := &auth.Session{
			ID: p.db.NewID(), AccountID: p.db.NewID(), Role: actor.Coach, Number: number(n), DeviceID: uuid.NewString(), Generation: 1,
			CreatedAt: now(), LastUsedAt: now(), IdleAt: now().Add(day), EndsAt: now().Add(day),
		}
		result, err := p.accounts().VerifyOTP(bg, auth.Attempt{
			Keys: []auth.ChallengeKey{{Number: s.Number, Role: s.Role}}, MaxAttempts: 5, MaxFailures: func(auth.ChallengeKey) int { return 20 }, Now: now(),
			Matches: func(auth.Challenge) bool { return true },
			SignIn:  &auth.SignIn{Session: s, RefreshHash: []byte(s.ID), DeviceHash: []byte(s.DeviceID), DeviceEnds: now().Add(day)},
		})
		ok(t, err)
		if result.Outcome != auth.CorrectCode {
			t.Fatalf("outcome %d", result.Outcome)
		}
		return s
	}
	sessions := map[int]*auth.Session{}
	players := map[int]string{}
	guardians := map[int]actor.Actor{}
	by := p.coach(1)
	decide := func(n int, what approval.Trigger) {
		_, _, err := p.Decide(bg, guardians[n], players[n], approval.Decision{Action: what})
		ok(t, err)
	}
	log := p.consentLog()
	var records []any
	for i := range 200 { // the newest tile is nearly full
		records = append(records, fmt.Sprint(i), []byte(fmt.Sprint(i)), 1)
	}
	ok(t, run(p.db, `INSERT INTO consent_records (id, body, at) VALUES `+database.RowsOf(200, 3), records...))
	ok(t, log.Work(bg))
	for _, tt := range []struct {
		what string
		most operationCosts
		do   func(n int)
	}{
		{"request-otp", operationCosts{costs{3, 5, 6, 10, 1900}, costs{0, 5, 0, 0, 57680}}, ask},
		{"the login of a new coach", operationCosts{costs{3, 13, 8, 16, 3000}, costs{0, 13, 0, 0, 103000}}, func(n int) { sessions[n] = login(n) }},
		{"request-otp again", operationCosts{costs{3, 5, 6, 8, 1650}, costs{0, 5, 0, 0, 53560}}, ask},
		{"the login of a known coach", operationCosts{costs{2, 8, 6, 10, 2000}, costs{0, 8, 0, 0, 70040}}, func(n int) { login(n) }},
		{"refresh", operationCosts{costs{1, 1, 1, 0, 150}, costs{0, 1, 0, 0, 4120}}, func(n int) {
			s := sessions[n]
			rotated, err := p.accounts().Rotate(bg, auth.Rotation{
				SessionID: s.ID, Generation: 1, OldHash: []byte(s.ID), NewHash: []byte(s.ID + "2"), Now: now(), IdleAt: now().Add(day),
			})
			ok(t, err)
			if rotated == nil {
				t.Fatal("nothing was rotated")
			}
		}},
		{"adding a player, both asked by SMS", operationCosts{costs{5, 17, 25, 64, 18000}, costs{0, 17, 0, 0, 206000}}, func(n int) {
			added, err := p.Add(bg, by, child(fmt.Sprint("Asha ", n), number(200+n)), mother(number(300+n)))
			ok(t, err)
			players[n] = added.ID
		}},
		{"reading the account of a guardian", operationCosts{costs{1, 1, 0, 0, 0}, costs{0, 1, 0, 0, 0}}, func(n int) { guardians[n] = p.as(actor.Guardian, number(300+n)) }},
		{"the four SMS of two players, by the worker", operationCosts{costs{0, 15, 28, 25, 8200}, costs{0, 15, 0, 0, 78280}}, func(int) { p.sendRequests(1) }},
		{"the records of two adds, by the worker", operationCosts{costs{0, 6, 10, 12, 7000}, costs{0, 6, 0, 0, 37080}}, func(int) { ok(t, log.Work(bg)) }},
		{"the changes of two adds, by a reader", operationCosts{costs{0, 6, 6, 8, 1350}, costs{0, 6, 0, 0, 20600}}, func(int) { p.read(feed.Cursor{}, 1) }},
		{"a decision", operationCosts{costs{3, 13, 11, 21, 7150}, costs{0, 13, 0, 0, 119480}}, func(n int) { decide(n, approval.Approve) }},
		{"the records of two decisions, by the worker", operationCosts{costs{0, 6, 6, 6, 1450}, costs{0, 6, 0, 0, 28840}}, func(int) { ok(t, log.Work(bg)) }},
		{"the changes of two decisions, by a reader", operationCosts{costs{0, 6, 4, 4, 700}, costs{0, 6, 0, 0, 20600}}, func(int) { p.read(feed.Cursor{}, 1) }},
		{"a revocation", operationCosts{costs{3, 14, 10, 15, 6250}, costs{0, 14, 0, 0, 90640}}, func(n int) { decide(n, approval.Revoke) }},
		{"a new request", operationCosts{costs{5, 16, 12, 24, 7700}, costs{0, 16, 0, 0, 148320}}, func(n int) {
			_, _, err := p.Send(bg, by, players[n], actor.Guardian, approval.Patch{}, nil)
			ok(t, err)
		}},
		{"a decision on a page, in a chat or a call", operationCosts{costs{3, 11, 11, 21, 7150}, costs{0, 11, 0, 0, 107120}}, func(n int) {
			ok(t, p.DecideOnly(bg, guardians[n], players[n], approval.Decision{Action: approval.Approve}))
		}},
		{"availability", operationCosts{costs{1, 1, 0, 0, 0}, costs{0, 1, 0, 0, 0}}, func(n int) {
			if _, err := player.ReadConsentStatus(bg, p.db, sessions[n].Actor(), players[n]); fault.KindOf(err) != fault.NotFound {
				t.Errorf("player of another coach: got %v, want not_found", err)
			}
		}},
	} {
		background := strings.Contains(tt.what, ", by ") // what two operations left behind
		if !background {
			tt.do(1) // statements are prepared
		}
		var statements atomic.Int64
		stop := database.Observe(func(string, []any) { statements.Add(1) })
		got := measure(func() { tt.do(2) })
		stop()
		got.statements = statements.Load()
		t.Logf("%s: %+v", tt.what, got)
		most := of(tt.most)
		if got.trips != most.trips && !background {
			t.Errorf("%s: %d round trips, want %d", tt.what, got.trips, most.trips)
		}
		if got.statements > most.statements || got.rows > most.rows || got.entries > most.entries || got.bytes > most.bytes {
			t.Errorf("%s: %+v, want at most %+v", tt.what, got, most)
		}
	}
}

// countTrips returns the URL of a relay in front of the server at address, and a counter of
// round trips through it.
func countTrips(t *testing.T, address string) (string, *atomic.Int64) {
	t.Helper()
	trips := new(atomic.Int64)
	return storetest.Relay(t, address, func(client, server net.Conn) {
		var asking atomic.Bool
		go storetest.Copy(server, client, func() {
			if !asking.Swap(true) {
				trips.Add(1)
			}
		})
		go storetest.Copy(client, server, func() { asking.Store(false) })
	}), trips
}

// postgresLog reads the log of a server, which other databases write too.
type postgresLog struct {
	testing.TB
	*pgx.Conn
	database int
}

func readPostgresLog(t *testing.T, url string) *postgresLog {
	t.Helper()
	conn, err := pgx.Connect(bg, url)
	ok(t, err)
	t.Cleanup(func() { conn.Close(bg) })
	log := &postgresLog{TB: t, Conn: conn}
	_, err = conn.Exec(bg, `CREATE EXTENSION IF NOT EXISTS pg_walinspect`)
	ok(t, err)
	ok(t, conn.QueryRow(bg, `SELECT oid::bigint FROM pg_database WHERE datname = current_database()`).Scan(&log.database))
	return log
}

// end returns the position of the end of the log, and writes what is before it to the disk.
func (l *postgresLog) end() (position string) {
	l.Helper()
	_, err := l.Exec(bg, `SET synchronous_commit = on; SELECT pg_logical_emit_message(TRUE, 'costs', '')`)
	ok(l, err)
	ok(l, l.QueryRow(bg, `SELECT pg_current_wal_flush_lsn()`).Scan(&position))
	return position
}

// read adds what the log has of this database since a position.
func (l *postgresLog) read(from string, c *costs) {
	l.Helper()
	ok(l, l.QueryRow(bg, `
		SELECT count(*) FILTER (WHERE resource_manager = 'Heap' AND record_type IN ('INSERT', 'INSERT+INIT', 'UPDATE', 'UPDATE+INIT', 'HOT_UPDATE', 'DELETE')
				OR resource_manager = 'Heap2' AND record_type LIKE 'MULTI_INSERT%'),
			count(*) FILTER (WHERE resource_manager = 'Btree' AND (record_type LIKE 'INSERT%' OR record_type LIKE 'SPLIT%')),
			coalesce(sum(record_length - fpi_length), 0)::bigint
		FROM pg_get_wal_records_info($1::pg_lsn, $2::pg_lsn) WHERE block_ref LIKE '%/' || $3 || '/%'`, from, l.end(), fmt.Sprint(l.database)).
		Scan(&c.rows, &c.entries, &c.bytes))
}

// sqliteFrame is the size of a frame in the log of SQLite: a page and its header.
const sqliteFrame = 4096 + 24

// sqliteFrames returns how many frames the log of a database of SQLite has: field mxFrame of its shared memory.
func sqliteFrames(t *testing.T, url string) int64 {
	t.Helper()
	header, err := os.ReadFile(strings.TrimPrefix(url, "sqlite:") + "-shm")
	ok(t, err)
	return int64(binary.NativeEndian.Uint32(header[16:]))
}

// TestIndexes: each row that is written costs an entry in each index of its table, so a table has no more than these.
func TestIndexes(t *testing.T) {
	t.Parallel()
	p := newFixture(t, storetest.SQLite(t))
	for table, most := range map[string]int{"players": 8, "parties": 4, "deliveries": 13, "requests": 7, "request_links": 2, "changes": 3, "notifications": 3, "message_counts": 1, "log_hashes": 1} {
		if n := p.count(`SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = $1`, table); n != most {
			t.Errorf("%s has %d indexes, want %d", table, n, most)
		}
	}
}
