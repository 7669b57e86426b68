//go:build unix

package database_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestListening: a process counts as listening after its own notification has arrived, and then receives
// what another process sends. Behind PgBouncer in transaction mode, which accepts LISTEN, it never does.
func TestListening(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		if db := openCounters(t, storetest.EmptySQLite(t)); !db.Listening() {
			t.Error("SQLite does not count as listening")
		}
	})
	t.Run("postgres", checkListening)
}

func checkListening(t *testing.T) {
	url := storetest.EmptyPostgres(t)
	listen := func(db *database.DB) <-chan string {
		ctx, cancel := context.WithCancel(bg)
		received, done := make(chan string, 1), make(chan struct{})
		go func() {
			defer close(done)
			db.Listen(ctx, "test", func(payload string) { received <- payload })
		}()
		t.Cleanup(func() { cancel(); <-done })
		return received
	}
	direct := openCounters(t, url)
	received := listen(direct)
	for end := time.Now().Add(time.Minute); !direct.Listening(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the process does not listen after a minute")
		}
	}
	pooled := openReplica(t, storetest.PgBouncer(t, url)+"&default_query_exec_mode=exec")
	lost := listen(pooled)
	ok(t, pooled.Notify(bg, "test", "hello"))
	if got := <-received; got != "hello" {
		t.Errorf("received %q, want hello", got)
	}
	if pooled.Listening() {
		t.Error("the process behind PgBouncer says that it listens")
	}
	select {
	case got := <-lost:
		t.Errorf("the process behind PgBouncer received %q", got)
	default:
	}
}

// TestNotifyDenied: a process that may not notify does not count as listening, and tries again only every 30 s.
func TestNotifyDenied(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	url := storetest.LimitedPostgres(t)
	openCounters(t, url)
	db, err := database.Open(bg, url, database.Options{Now: func() time.Time { return now }})
	ok(t, err)
	defer db.Close()
	ctx, cancel := context.WithTimeout(bg, time.Second)
	defer cancel()
	db.Listen(ctx, "test", func(string) {})
	if db.Listening() {
		t.Error("the process says that it listens although it may not notify")
	}
	if err := run(db, `SELECT pg_advisory_lock(1)`); err == nil {
		t.Error("the role may take an advisory lock")
	}
	for wait, want := range []string{"", "permission denied", ""} {
		err := db.Notify(bg, "test", "x")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("call %d: err = %v, want %q", wait, err, want)
		}
		now = now.Add(30 * time.Second * time.Duration((wait+1)%2))
	}
}
