package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	moderncsqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/touchline/touchline/internal/fault"
)

var (
	// ErrStale says that a row was not as it was read: write runs fn again.
	ErrStale  = errors.New("database: a rival wrote first")
	errClosed = errors.New("database: closed")
)

// committed is an error whose transaction is kept all the same.
type committed struct{ err error }

func (c *committed) Error() string { return c.err.Error() }
func (c *committed) Unwrap() error { return c.err }

// CommitWith makes Write commit and then return err, for example when a wrong OTP must be
// counted although the caller gets an error. CommitWith(nil) is nil.
func CommitWith(err error) error {
	if err == nil {
		return nil
	}
	return &committed{err}
}

// classify makes fault.Down of whatever says that the database is away, full or
// too slow, keeping err as its cause. Everything else passes untouched:
// sql.ErrNoRows, constraints, and the context of a caller who left.
func classify(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if isAway(err) || mayRepeat(err) {
		return fault.Down(err)
	}
	return err
}

// IsUnique says whether err is the refusal of a duplicate by a unique index or
// a primary key. The transaction that met it cannot go on: prefer ON CONFLICT.
func IsUnique(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "23505"
	}
	if e, ok := errors.AsType[*moderncsqlite.Error](err); ok {
		switch e.Code() {
		case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
			return true
		}
	}
	return false
}

// isAway says whether the database cannot serve at the moment.
func isAway(err error) bool {
	// Before what the server said: whatever keeps it from letting us in, it is away.
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case strings.HasPrefix(e.Code, "08"), // connection
			strings.HasPrefix(e.Code, "53"),   // no disk, memory or connections left
			strings.HasPrefix(e.Code, "57P0"), // shutting down, or not up yet
			strings.HasPrefix(e.Code, "58"),   // input and output
			e.Code == "57014",                 // cancelled: too slow
			e.Code == "25006",                 // read-only: a standby
			e.Code == "55P03":                 // a lock waited for in vain
			return true
		}
		return false
	}
	if e, ok := errors.AsType[*moderncsqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
			sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PROTOCOL:
			return true
		}
		return false
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return true
	}
	return isLost(err) || errors.Is(err, context.DeadlineExceeded)
}

// isLost says whether the connection broke, rather than that none could be
// made. What was not yet committed is undone and may be tried on another.
func isLost(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "57P01" || e.Code == "57P02" || strings.HasPrefix(e.Code, "08")
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// mayRepeat says whether the same transaction, begun anew, may succeed: a rival
// was in the way, and nothing was kept.
func mayRepeat(err error) bool {
	if errors.Is(err, ErrStale) {
		return true
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// 0A000 with this text: a migration changed a table under a cached statement.
		return e.Code == "40001" || e.Code == "40P01" ||
			(e.Code == "0A000" && strings.Contains(e.Message, "cached plan"))
	}
	if e, ok := errors.AsType[*moderncsqlite.Error](err); ok {
		code := e.Code() & 0xff
		return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
	}
	return false
}

// noTransaction says whether SQLite refused to end a transaction because there is
// none. Where that is a mistake, the next BEGIN fails and renews the connection.
func noTransaction(err error) bool {
	e, ok := errors.AsType[*moderncsqlite.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_ERROR
}

// noSuchTable says whether err names a table that does not exist yet.
func noSuchTable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "42P01"
	}
	if e, ok := errors.AsType[*moderncsqlite.Error](err); ok {
		return e.Code() == sqlite3.SQLITE_ERROR && strings.Contains(e.Error(), "no such table")
	}
	return false
}
