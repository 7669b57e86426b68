// Command upgrade measures writes while migrations run: it fills a database with players, writes to it
// at a fixed rate, and applies sample migrations, a new column, an index, a table and a column that is filled in chunks,
// with the runner of touchline migrate.
//
//	go -C bench run ./upgrade -db sqlite:/tmp/upgrade.db
//	go -C bench run ./upgrade -db postgres://…
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/fstest"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// samples are migrations of a later release, in the form that TestMigrationsTakeShortLocks accepts.
var samples = map[string]string{
	"9001_color.sql": "-- +goose Up\nALTER TABLE players ADD COLUMN color TEXT;\n",
	"9002_index.sql": "-- +goose NO TRANSACTION\n-- +goose Up\nDROP INDEX CONCURRENTLY IF EXISTS players_by_color;\nCREATE INDEX CONCURRENTLY players_by_color ON players (coach_id, color);\n",
	"9003_table.sql": "-- +goose Up\nCREATE TABLE colors (name TEXT NOT NULL PRIMARY KEY);\n",
	"9004_level.sql": "-- +goose Up\nALTER TABLE players ADD COLUMN level BIGINT NOT NULL DEFAULT 0;\n",
}

// chunk is the number of rows that one transaction of the worker fills in.
const chunk = 500

func main() {
	url := flag.String("db", "", "URL of an empty database")
	players := flag.Int("players", 100_000, "players")
	rate := flag.Int("writes", 50, "writes per second")
	calm := flag.Duration("calm", 5*time.Second, "time before and after the migrations")
	flag.Parse()
	if err := run(context.Background(), *url, *players, *rate, *calm); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string, players, rate int, calm time.Duration) error {
	db, err := open(ctx, url, store.Migrations())
	if err != nil {
		return err
	}
	defer db.Close()
	if err := fill(ctx, db, players); err != nil {
		return fmt.Errorf("add players: %w", err)
	}
	newer, err := withSamples()
	if err != nil {
		return err
	}
	next, err := database.Open(ctx, url, database.Options{Migrations: newer})
	if err != nil {
		return err
	}
	defer next.Close()

	deadlocks := countDeadlocks(ctx, db)
	stop := make(chan struct{})
	var w writes
	var writers sync.WaitGroup
	writers.Go(func() { w.run(ctx, db, players, rate, stop) })
	time.Sleep(calm)
	w.phase.Store(1)
	start := time.Now()
	err = next.MigrateObserved(ctx, func(e database.MigrationEvent) {
		fmt.Printf("%8.3f s  %s %s %s\n", time.Since(start).Seconds(), e.Migration, e.State, strings.TrimPrefix(e.Took.Round(time.Millisecond).String(), "0s"))
	})
	migrated := time.Since(start)
	w.phase.Store(2)
	filled := 0
	for n := int64(chunk); err == nil && n == chunk; {
		n, err = db.Exec(ctx, `UPDATE players SET color = 'blue' WHERE id IN (SELECT p.id FROM players p WHERE p.color IS NULL LIMIT 500)`)
		filled += int(n)
		time.Sleep(20 * time.Millisecond)
	}
	backfilled := time.Since(start) - migrated
	w.phase.Store(3)
	time.Sleep(calm)
	close(stop)
	writers.Wait()
	fmt.Printf("migrate %.2f s, filling %d rows %.1f s, deadlocks %d, failed writes %d\n", migrated.Seconds(), filled, backfilled.Seconds(), countDeadlocks(ctx, db)-deadlocks, w.failed.Load())
	for i, name := range []string{"before", "migrate", "fill", "after"} {
		took := w.took[i]
		slices.Sort(took)
		if len(took) > 0 {
			fmt.Printf("%-8s %6d writes, median %s, slowest %s\n", name, len(took), took[len(took)/2].Round(time.Microsecond*100), took[len(took)-1].Round(time.Microsecond*100))
		}
	}
	return err
}

func open(ctx context.Context, url string, migrations fs.FS) (*database.DB, error) {
	if url == "" {
		return nil, errors.New("-db is missing")
	}
	db, err := database.Open(ctx, url, database.Options{Migrations: migrations})
	if err != nil {
		return nil, err
	}
	return db, db.Migrate(ctx)
}

func withSamples() (fs.FS, error) {
	all := fstest.MapFS{}
	names, err := fs.Glob(store.Migrations(), "*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(store.Migrations(), name)
		if err != nil {
			return nil, err
		}
		all[name] = &fstest.MapFile{Data: text}
	}
	for name, text := range samples {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all, nil
}

func fill(ctx context.Context, db *database.DB, players int) error {
	_, err := db.Exec(ctx, `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ('coach', '+919812300001', 'coach', 0)`)
	for from := 0; err == nil && from < players; from += 10_000 {
		_, err = db.Exec(ctx, `
			WITH RECURSIVE n (i) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < CAST($2 AS BIGINT))
			INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at)
			SELECT 'p' || i, 'coach', 1, 'Asha ' || i, 'asha ' || i, '2012-01-01', 'asha ' || i, 0 FROM n`, from, min(from+10_000, players)-1)
	}
	return err
}

// writes are writes of replicas, each a change of a player and a row of a log.
type writes struct {
	phase  atomic.Int32
	failed atomic.Int64

	mu   sync.Mutex
	took [4][]time.Duration // by phase
}

// run begins rate writes a second, however long they take.
func (w *writes) run(ctx context.Context, db *database.DB, players, rate int, stop <-chan struct{}) {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		all.Go(func() {
			begin, phase := time.Now(), w.phase.Load()
			err := db.Write(ctx, func(tx *database.Tx) error {
				if _, err := tx.Exec(ctx, `UPDATE players SET version = version + 1 WHERE id = $1`, fmt.Sprint("p", rand.IntN(players))); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, `INSERT INTO installation (name, value) VALUES ($1, '')`, fmt.Sprint("bench ", n))
				return err
			})
			took := time.Since(begin)
			if err != nil {
				w.failed.Add(1)
				fmt.Fprintln(os.Stderr, err)
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.took[phase] = append(w.took[phase], took)
		})
	}
}

// countDeadlocks returns the deadlocks of the database until now; 0 on SQLite, which has none.
func countDeadlocks(ctx context.Context, db *database.DB) (n int64) {
	_ = db.QueryRow(ctx, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
	return n
}
