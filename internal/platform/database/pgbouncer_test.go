//go:build unix

package database_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

// Behind PgBouncer in transaction mode, the modes of pgx without named prepared statements
// work.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	direct := openCounters(t, url)
	pooled := storetest.PgBouncer(t, url)
	for _, mode := range []string{"cache_describe", "exec"} {
		t.Run(mode, func(t *testing.T) {
			ok(t, run(direct, `UPDATE counters SET n = 0`))
			db := openReplica(t, pooled+"&default_query_exec_mode="+mode)
			ok(t, db.Migrate(bg))
			ok(t, db.Writable(bg))
			const clients, rounds = 8, 20
			var all sync.WaitGroup
			for client := range clients {
				all.Go(func() {
					for round := range rounds {
						if err := useDatabase(db, fmt.Sprint(mode, client, "/", round)); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			if n := counter(t, direct, "a"); n != clients*rounds*2 {
				t.Errorf("n = %d, want %d", n, clients*rounds*2)
			}
		})
	}
}

// useDatabase runs each kind of statement and adds 2 to the counter a.
func useDatabase(db *database.DB, name string) error {
	err := db.Write(bg, func(tx *database.Tx) error {
		if err := tx.Defer(bg, `INSERT INTO counters (name, n, note) VALUES ($1, $2, $3)`, name, int64(1), nil); err != nil {
			return err
		}
		var n int64
		if err := tx.QueryRow(bg, `SELECT n FROM counters WHERE name = $1 OR $2 AND n < CAST($3 AS BIGINT)`, name, false, 5).Scan(&n); err != nil {
			return err
		}
		return tx.DeferOne(bg, `UPDATE counters SET n = n + 1 WHERE name = $1`, "a")
	})
	if err != nil {
		return err
	}
	err = db.View(bg, func(tx *database.Tx) error {
		return tx.QueryRow(bg, `SELECT name FROM counters WHERE name = $1`, name).Scan(new(string))
	})
	if err != nil {
		return err
	}
	if err := db.QueryRow(bg, `SELECT name FROM counters WHERE name = $1 AND (note IS NULL OR $2)`, name, false).Scan(new(string)); err != nil {
		return err
	}
	return db.ExecRow(bg, func(s database.Scanner) error { return s.Scan(new(int)) },
		`UPDATE counters SET n = n + $2 WHERE name = $1 RETURNING n`, "a", 1)
}
