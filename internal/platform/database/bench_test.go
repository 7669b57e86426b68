package database_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

func benchEach(b *testing.B, bench func(b *testing.B, db *database.DB)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, openCounters(b, storetest.EmptySQLite(b))) })
	b.Run("postgres", func(b *testing.B) { bench(b, openCounters(b, storetest.EmptyPostgres(b))) })
}

// BenchmarkRead reads one row by its key. "unprepared" uses database/sql without the
// cache; on PostgreSQL the driver has its own.
func BenchmarkRead(b *testing.B) {
	const q = `SELECT n FROM counters WHERE name = $1`
	benchEach(b, func(b *testing.B, db *database.DB) {
		var n int
		b.Run("prepared", func(b *testing.B) {
			for b.Loop() {
				ok(b, db.QueryRow(bg, q, "a").Scan(&n))
			}
		})
		b.Run("unprepared", func(b *testing.B) {
			for b.Loop() {
				ok(b, db.Unprepared(bg, q, &n, "a"))
			}
		})
		b.Run("parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				var n int
				for pb.Next() {
					ok(b, db.QueryRow(bg, q, "a").Scan(&n))
				}
			})
		})
	})
}

// BenchmarkWrite has each client add to its own row.
func BenchmarkWrite(b *testing.B) {
	benchEach(b, func(b *testing.B, db *database.DB) {
		for i := range 64 {
			ok(b, run(db, `INSERT INTO counters (name, n) VALUES ($1, 0)`, fmt.Sprint("c", i)))
		}
		for _, clients := range []int{1, 8, 64} {
			b.Run(fmt.Sprint(clients, "clients"), func(b *testing.B) {
				work := make(chan struct{}, b.N)
				for range b.N {
					work <- struct{}{}
				}
				close(work)
				done := make(chan error, clients)
				b.ResetTimer()
				for i := range clients {
					go func() {
						name := fmt.Sprint("c", i)
						for range work {
							if err := db.Write(bg, func(tx *database.Tx) error { return addTo(tx, name) }); err != nil {
								done <- err
								return
							}
						}
						done <- nil
					}()
				}
				for range clients {
					ok(b, <-done)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
			})
		}
	})
}

// BenchmarkOpen opens a migrated database.
func BenchmarkOpen(b *testing.B) {
	url := "sqlite:" + filepath.Join(b.TempDir(), "x.db")
	openCounters(b, url)
	for b.Loop() {
		db, err := database.Open(bg, url, database.Options{Migrations: counters})
		ok(b, err)
		ok(b, db.Migrate(bg))
		ok(b, db.Close())
	}
}
