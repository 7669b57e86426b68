package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// driverName is a driver of SQLite that can end the process before any statement.
const driverName = "sqlite-simulation"

func init() { sql.Register(driverName, &killable{new(sqlite.Driver)}) }

var errEnded = errors.New("simulation: the process has ended")

// killer ends the process before a statement: it copies the database as it is then, which is what SIGKILL leaves, and every later
// statement fails.
var killer killSwitch

type killSwitch struct {
	mu    sync.Mutex
	file  string
	left  int // statements until the end; 0 is off
	dead  bool
	saved string
	// writers are the open connections that may write.
	writers map[sqliteConn]bool
}

// fill makes the database unable to grow, as a full disk does. It reports whether there is one to fill.
func (k *killSwitch) fill() bool { return k.pragma("PRAGMA max_page_count = 1") } // SQLite takes the present size instead

// free lets it grow again.
func (k *killSwitch) free() { k.pragma("PRAGMA max_page_count = 4294967294") }

func (k *killSwitch) pragma(query string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for w := range k.writers {
		rows, err := w.QueryContext(context.Background(), query, nil)
		orPanic(err)
		orPanic(rows.Close())
	}
	return len(k.writers) > 0
}

func (k *killSwitch) arm(file string, statements int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if file != "" {
		k.file, k.left = file, statements
	}
}

func (k *killSwitch) disarm() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = 0
}

// reset ends what an earlier run left.
func (k *killSwitch) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left, k.dead, k.writers = 0, false, map[sqliteConn]bool{}
}

func (k *killSwitch) ended() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.dead
}

// statement is called before each statement.
func (k *killSwitch) statement() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		return errEnded
	}
	if k.left > 0 {
		if k.left--; k.left == 0 {
			k.dead = true
			k.saved = k.file + ".ended"
			copyDatabase(k.file, k.saved)
			if !k.synced() {
				_ = os.Remove(k.saved + "-wal") // a power cut can lose it
			}
			return errEnded
		}
	}
	return nil
}

// synced reports whether each commit reaches the disk: SQLite documents that in WAL mode only synchronous=FULL (2) promises it.
func (k *killSwitch) synced() bool {
	for w := range k.writers {
		rows, err := w.QueryContext(context.Background(), "PRAGMA synchronous", nil)
		orPanic(err)
		level := make([]driver.Value, 1)
		orPanic(rows.Next(level))
		orPanic(rows.Close())
		if level[0].(int64) < 2 {
			return false
		}
	}
	return true
}

// restore brings the files back as the process left them.
func (k *killSwitch) restore() {
	k.mu.Lock()
	defer k.mu.Unlock()
	copyDatabase(k.saved, k.file)
	k.dead, k.left = false, 0
}

// copyDatabase copies the file of a database and its write-ahead log, or removes what from does not have.
func copyDatabase(from, to string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(to + suffix)
		in, err := os.Open(from + suffix)
		if errors.Is(err, os.ErrNotExist) || suffix == "-shm" {
			continue // SQLite makes -shm from the log
		}
		orPanic(err)
		out, err := os.Create(filepath.Clean(to + suffix))
		orPanic(err)
		_, err = io.Copy(out, in)
		orPanic(errors.Join(err, out.Close(), in.Close()))
	}
}

// killable opens connections whose statements ask the killer first.
type killable struct{ to *sqlite.Driver }

func (k *killable) Open(name string) (driver.Conn, error) {
	if killer.ended() {
		return nil, errEnded
	}
	c, err := k.to.Open(name)
	if err != nil {
		return nil, err
	}
	if strings.Contains(name, "_txlock=immediate") {
		killer.mu.Lock()
		killer.writers[c.(sqliteConn)] = true
		killer.mu.Unlock()
	}
	return &conn{c.(sqliteConn)}, nil
}

type sqliteConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.ConnBeginTx
	driver.SessionResetter
	driver.Validator
	driver.Pinger
}

type conn struct{ sqliteConn }

func (c *conn) Close() error {
	killer.mu.Lock()
	delete(killer.writers, c.sqliteConn)
	killer.mu.Unlock()
	return c.sqliteConn.Close()
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{s.(sqliteStmt)}, nil
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := killer.statement(); err != nil {
		return nil, err
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := killer.statement(); err != nil {
		return nil, err
	}
	return c.sqliteConn.QueryContext(ctx, query, args)
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type stmt struct{ sqliteStmt }

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := killer.statement(); err != nil {
		return nil, err
	}
	return s.sqliteStmt.ExecContext(ctx, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := killer.statement(); err != nil {
		return nil, err
	}
	return s.sqliteStmt.QueryContext(ctx, args)
}

// databaseFile is the file of SQLite, or "" for PostgreSQL.
func (s *service) databaseFile() string {
	if s.run.Database != "" {
		return ""
	}
	return filepath.Join(s.dir, "touchline.db")
}
