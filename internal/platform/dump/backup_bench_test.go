//go:build unix

package dump_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// BenchmarkBackup backs up 100,000 players from SQLite and restores them into PostgreSQL, then the other way. It says how long the
// slowest of 50 writes a second took meanwhile. Run it with -benchtime 1x. Processor time is of this process, without PostgreSQL's.
func BenchmarkBackup(b *testing.B) {
	players := 100_000
	first, id := storetest.SQLite(b), newIdentity(b)
	fillTables(b, first, func(table string) int { return max(100, players*rowsPerPlayer[table]) })
	for b.Loop() {
		from := first
		for _, to := range []string{storetest.EmptyPostgres(b), storetest.EmptySQLite(b)} {
			measure := func(what string, do func() error) {
				begin, before := time.Now(), cpuTime()
				if err := do(); err != nil {
					b.Fatal(err)
				}
				load, _ := os.ReadFile("/proc/loadavg")
				b.Logf("%s: %.1f s, %.1f s of processor time, load %.14s", what, time.Since(begin).Seconds(), (cpuTime() - before).Seconds(), load)
			}
			file, err := os.Create(filepath.Join(b.TempDir(), "backup.age"))
			if err != nil {
				b.Fatal(err)
			}
			var rows int64
			stop := writes(b, from)
			measure(fmt.Sprintf("back up %.8s", from), func() error {
				c, err := newBackup(from).Write(b.Context(), file, id.Recipient())
				rows = c.Rows()
				return err
			})
			n, slowest := stop()
			size, err := file.Seek(0, io.SeekCurrent)
			b.Logf("%d rows, %.0f MB, %v; the slowest of %d writes took %d ms", rows, float64(size)/1e6, err, n, slowest.Milliseconds())
			measure(fmt.Sprintf("restore into %.8s", to), func() error {
				if _, err := file.Seek(0, io.SeekStart); err != nil {
					return err
				}
				a, err := dump.OpenArchive(file, newest(b), id)
				if err != nil {
					return err
				}
				defer a.Close()
				_, err = a.Restore(b.Context(), dump.Restore{To: to, Migrations: store.Migrations(), Files: folder(b), Erasures: discard})
				return errors.Join(err, file.Close(), os.Remove(file.Name()))
			})
			from = to
		}
	}
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // never fails
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// writes writes 50 rows a second until stop, which returns their number and the longest time of one.
func writes(b *testing.B, url string) (stop func() (int, time.Duration)) {
	db, err := database.Open(b.Context(), url, database.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	n, slowest := 0, time.Duration(0)
	go func() {
		defer close(ended)
		for t := time.NewTicker(time.Second / 50); ; n++ {
			select {
			case <-ctx.Done():
				t.Stop()
				return
			case <-t.C:
			}
			begin := time.Now()
			err := db.Write(context.Background(), func(tx *database.Tx) error {
				_, err := tx.Exec(context.Background(), `INSERT INTO erasures (object_id, kind, erased_at) VALUES ($1, 'player', 1)`, fmt.Sprintf("written-%d", n))
				return err
			})
			if err != nil {
				b.Error(err)
			}
			slowest = max(slowest, time.Since(begin))
		}
	}()
	return func() (int, time.Duration) {
		cancel()
		<-ended
		if err := db.Close(); err != nil {
			b.Error(err)
		}
		return n, slowest
	}
}
