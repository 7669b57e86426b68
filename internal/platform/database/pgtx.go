package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// beginWrite names the level, because a role or a server may have another default. Guarded statements
	// and row locks need no higher one, and with it no transaction fails with 40001.
	beginWrite = `BEGIN ISOLATION LEVEL READ COMMITTED`
	// beginView starts a transaction whose reads see one state.
	beginView = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`

	// rollbackTimeout limits a ROLLBACK. After it the connection is closed, which rolls back
	// too.
	rollbackTimeout = 5 * time.Second
)

// pgTx is a transaction on PostgreSQL, where round trips are the cost. It uses pgx batches
// to send BEGIN with the first statement, deferred statements with the next one, and the
// last deferred statements with COMMIT.
type pgTx struct {
	conn     *pgx.Conn
	begin    string
	begun    bool
	deferred []deferred // see Tx.Defer
}

// exec runs a statement that returns no rows. It returns the number of affected rows.
func (p *pgTx) exec(ctx context.Context, query string, args []any) (int64, error) {
	if p.nothingPending() {
		tag, err := p.conn.Exec(ctx, query, args...)
		return tag.RowsAffected(), err
	}
	results, err := p.send(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	tag, err := results.Exec()
	return tag.RowsAffected(), closeBatch(results, err)
}

// query runs a statement that returns rows.
func (p *pgTx) query(ctx context.Context, query string, args []any) (cursor, error) {
	if p.nothingPending() {
		rs, err := p.conn.Query(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		return pgRows{rs, nil}, nil
	}
	results, err := p.send(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	rs, err := results.Query()
	if err != nil {
		return nil, closeBatch(results, err)
	}
	return pgRows{rs, results}, nil
}

// nothingPending reports whether the next statement can run without a batch.
func (p *pgTx) nothingPending() bool { return p.begun && len(p.deferred) == 0 }

// mayFail reports whether the result of a deferred statement may forbid the commit.
func (p *pgTx) mayFail() bool {
	for i := range p.deferred {
		if p.deferred[i].mayFail() {
			return true
		}
	}
	return false
}

// flush runs the deferred statements.
func (p *pgTx) flush(ctx context.Context) error {
	results, err := p.send(ctx, "")
	if err != nil {
		return err
	}
	return closeBatch(results, nil)
}

// send sends one batch: BEGIN if the transaction has not begun, the deferred statements,
// and last unless it is empty. It reads the results of all but last. The caller must read
// the result of last and close the batch.
func (p *pgTx) send(ctx context.Context, last string, args ...any) (pgx.BatchResults, error) {
	pending, begins := p.deferred, !p.begun
	p.deferred, p.begun = nil, true
	var batch pgx.Batch
	if begins {
		batch.Queue(p.begin)
	}
	for _, s := range pending {
		batch.Queue(s.query, s.args...)
	}
	if last != "" {
		batch.Queue(last, args...)
	}
	results := p.conn.SendBatch(ctx, &batch)
	if begins {
		if _, err := results.Exec(); err != nil {
			return nil, closeBatch(results, err)
		}
	}
	for i := range pending {
		forbidden, err := pending[i].readResult(results)
		endSpan(pending[i].span, err)
		err = cmp.Or(err, forbidden)
		if err != nil {
			return nil, closeBatch(results, err)
		}
	}
	return results, nil
}

// readResult reads the result of s. forbidden is the reason not to commit; err is a failure
// of the whole batch.
func (s *deferred) readResult(results pgx.BatchResults) (forbidden, err error) {
	if s.scan == nil {
		tag, err := results.Exec()
		if err == nil && s.rows > 0 && tag.RowsAffected() != s.rows {
			forbidden = ErrStale
		}
		return forbidden, err
	}
	rs, err := results.Query()
	if err != nil {
		return nil, err
	}
	defer rs.Close()
	switch {
	case s.each:
		for forbidden == nil && rs.Next() {
			forbidden = s.scan(batchRow{rs})
		}
	case rs.Next():
		forbidden = s.scan(batchRow{rs})
	case rs.Err() == nil:
		forbidden = s.scan(noRow{})
	}
	if rs.Close(); forbidden == nil {
		err = rs.Err()
	}
	return forbidden, err
}

// closeBatch closes a batch and returns the first error.
func closeBatch(results pgx.BatchResults, err error) error {
	if closed := results.Close(); err == nil {
		err = closed
	}
	return err
}

// commit commits the transaction. Its error is a commitError, unless notCommitted or the
// server refused a statement before COMMIT.
func (p *pgTx) commit(ctx context.Context) error {
	if !p.begun && len(p.deferred) == 0 {
		return nil
	}
	results, err := p.send(ctx, "COMMIT")
	if err != nil {
		if _, refused := errors.AsType[*pgconn.PgError](err); refused && !isConnectionLost(err) || notCommitted(err) {
			return err
		}
		return &commitError{err}
	}
	tag, err := results.Exec()
	err = closeBatch(results, err)
	if err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	if err != nil && !notCommitted(err) {
		return &commitError{err}
	}
	return err
}

// notCommitted reports whether a COMMIT that failed with err cannot have committed: it was
// not sent, or PostgreSQL had ended the idle transaction before.
func notCommitted(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "25P03" || pgconn.SafeToRetry(err)
}

// rollback rolls the transaction back. After a commit it does nothing.
func (p *pgTx) rollback(ctx context.Context) {
	if p.conn.IsClosed() || p.conn.PgConn().TxStatus() == 'I' {
		return
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	if _, err := p.conn.Exec(limited, `ROLLBACK`); err != nil {
		_ = p.conn.Close(limited)
	}
}

// pgRows are the rows of a statement and its batch.
type pgRows struct {
	pgx.Rows
	batch pgx.BatchResults // nil without a batch
}

// Close reads to the end and frees the connection.
func (r pgRows) Close() error {
	r.Rows.Close()
	if r.batch == nil {
		return r.Rows.Err()
	}
	return closeBatch(r.batch, r.Rows.Err())
}

// batchRow is the row of one statement of a batch. Its Scan returns a scan error to the
// caller; the Scan of pgx would also fail the following statements.
type batchRow struct{ pgx.Rows }

// Scan reads the columns.
func (r batchRow) Scan(dest ...any) error {
	return pgx.ScanRow(r.Conn().TypeMap(), r.FieldDescriptions(), r.RawValues(), dest...)
}

// noRow is the result of a statement without a row.
type noRow struct{}

// Scan returns sql.ErrNoRows.
func (noRow) Scan(...any) error { return sql.ErrNoRows }
