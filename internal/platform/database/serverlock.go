package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrServed is returned by LockServer if another process serves the database.
var ErrServed = errors.New("another process serves this SQLite database; stop it first, or use PostgreSQL for several replicas")

// lockPollInterval is how often LockServer tries again.
const lockPollInterval = 50 * time.Millisecond

// ServerLock says that this process serves a SQLite database. It ends with Close or with
// the process, even if it is killed.
type ServerLock struct{ file *os.File }

// LockServer makes this process the only one that serves the SQLite database at url. If
// another process serves it, LockServer calls waiting, waits until that process stops,
// and after timeout returns ErrServed. Other commands need no lock. A PostgreSQL database
// may have any number of servers: LockServer returns at once.
func LockServer(ctx context.Context, url string, timeout time.Duration, waiting func()) (*ServerLock, error) {
	t, err := parseURL(url, Options{})
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	if t.engine != sqlite {
		return new(ServerLock), nil
	}
	path := t.path
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // two names of one file have one lock
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	file, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	if err := waitForLock(ctx, file, timeout, waiting); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &ServerLock{file: file}, nil
}

func waitForLock(ctx context.Context, file *os.File, timeout time.Duration, waiting func()) error {
	deadline := time.Now().Add(timeout) // the real clock: another process runs on it
	for first := true; ; first = false {
		locked, err := tryLock(file)
		switch {
		case err != nil:
			return fmt.Errorf("lock the database: %w", err)
		case locked:
			return nil
		case !time.Now().Before(deadline):
			return fmt.Errorf("%w (%s)", ErrServed, file.Name())
		case first:
			waiting()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPollInterval):
		}
	}
}

// Close ends the lock. The file stays: without it, two processes could lock two files of
// one name.
func (l *ServerLock) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
