package database_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
)

// TestLockServer: one lock per SQLite file, by whatever name; any number for PostgreSQL.
func TestLockServer(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, alias := filepath.Join(folder, "new folder", "x.db"), filepath.Join(folder, "alias.db")
	waited := 0
	lock := func(ctx context.Context, url string, timeout time.Duration) (*database.ServerLock, error) {
		return database.LockServer(ctx, url, timeout, func() { waited++ })
	}
	first, err := lock(bg, "sqlite:"+path, 0)
	ok(t, err)
	ok(t, os.WriteFile(path, nil, 0o600))
	ok(t, os.Symlink(path, alias))
	for _, name := range []string{path, alias} {
		if _, err := lock(bg, "sqlite:"+name, 0); !errors.Is(err, database.ErrServed) {
			t.Errorf("%s: got %v, want ErrServed", name, err)
		}
	}
	if waited != 0 {
		t.Errorf("a lock without timeout waited %d times", waited)
	}
	ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
	defer cancel()
	if _, err := lock(ctx, "sqlite:"+path, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("cancelled: got %v, want its context's error", err)
	}
	other, err := lock(bg, "sqlite:"+filepath.Join(folder, "other.db"), 0)
	ok(t, err)
	ok(t, other.Close())

	time.AfterFunc(100*time.Millisecond, func() { _ = first.Close() })
	next, err := lock(bg, "sqlite:"+alias, time.Minute)
	ok(t, err)
	ok(t, next.Close())
	if waited != 2 {
		t.Errorf("waited %d times, want 2", waited)
	}
	for range 2 {
		replica, err := lock(bg, "postgres://u@127.0.0.1:1/x", 0)
		ok(t, err)
		defer replica.Close()
	}
}
