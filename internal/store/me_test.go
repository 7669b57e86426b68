package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store/storetest"
)

// numbers is the start of a statement for each number from 1 to $2.
const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2) `

// addFamilies adds n guardians with one approved child each, under ids that begin with prefix.
func addFamilies(tb testing.TB, p *fixture, coachID, prefix string, n int) {
	ok(tb, run(p.db, `INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) `+numbers+`
		SELECT CAST($1 AS TEXT) || i, CAST($1 AS TEXT) || i, 'guardian', 0, i FROM n`, prefix, n))
	ok(tb, run(p.db, `
		INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at) `+numbers+`
		SELECT CAST($1 AS TEXT) || i, CAST($3 AS TEXT), 1, 'n', CAST($1 AS TEXT) || i, '2014-01-01', 'n', i FROM n`, prefix, n, coachID))
	ok(tb, run(p.db, `
		INSERT INTO parties (player_id, role, position, coach_id, name, number, account_id, state, changed_at, pending_since) `+numbers+`
		SELECT CAST($1 AS TEXT) || i, 'guardian', 1, CAST($3 AS TEXT), 'g', '+91', CAST($1 AS TEXT) || i, 'approved', i, i FROM n`, prefix, n, coachID))
	ok(tb, run(p.db, `
		INSERT INTO parties (player_id, role, position, coach_id, state, pending_since) `+numbers+`
		SELECT CAST($1 AS TEXT) || i, 'student', 1, CAST($3 AS TEXT), 'pending', i FROM n`, prefix, n, coachID))
}

// addGuardian adds a guardian with n children, none of them approved, and an unread notification
// about each.
func addGuardian(tb testing.TB, p *fixture, coachID string, n int) actor.Actor {
	id := fmt.Sprint("guardian", n)
	ok(tb, run(p.db, `INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) VALUES ($1, $1, 'guardian', 0, 1)`, id))
	ok(tb, run(p.db, `
		INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at) `+numbers+`
		SELECT CAST($1 AS TEXT) || '-' || i, CAST($3 AS TEXT), 1, 'n', CAST($1 AS TEXT) || i, '2014-01-01', 'n', i FROM n`, id, n, coachID))
	ok(tb, run(p.db, `
		INSERT INTO parties (player_id, role, position, coach_id, name, number, account_id, state, pending_since) `+numbers+`
		SELECT CAST($1 AS TEXT) || '-' || i, 'guardian', 1, CAST($3 AS TEXT), 'g', '+91', CAST($1 AS TEXT), 'pending', i FROM n`, id, n, coachID))
	ok(tb, run(p.db, `
		INSERT INTO parties (player_id, role, position, coach_id, state, pending_since) `+numbers+`
		SELECT CAST($1 AS TEXT) || '-' || i, 'student', 1, CAST($3 AS TEXT), 'pending', i FROM n`, id, n, coachID))
	ok(tb, run(p.db, `
		INSERT INTO notifications (account_id, seq, id, type, title, body, data, player_id, created_at) `+numbers+`
		SELECT CAST($1 AS TEXT), i, CAST($1 AS TEXT) || '-' || i, 'guardian_request', 't', 'b', '{}', CAST($1 AS TEXT) || '-' || i, i FROM n`, id, n))
	return actor.Actor{AccountID: id, Role: actor.Guardian, Number: phone.Number(id)}
}

// readMe runs the statements of GET /api/me of a guardian without the session's, and the statement of a student.
func readMe(tb testing.TB, p *fixture, by actor.Actor) {
	if own, err := p.accounts().Own(bg, by); err != nil || len(own.Roles) != 1 || own.Name != "" {
		tb.Fatalf("got %+v, %v", own, err)
	}
	if err := p.CheckAppAccess(bg, by); err != nil && fault.KindOf(err) != fault.Forbidden {
		tb.Fatal(err)
	}
}

// TestRowsOfMe: GET /api/me of a guardian with 1,000 children reads about as many rows as for
// one with 1. So also while PostgreSQL has no statistics of the tables, and among many other families.
//
// It is not parallel: it records the statements of the whole process.
func TestRowsOfMe(t *testing.T) {
	url := storetest.Postgres(t)
	p := newFixture(t, url)
	coach := p.coach(1)
	ok(t, run(p.db, `ALTER TABLE players SET (autovacuum_enabled = false)`))
	ok(t, run(p.db, `ALTER TABLE parties SET (autovacuum_enabled = false)`))
	ok(t, run(p.db, `ALTER TABLE notifications SET (autovacuum_enabled = false)`))
	addFamilies(t, p, coach.AccountID, "other", 5000)
	conn, err := pgx.Connect(bg, url)
	ok(t, err)
	defer conn.Close(bg)
	guardians := map[int]actor.Actor{}
	for _, children := range []int{1, 1000} {
		guardians[children] = addGuardian(t, p, coach.AccountID, children)
	}
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			ok(t, run(p.db, `ANALYZE`))
		}
		for children, by := range guardians {
			for query, args := range observe(func() { readMe(t, p, by) }) {
				const most = 100 + 10 // the unread notifications that are counted
				if rows := rowsRead(t, conn, query, args); rows > most {
					t.Errorf("%d children, statistics %t: %d rows are read, want at most %d: %s", children, analyzed, rows, most, strings.Join(strings.Fields(query), " "))
				}
			}
		}
	}
}

// observe returns the statements that f runs, with their arguments.
func observe(f func()) map[string][]any {
	var mu sync.Mutex
	statements := map[string][]any{}
	stop := database.Observe(func(query string, args []any) {
		mu.Lock()
		defer mu.Unlock()
		statements[query] = args
	})
	defer stop()
	f()
	return statements
}

// planNode is a node of a plan in the JSON of EXPLAIN.
type planNode struct {
	Rows    float64    `json:"Actual Rows"`
	Loops   float64    `json:"Actual Loops"`
	Removed float64    `json:"Rows Removed by Filter"`
	Plans   []planNode `json:"Plans"`
}

// read returns the rows that the scans of a plan read.
func (n planNode) read() int {
	if len(n.Plans) == 0 {
		return int((n.Rows + n.Removed) * n.Loops)
	}
	sum := 0
	for _, below := range n.Plans {
		sum += below.read()
	}
	return sum
}

// rowsRead runs a query and returns how many rows its scans read.
func rowsRead(t *testing.T, conn *pgx.Conn, query string, args []any) int {
	t.Helper()
	var text []byte
	ok(t, conn.QueryRow(bg, "EXPLAIN (ANALYZE, FORMAT JSON) "+query, args...).Scan(&text))
	var plans []struct{ Plan planNode }
	ok(t, json.Unmarshal(text, &plans))
	return plans[0].Plan.read()
}

// BenchmarkMe times the statements of GET /api/me of a guardian with n children, none approved, among
// 50,000 other families.
func BenchmarkMe(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			url := storetest.SQLite
			if engine == "postgres" {
				url = storetest.Postgres
			}
			p := newFixture(b, url(b))
			coach := p.coach(1)
			for i := range 10 {
				addFamilies(b, p, coach.AccountID, fmt.Sprint("other", i, "-"), 5000)
			}
			for _, children := range []int{1, 10, 100, 1000} {
				by := addGuardian(b, p, coach.AccountID, children)
				b.Run(fmt.Sprint(children), func(b *testing.B) {
					for b.Loop() {
						readMe(b, p, by)
					}
				})
			}
		})
	}
}
