package database

import (
	"context"
	"errors"

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
