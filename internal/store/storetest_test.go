package store_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/storetest"
)

// TestSQLiteIsMigrated: a copy has the tables, so that no test migrates it again.
func TestSQLiteIsMigrated(t *testing.T) {
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(storetest.SQLite(t), "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var tables int
	if err := db.QueryRow(`SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('players', 'requests', 'deliveries')`).Scan(&tables); err != nil || tables != 3 {
		t.Errorf("got %d of 3 tables: %v", tables, err)
	}
}

// TestPostgresIsEmptied: the database of an earlier test has the rows of a copy, and no
// session. A database with a new object is not used again.
func TestPostgresIsEmptied(t *testing.T) {
	want := rowsOf(t, storetest.FreshPostgres(t))
	var used, changed string
	t.Run("use", func(t *testing.T) {
		used, changed = storetest.Postgres(t), storetest.Postgres(t)
		p := newFixture(t, used)
		p.add(p.coach(1), "Asha Rao", number(2), "")
		ok(t, run(p.db, `UPDATE change_feed SET last = 7`))
		open, err := pgx.Connect(bg, used)
		ok(t, err)
		_, err = open.Exec(bg, `BEGIN; LOCK accounts`)
		ok(t, err)
		ok(t, run(newFixture(t, changed).db, `CREATE VIEW numbers AS SELECT mobile_number FROM accounts`))
	})
	again := false
	for i := 0; i < 20 && !again; i++ {
		url := storetest.Postgres(t)
		again = url == used
		if url == changed {
			t.Error("a changed database is used again")
		}
		if diff := cmp.Diff(want, rowsOf(t, url)); diff != "" {
			t.Errorf("not as copied:\n%s", diff)
		}
	}
	if !again && os.Getenv("TOUCHLINE_TEST_POSTGRES") == "" {
		t.Error("the database is not used again")
	}
}

// rowsOf returns the rows of all tables.
func rowsOf(t *testing.T, url string) map[string][]string {
	t.Helper()
	conn, err := pgx.Connect(bg, url)
	ok(t, err)
	defer conn.Close(bg)
	list := func(query string) []string {
		rows, err := conn.Query(bg, query)
		ok(t, err)
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		ok(t, err)
		return values
	}
	all := map[string][]string{}
	for _, table := range list(`SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`) {
		all[table] = list(`SELECT t::text FROM ` + table + ` t`)
	}
	return all
}
