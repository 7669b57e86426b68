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

	"github.com/touchline/touchline/internal/platform/fault"
)

var (
	// ErrStale says that a guarded statement affected no row, because a concurrent
	// transaction changed it. Write runs its function again.
	ErrStale  = errors.New("database: changed by a concurrent transaction")
	errClosed = errors.New("database: closed")
)

// classify wraps err in fault.Down if the database is unreachable, full or too slow. It
// returns other errors unchanged, for example sql.ErrNoRows, violated constraints and a
// cancelled context.
func classify(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if isUnavailable(err) || mayRetry(err) {
		return fault.Down(err)
	}
	return err
}

// IsUnique reports whether err is the violation of a unique index or primary key. The
// transaction can then only roll back: prefer ON CONFLICT.
func IsUnique(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "23505"
	}
	if e, ok := errors.AsType[sqliteError](err); ok {
		switch e.Code() {
		case sqliteUnique, sqlitePrimaryKey, sqliteRowID:
			return true
		}
	}
	return false
}

// isUnavailable reports whether the database cannot serve now.
func isUnavailable(err error) bool {
	// First, because it may wrap a PgError with any code, for example of authentication.
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch {
		case strings.HasPrefix(e.Code, "08"), // connection
			strings.HasPrefix(e.Code, "53"),   // no disk, memory or connections left
			strings.HasPrefix(e.Code, "57P0"), // shutting down or starting
			strings.HasPrefix(e.Code, "58"),   // I/O error
			e.Code == "57014",                 // cancelled by a timeout
			e.Code == "25P03",                 // idle for too long in a transaction
			e.Code == "25006":                 // read-only: a standby
			return true
		}
		return false
	}
	if e, ok := errors.AsType[sqliteError](err); ok {
		switch e.Code() & 0xff {
		case sqliteFull, sqliteIO, sqliteCantOpen, sqliteReadOnly,
			sqliteNoMemory, sqliteInterrupt, sqliteProtocol, sqliteCorrupt, sqliteNotADB:
			return true
		}
		return false
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return true
	}
	return isConnectionLost(err) || errors.Is(err, context.DeadlineExceeded)
}

// IsReadOnly reports whether the connection refuses writes: a fenced primary, a standby, or
// a SQLite file that could not be opened for writing. Another connection may accept them.
func IsReadOnly(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "25006"
	}
	e, ok := errors.AsType[sqliteError](err)
	return ok && e.Code()&0xff == sqliteReadOnly
}

// isDamaged reports whether the connection should not be used again: it is read-only, or
// what it has read of the SQLite file is damaged.
func isDamaged(err error) bool {
	if e, ok := errors.AsType[sqliteError](err); ok {
		switch e.Code() & 0xff {
		case sqliteCorrupt, sqliteNotADB, sqliteCantOpen:
			return true
		}
	}
	return IsReadOnly(err)
}

// isDiskFailure reports whether SQLite could not read or write the disk.
func isDiskFailure(err error) bool {
	e, ok := errors.AsType[sqliteError](err)
	return ok && (e.Code()&0xff == sqliteFull || e.Code()&0xff == sqliteIO)
}

// isConnectionLost reports whether an open connection broke. A transaction without COMMIT
// is rolled back and may be retried on another connection.
func isConnectionLost(err error) bool {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "57P01" || e.Code == "57P02" || e.Code == "25P03" || strings.HasPrefix(e.Code, "08")
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// mayRetry reports whether the transaction failed because of a concurrent one, is rolled
// back, and may succeed if it runs again.
func mayRetry(err error) bool {
	if errors.Is(err, ErrStale) {
		return true
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// 55P03: lock timeout. 0A000 with this text: a migration changed a table of a cached
		// statement.
		return e.Code == "40001" || e.Code == "40P01" || e.Code == "55P03" ||
			(e.Code == "0A000" && strings.Contains(e.Message, "cached plan"))
	}
	if e, ok := errors.AsType[sqliteError](err); ok {
		code := e.Code() & 0xff
		return code == sqliteBusy || code == sqliteLocked
	}
	return false
}

// isNoTransaction reports whether SQLite refused ROLLBACK because there is no transaction.
// The code is generic: if the cause was another, the next BEGIN fails and the writer opens
// another connection.
func isNoTransaction(err error) bool {
	e, ok := errors.AsType[sqliteError](err)
	return ok && e.Code() == sqliteGeneric
}

// isNotAvailable reports whether PostgreSQL, or a server with its protocol, has no such function, or
// refuses it to this role.
func isNotAvailable(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "42883" || e.Code == "42501" || e.Code == "0A000")
}

// isDuplicateTable reports whether another process created the table at the same time.
func isDuplicateTable(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "42P07" || e.Code == "23505" && strings.HasPrefix(e.ConstraintName, "pg_"))
}

// IsNoSuchTable reports whether a table does not exist yet.
func IsNoSuchTable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "42P01"
	}
	if e, ok := errors.AsType[sqliteError](err); ok {
		return e.Code() == sqliteGeneric && strings.Contains(e.Error(), "no such table")
	}
	return false
}

// IsTooManyConnections reports whether PostgreSQL refused a connection because of max_connections or the limit of the role.
func IsTooManyConnections(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "53300"
}

// isForbidden reports whether the user of PostgreSQL lacks a privilege (42501).
func isForbidden(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "42501"
}
