package database

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

const (
	// readLimit ends a read on PostgreSQL, the wait for a connection included.
	readLimit = 10 * time.Second
	// readTries bounds the connections a read may find dead before it gives up: a
	// pool whose server restarted holds several.
	readTries = 2 * defaultMaxConns
	// maxPrepared bounds the statements kept for one pool. All are literals, so
	// reaching it means that some text is being built.
	maxPrepared = 512
)

// Querier is what db and tx have in common: one statement each. Helpers that
// only read take it, so that they work inside a transaction and outside.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (*Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) *Row
}

// Scanner is a row to read columns from: *Row or *Rows.
type Scanner interface{ Scan(dest ...any) error }

// handle is what runs statements: a pool, a connection or a transaction.
type handle interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// query runs a read outside a transaction. The rows must be closed; Collect does.
// Its errors, and those of the rows, are classified.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, classify(err)
	}
	observe(sql, args)
	limited, cancel := db.engine.readContext(ctx)
	var on handle = db.reads
	if db.cached != nil {
		on = db.cached
	}
	for try := 1; ; try++ {
		rs, err := on.QueryContext(limited, sql, args...)
		if err == nil {
			return &Rows{cursor: rs, closed: cancel}, nil
		}
		if try == readTries || limited.Err() != nil || !(isLost(err) || mayRepeat(err)) {
			cancel()
			return nil, db.failure(err)
		}
	}
}

// failure is classify for what ends a call, and counts it. It knows the errors
// that a closed pool may cause, too: database/sql does not export that one.
func (db *DB) failure(err error) error {
	if err == nil {
		return nil
	}
	db.writing.RLock()
	closed := db.closed
	db.writing.RUnlock()
	if closed {
		return fault.Down(err)
	}
	if err = classify(err); fault.KindOf(err) == fault.Unavailable {
		db.failures.Add(1)
	}
	return err
}

// Failures is how often the database could not serve a call of this process.
func (db *DB) Failures() uint64 { return db.failures.Load() }

// QueryRow runs a read of at most one row outside a transaction; its Scan
// answers sql.ErrNoRows where there is none.
func (db *DB) QueryRow(ctx context.Context, sql string, args ...any) *Row {
	rs, err := db.Query(ctx, sql, args...)
	return &Row{rs, err}
}

// Collect reads all rows through scan and closes them; rs and err are what query
// answered. No rows are an empty slice, not nil.
func Collect[T any](rs *Rows, err error, scan func(Scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rs.Close()
	all := []T{}
	for rs.Next() {
		one, err := scan(rs)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rs.Err()
}

// cursor is the answer of a statement: *sql.Rows, or pgRows in a transaction on
// PostgreSQL.
type cursor interface {
	Scanner
	Next() bool
	Err() error
	Close() error
}

// rows are a cursor whose errors are classified. They close by themselves when
// Next has answered false.
type Rows struct {
	cursor
	tx     *Tx    // nil outside a transaction
	closed func() // nil once closed
	err    error  // of the cursor, once closed
}

// Next advances to the next row.
func (r *Rows) Next() bool {
	if r.cursor.Next() {
		return true
	}
	r.Close()
	return false
}

// Scan reads the columns of the current row.
func (r *Rows) Scan(dest ...any) error { return r.note(r.cursor.Scan(dest...)) }

// Err is what ended the rows, if not their number.
func (r *Rows) Err() error {
	if r.closed == nil {
		return r.note(r.err)
	}
	return r.note(r.cursor.Err())
}

// Close frees the connection. Closing twice is harmless.
func (r *Rows) Close() error {
	err := r.cursor.Close()
	if r.closed != nil {
		// closed ends the context, which database/sql would report as the rows' error.
		r.err = r.cursor.Err()
		r.closed()
		r.closed = nil
	}
	return r.note(err)
}

func (r *Rows) note(err error) error {
	if r.tx != nil {
		return r.tx.note(err)
	}
	return classify(err)
}

// row is the one row of a query.
type Row struct {
	rows *Rows
	err  error
}

// Scan reads the columns and frees the connection; sql.ErrNoRows where there is
// no row.
func (r *Row) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	// Without this a failure after the row, of an UPDATE … RETURNING say, is lost.
	if err := r.rows.Close(); err != nil {
		return err
	}
	return r.rows.Err()
}

// prepared runs statements that it prepares once, keyed by their text: on SQLite
// preparing costs as much as a small read.
type prepared struct {
	on interface {
		handle
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

func newPrepared(on interface {
	handle
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
},
) *prepared {
	return &prepared{on: on, stmts: make(map[string]*sql.Stmt)}
}

// ExecContext runs a statement that answers no rows.
func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := p.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.on.ExecContext(ctx, query, args...)
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext runs a statement that answers rows.
func (p *prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := p.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.on.QueryContext(ctx, query, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// stmt returns the statement kept for query, nil where there is no room for it.
func (p *prepared) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	stmt, room := p.known(query)
	if stmt != nil || !room {
		return stmt, nil
	}
	stmt, err := p.on.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.stmts[query]; first != nil {
		_ = stmt.Close()
		return first, nil
	}
	p.stmts[query] = stmt
	return stmt, nil
}

// known returns the statement kept for query, nil where there is none, and whether
// there is room for more.
func (p *prepared) known(query string) (stmt *sql.Stmt, room bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.stmts[query], len(p.stmts) < maxPrepared
}

// close frees the statements.
func (p *prepared) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, stmt := range p.stmts {
		_ = stmt.Close()
	}
	clear(p.stmts)
}
