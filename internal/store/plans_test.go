package store_test

import (
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestPlans checks the plan of every statement of the store on both engines: none may scan
// a whole table or sort rows that an index has in order. A statement in the source that did
// not run fails the test: run a new one in a plans_statements*_test.go file.
func TestPlans(t *testing.T) {
	source := literals(t)
	seen := map[string]bool{}
	check := func(t *testing.T, url string) {
		statements := recordStatements(t, url)
		fillTables(t, url)
		explain := newExplain(t, url)
		for _, query := range slices.Sorted(maps.Keys(statements)) {
			ofStore := false
			for _, l := range source {
				if l.pattern.MatchString(query) {
					seen[l.at], ofStore = true, true
				}
			}
			if ofStore {
				checkPlan(t, query, explain(query, statements[query]))
			}
		}
	}
	t.Run("sqlite", func(t *testing.T) { check(t, storetest.SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { check(t, storetest.Postgres(t)) })
	if t.Failed() || t.Skipped() {
		return
	}
	for _, l := range source {
		if !seen[l.at] {
			t.Errorf("%s: did not run, so its plan is not checked; run it in a plans_statements*_test.go file: %.120s", l.at, l.text)
		}
	}
}

// recordStatements runs every statement of the store and returns them with their arguments.
func recordStatements(t *testing.T, url string) map[string][]any {
	t.Helper()
	var mu sync.Mutex
	statements := map[string][]any{}
	stop := database.Observe(func(query string, args []any) {
		mu.Lock()
		defer mu.Unlock()
		statements[query] = args
	})
	defer stop()
	runStatements(t, url)
	return statements
}

// exception allows a line of a plan.
type exception struct {
	query  string // a part of the statement
	plan   string // a part of the line
	reason string
}

var exceptions = []exception{
	{"FROM secrets", "", "one row per signing key of the last month"},
	{"DELETE FROM secrets", "", "the same"},
	{"goose_db_version", "", "one row per migration"},
	{"SELECT id, blob, sha256 FROM documents", "", "the verification of a backup compares all files"},
	{"FROM webhooks ORDER BY id LIMIT", "webhooks", "the first webhooks, in the order of the index"},
	{"min(f.due_on)", "GROUP BY", "the open fees of a few players"},
	{"min(f.due_on)", "Sort", "the same"},
	{"ORDER BY a.role", "", "at most three roles"},
	{"ORDER BY a.position", "ORDER BY", "at most five parties of each player"},
	{"ORDER BY a.position", "Sort", "the same"},
	{"a.role, a.position", "ORDER BY", "the same"},
	{"a.role, a.position", "Sort", "the same"},
	{"FROM reminders WHERE player_id", "", "the reminders of one player in a week"},
	{"ORDER BY d.id", "", "the deliveries of one request"},
	{"WHERE d.number_hash IN", "ORDER BY", "the disputes of one number"},
	{"WHERE d.number_hash IN", "Sort", "the same"},
	{"FROM deliveries WHERE request_id IN", "", "the deliveries of two requests"},
	{"kyc_submissions s WHERE s.state = 'submitted' LIMIT", "kyc_queue", "100 rows of the index of the queue"},
	{"kyc_submissions s WHERE s.state = 'submitted' LIMIT", "kyc_waiting_once", "the same"},
	{"UPDATE requests SET version = version + 1 WHERE state", "", "all open questions, once for each version of the notice"},
	{"SELECT p.id, p.student_name FROM players p WHERE p.coach_id = $1 AND p.id IN", "ORDER BY", "the named players"},
	{"SELECT p.id, p.student_name FROM players p WHERE p.coach_id = $1 AND p.id IN", "Sort", "the same"},
	{"kyc_submissions s WHERE s.state = 'submitted' LIMIT", "coaches_tier_requests", "100 rows of the index of requests"},
	{"FROM adult_proofs WHERE flag IS NOT NULL", "adult_proofs_flagged", "the index of the proofs to look at alone"},
	{"GROUP BY held_by", "deliveries_held", "the index of held deliveries alone"},
	{"changes SET position", "changes_without_position", "the index of changes without a position, one batch"},
	{"changes SET position", "ORDER BY", "the same"},
	{"changes SET position", "Sort", "the same"},
	{"UPDATE consent_records SET position", "consent_records_waiting", "the index of records without a position, one batch"},
	{"UPDATE consent_records SET position", "ORDER BY", "the same"},
	{"UPDATE consent_records SET position", "Sort", "the same"},
	{"SELECT max(position) FROM consent_records", "consent_records_by_position", "the last row of that index"},
	{"SELECT coalesce(max(position), -1) + 1 FROM consent_records", "consent_records_by_position", "the same"},
	{"FROM consent_records WHERE position IS NULL)", "consent_records_waiting", "the first row of that index"},
	{"EXISTS (SELECT 1 FROM players) FROM consent_log", "players", "the first row of the primary key"},
	{"FROM consent_records r WHERE r.position IS NULL AND NOT EXISTS", "consent_records_waiting", "the index of records without a position"},
	{"SELECT coalesce((SELECT min(position) FROM changes", "changes_by_position", "the first and the last row of that index"},
	{"DELETE FROM changes WHERE position IN", "changes_by_position", "the first rows of that index"},
	{"FROM changes WHERE position IS NULL)", "changes_without_position", "the first row of that index"},
	{"FROM team_messages m WHERE m.expanded_at IS NULL", "team_messages_waiting", "the index of messages to expand alone, up to the first that is free"},
	{"FROM webhooks w JOIN change_feed", "webhooks_enabled", "the enabled webhooks: a few"},
	{"SELECT a.state, a.changed_at, a.player_id", "ORDER BY", "the parties of one coach that said no"},
	{"SELECT a.state, a.changed_at, a.player_id", "Sort", "the same"},
	{"ORDER BY w.since", "ORDER BY", "the parties of one coach"},
	{"ORDER BY w.since", "Sort", "the same"},
	{"SELECT 'delivery_failed', r.last_sent_at", "ORDER BY", "the open requests of one coach"},
	{"SELECT 'delivery_failed', r.last_sent_at", "Sort", "the same"},
	{"SELECT 'disputed', r.closed_at", "ORDER BY", "the disputes of one coach"},
	{"SELECT 'disputed', r.closed_at", "Sort", "the same"},
	{"SELECT 'held', r.requested_at", "ORDER BY", "the held messages of one coach"},
	{"SELECT 'held', r.requested_at", "Sort", "the same"},
	{"SELECT 'stopped', r.requested_at", "ORDER BY", "the requests of a coach to parties that stopped the coach"},
	{"SELECT 'stopped', r.requested_at", "Sort", "the same"},
	{"SELECT l.hash FROM requests r JOIN request_links l", "request_links_to_address", "the links of one player; PostgreSQL reads a small index whole"},
	{"INSERT INTO streams", "ORDER BY", "the ten slots of one account"},
	{"INSERT INTO streams", "Sort", "the same"},
	{"FROM push_subscriptions LIMIT $1)", "", "a rotation of the service secret ends all rows, a chunk in each transaction"},
	{"FROM devices LIMIT $1)", "", "the same"},
	{"FROM otp_challenges ORDER BY", "", "the same"},
	{"FROM sessions WHERE revoked_at IS NULL LIMIT $1)", "", "the same"},
	{"FROM request_links LIMIT $1)", "", "the same"},
	{"FROM calendars ORDER BY", "", "the same"},
	{"FROM training_links ORDER BY id LIMIT $1)", "", "the same"},
	{"'message_limit' AS kind", "ORDER BY", "the held messages of one coach"},
	{"'message_limit' AS kind", "Sort", "the same"},
}

// checkPlan fails the test if a line of the plan scans or sorts a whole table.
func checkPlan(t *testing.T, query string, lines []string) {
	t.Helper()
	for _, line := range lines {
		if slices.ContainsFunc(exceptions, func(e exception) bool {
			return strings.Contains(strings.Join(strings.Fields(query), " "), e.query) && strings.Contains(line, e.plan)
		}) {
			continue
		}
		t.Errorf("%s\n\tin %s", line, strings.Join(strings.Fields(query), " "))
	}
}

var (
	scan      = regexp.MustCompile(`^SCAN (\S+)`)
	subquery  = regexp.MustCompile(`^(?:CO-ROUTINE|MATERIALIZE) (\S+)`)
	tempBTree = regexp.MustCompile(`^USE TEMP B-TREE FOR (?:LAST TERM OF )?ORDER BY`)
	pgSort    = regexp.MustCompile(`^(?:->\s+)?(?:Incremental )?Sort$`)
	pgSeqScan = regexp.MustCompile(`Seq Scan on`)
	pgIndex   = regexp.MustCompile(`^(?:->\s+)?(?:Index|Index Only|Bitmap Index) Scan`)
)

// newExplain returns a function that returns the lines of a statement's plan that scan a
// whole table or index, or sort. It uses one connection for all statements.
func newExplain(t *testing.T, url string) func(query string, args []any) []string {
	t.Helper()
	if strings.HasPrefix(url, "postgres") {
		conn, err := pgx.Connect(bg, url)
		ok(t, err)
		t.Cleanup(func() { conn.Close(bg) })
		for _, off := range []string{"enable_seqscan", "enable_sort", "enable_incremental_sort", "enable_hashjoin", "enable_mergejoin"} {
			_, err := conn.Exec(bg, "SET "+off+" = off")
			ok(t, err)
		}
		return func(query string, args []any) []string { return explainPostgres(t, conn, query, args) }
	}
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(url, "sqlite:"))
	ok(t, err)
	t.Cleanup(func() { db.Close() })
	return func(query string, args []any) []string { return explainSQLite(t, db, query, args) }
}

func explainSQLite(t *testing.T, db *sql.DB, query string, args []any) []string {
	t.Helper()
	// As database prepares it: the plan does not depend on the value of the limit.
	rows, err := db.Query("EXPLAIN QUERY PLAN "+strings.ReplaceAll(query, "LIMIT $", "LIMIT +$"), args...)
	if err != nil {
		t.Fatalf("%v\n\tin %s", err, query)
	}
	defer rows.Close()
	var bad []string
	inner := map[string]bool{}
	for rows.Next() {
		var id, parent, unused int
		var line string
		ok(t, rows.Scan(&id, &parent, &unused, &line))
		if m := subquery.FindStringSubmatch(line); m != nil {
			inner[m[1]] = true
		}
		if strings.Contains(line, "VALUES CLAUSE") || strings.Contains(line, " CONSTANT ROW") {
			continue
		}
		m := scan.FindStringSubmatch(line)
		if m != nil && !inner[m[1]] && !strings.HasPrefix(m[1], "(") || tempBTree.MatchString(line) {
			bad = append(bad, line)
		}
	}
	ok(t, rows.Err())
	return bad
}

// explainPostgres expects a connection on which scans of whole tables and sorts are off, so
// that the planner uses them only if no index serves the statement.
func explainPostgres(t *testing.T, conn *pgx.Conn, query string, args []any) []string {
	t.Helper()
	rows, err := conn.Query(bg, "EXPLAIN (COSTS OFF) "+query, args...)
	if err != nil {
		t.Fatalf("%v\n\tin %s", err, query)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v\n\tin %s", err, query)
	}
	var bad []string
	for i, line := range lines {
		line = strings.TrimSpace(line)
		whole := pgIndex.MatchString(line) && (i+1 == len(lines) || !strings.Contains(lines[i+1], "Index Cond"))
		if whole || pgSeqScan.MatchString(line) || pgSort.MatchString(line) {
			bad = append(bad, fmt.Sprint(line))
		}
	}
	return bad
}
