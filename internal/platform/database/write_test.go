package database_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		refusal := errors.New("refused")
		tests := map[string]struct {
			fn    func(*database.Tx) error
			want  error
			n     int
			hooks int
		}{
			"commits":              {func(tx *database.Tx) error { return addTo(tx, "a") }, nil, 1, 1},
			"rolls back":           {func(tx *database.Tx) error { return errors.Join(addTo(tx, "a"), refusal) }, refusal, 0, 0},
			"keeps a domain error": {func(*database.Tx) error { return fault.Missing() }, fault.Missing(), 0, 0},
		}
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				ok(t, run(db, `UPDATE counters SET n = 0`))
				hooks := 0
				err := db.Write(bg, func(tx *database.Tx) error {
					tx.AfterCommit(func() { hooks++ })
					return tt.fn(tx)
				})
				if !errors.Is(err, tt.want) && fault.CodeOf(err) != fault.CodeOf(tt.want) {
					t.Errorf("err = %v, want %v", err, tt.want)
				}
				if n := counter(t, db, "a"); n != tt.n || hooks != tt.hooks {
					t.Errorf("n = %d, hooks = %d; want %d, %d", n, hooks, tt.n, tt.hooks)
				}
			})
		}
	})
}

func TestWriteStopsAfterFailedStatement(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		err := db.Write(bg, func(tx *database.Tx) error {
			ok(t, addTo(tx, "a"))
			_, err := tx.Exec(bg, `INSERT INTO counters (name, n) VALUES ('a', 1)`)
			if !database.IsUnique(err) {
				t.Errorf("err = %v, want a duplicate", err)
			}
			if err := addTo(tx, "a"); err == nil {
				t.Error("a statement after a failure ran")
			}
			return nil
		})
		if !database.IsUnique(err) || fault.KindOf(err) != fault.Internal {
			t.Errorf("err = %v, want the duplicate", err)
		}
		if n := counter(t, db, "a"); n != 0 {
			t.Errorf("n = %d, want 0: a failed transaction was committed", n)
		}
	})
}

func TestWriteRefusesOpenRows(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		err := db.Write(bg, func(tx *database.Tx) error {
			if _, err := tx.Query(bg, `SELECT name FROM counters`); err != nil {
				return err
			}
			return addTo(tx, "a")
		})
		if err == nil {
			t.Error("a statement ran while rows were open")
		}
		ok(t, db.Write(bg, func(tx *database.Tx) error { return addTo(tx, "a") }))
	})
}

func TestTxNow(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.FixedZone("IST", 19800))
		db.SetNow(func() time.Time { return at })
		ok(t, db.Write(bg, func(tx *database.Tx) error {
			if want := at.UTC().Truncate(time.Microsecond); tx.Now != want {
				t.Errorf("now = %v, want %v", tx.Now, want)
			}
			return nil
		}))
	})
}

// Of concurrent transactions, some fail and some panic. Exactly the others are committed.
func TestConcurrentWrites(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		clients, rounds := 50, 20
		if strings.HasPrefix(url, "postgres") {
			// A write fails after some seconds without a connection or the lock of the row. On a
			// busy machine 50 clients wait for so long.
			clients, rounds, url = 16, 60, url+"&lock_timeout=9s"
		}
		db := openCounters(t, url)
		refusal := errors.New("refused")
		var hooks, refused, panicked atomic.Int64
		var all sync.WaitGroup
		for i := range clients {
			all.Go(func() {
				for j := range rounds {
					func() {
						defer func() {
							if p := recover(); p != nil {
								if p != "oops" {
									panic(p)
								}
								panicked.Add(1)
							}
						}()
						err := db.Write(bg, func(tx *database.Tx) error {
							tx.AfterCommit(func() { hooks.Add(1) })
							if err := addTo(tx, "a"); err != nil {
								return err
							}
							switch (i + j) % 10 {
							case 3:
								return refusal
							case 7:
								panic("oops")
							}
							return nil
						})
						if errors.Is(err, refusal) {
							refused.Add(1)
						} else if err != nil {
							t.Error(err)
						}
					}()
				}
			})
		}
		all.Wait()
		each := int64(clients * rounds / 10)
		if n := counter(t, db, "a"); n != int(8*each) {
			t.Errorf("n = %d, want %d", n, 8*each)
		}
		if hooks.Load() != 8*each || refused.Load() != each || panicked.Load() != each {
			t.Errorf("hooks %d, refused %d, panicked %d; want %d, %d, %d", hooks.Load(), refused.Load(), panicked.Load(), 8*each, each, each)
		}
	})
}

// runtime.Goexit with open rows, as t.FailNow does, must not stop the writer.
func TestWriteSurvivesGoexit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		var done sync.WaitGroup
		done.Go(func() {
			_ = db.Write(bg, func(tx *database.Tx) error {
				ok(t, addTo(tx, "a"))
				_, err := tx.Query(bg, `UPDATE counters SET n = 9 RETURNING n`)
				ok(t, err)
				runtime.Goexit()
				return nil
			})
		})
		done.Wait()
		ok(t, db.Write(bg, func(tx *database.Tx) error { return addTo(tx, "a") }))
		if n := counter(t, db, "a"); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
	})
}

func TestWriteReattemptsErrStale(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		attempts := 0
		ok(t, db.Write(bg, func(tx *database.Tx) error {
			if attempts++; attempts < 5 {
				ok(t, addTo(tx, "a"))
				return fmt.Errorf("save: %w", database.ErrStale)
			}
			return addTo(tx, "a")
		}))
		if n := counter(t, db, "a"); n != 1 || attempts != 5 {
			t.Errorf("n = %d after %d attempts, want 1 after 5", n, attempts)
		}
		attempts = 0
		if was, _ := db.SetRetries(10, time.Minute); was != 100 {
			t.Errorf("%d attempts by default, want 100", was)
		}
		err := db.Write(bg, func(*database.Tx) error { attempts++; return database.ErrStale })
		if fault.KindOf(err) != fault.Unavailable || attempts != 10 {
			t.Errorf("err = %v after %d attempts, want unavailable after 10", err, attempts)
		}
	})
}

// Transactions read a counter and update it with a guard: no update is lost.
func TestWriteRetriesConcurrentUpdates(t *testing.T) {
	eachEngine(t, func(t *testing.T, db *database.DB) {
		const clients, rounds = 10, 10
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				for range rounds {
					err := db.Write(bg, func(tx *database.Tx) error {
						var n int
						if err := tx.QueryRow(bg, `SELECT n FROM counters WHERE name = $1`, "a").Scan(&n); err != nil {
							return err
						}
						return tx.ExecOne(bg, `UPDATE counters SET n = $3 WHERE name = $1 AND n = $2`, "a", n, n+1)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if n := counter(t, db, "a"); n != clients*rounds {
			t.Errorf("n = %d, want %d", n, clients*rounds)
		}
	})
}

func TestWriteAfterCancel(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		request, cancel := context.WithCancel(bg)
		ok(t, db.Write(request, func(tx *database.Tx) error {
			cancel()
			_, err := tx.Exec(request, `UPDATE counters SET n = n + 1`)
			return err
		}))
		if n := counter(t, db, "a"); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
		ran := false
		err := db.Write(request, func(*database.Tx) error { ran = true; return nil })
		if !errors.Is(err, context.Canceled) || ran {
			t.Errorf("err = %v, ran = %t; want context.Canceled and no call", err, ran)
		}
		if err := db.QueryRow(request, `SELECT 1`).Scan(new(int)); !errors.Is(err, context.Canceled) {
			t.Errorf("read: err = %v, want canceled", err)
		}
	})
}
