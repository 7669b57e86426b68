package database

import (
	"context"
	"errors"
	"net/url"

	"github.com/touchline/touchline/internal/platform/fault"
)

var (
	errReadOnly = errors.New("database: read-only")
	errUndo     = errors.New("database: roll back the test write")
)

// Writable returns fault.Unavailable if the database does not respond or takes no writes.
// On SQLite it writes, and rolls back: a commit costs a sync of the disk. After a failed
// write it commits, because only that shows that the disk works again.
func (db *DB) Writable(ctx context.Context) error {
	if db.engine == postgres {
		return db.writablePostgres(ctx)
	}
	commit := db.suspect.Load()
	err := db.Write(ctx, func(tx *Tx) error {
		// The service does not use this number. Setting it writes the first page.
		if _, err := tx.Exec(ctx, `PRAGMA user_version = 0`); err != nil || commit {
			return err
		}
		return errUndo
	})
	if errors.Is(err, errUndo) {
		return nil
	}
	if err == nil {
		db.suspect.Store(false)
	}
	return err
}

func (db *DB) writablePostgres(ctx context.Context) error {
	var readOnly string
	err := db.QueryRow(ctx, `SELECT current_setting('transaction_read_only')`).Scan(&readOnly)
	if err != nil {
		return err
	}
	if readOnly == "on" {
		db.dropIdle()
		return fault.Down(errReadOnly)
	}
	return nil
}

// dropIdle closes the idle connections of the pool. After a failover on PostgreSQL they would
// reach the previous primary until the end of their life; on SQLite they would keep damaged
// pages in their cache.
func (db *DB) dropIdle() {
	n := db.reads.Stats().MaxOpenConnections
	db.reads.SetMaxIdleConns(0)
	db.reads.SetMaxIdleConns(n)
}

// logWait is how long EmptyLog waits for readers, and so keeps writers waiting.
const logWait = "50"

// EmptyLog moves SQLite's write-ahead log into the file and truncates it: until then it has earlier contents of pages. While
// transactions run it may leave the log for the next call. PostgreSQL does so by itself.
func (db *DB) EmptyLog(ctx context.Context) error {
	if db.engine == postgres {
		return nil
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	pool, err := db.target.openSQLite(1, url.Values{"_pragma": {"busy_timeout(" + logWait + ")", "synchronous(FULL)", "secure_delete(1)"}})
	if err != nil {
		return classify(err)
	}
	defer pool.Close()
	// PASSIVE waits for no reader, and leaves little work for TRUNCATE, which does.
	for _, mode := range []string{"PASSIVE", "TRUNCATE"} {
		var busy, pages, moved int
		if err := pool.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &pages, &moved); err != nil {
			return classify(err)
		}
	}
	return nil
}
