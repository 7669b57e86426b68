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
	beginWrite = `BEGIN`
	// beginView starts a transaction whose reads all see one state.
	beginView = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`

	// rollbackLimit is how long PostgreSQL may take to undo; after it the connection
	// is closed, which undoes too.
	rollbackLimit = 5 * time.Second
)

// pgTx is a transaction on PostgreSQL, where the round trips are the cost. It talks
// to the driver itself, so that BEGIN travels with the first statement, whatever
// was put off with the next one, and what may fail no more with COMMIT.
type pgTx struct {
	conn     *pgx.Conn
	begin    string
	begun    bool
	deferred []deferred // see Tx.Defer
}

// exec runs a statement that answers no rows, and counts those that it met.
func (p *pgTx) exec(ctx context.Context, query string, args []any) (int64, error) {
	if p.alone() {
		tag, err := p.conn.Exec(ctx, query, args...)
		return tag.RowsAffected(), err
	}
	answers, err := p.send(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	tag, err := answers.Exec()
	return tag.RowsAffected(), ended(answers, err)
}

// query runs a statement that answers rows.
func (p *pgTx) query(ctx context.Context, query string, args []any) (cursor, error) {
	if p.alone() {
		rs, err := p.conn.Query(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		return pgRows{rs, nil}, nil
	}
	answers, err := p.send(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	rs, err := answers.Query()
	if err != nil {
		return nil, ended(answers, err)
	}
	return pgRows{rs, answers}, nil
}

// alone says that nothing has to go before the next statement.
func (p *pgTx) alone() bool { return p.begun && len(p.deferred) == 0 }

// mayFail says whether the answer to what waits may forbid the commit.
func (p *pgTx) mayFail() bool {
	for i := range p.deferred {
		if p.deferred[i].mayFail() {
			return true
		}
	}
	return false
}

// flush runs what waits.
func (p *pgTx) flush(ctx context.Context) error {
	answers, err := p.send(ctx, "")
	if err != nil {
		return err
	}
	return ended(answers, nil)
}

// send makes one round trip of BEGIN, unless that has been, of all that waits, and
// of a last query, unless that is empty. Its answer alone is still to be read, and
// the batch to be closed.
func (p *pgTx) send(ctx context.Context, last string, args ...any) (pgx.BatchResults, error) {
	waiting, begins := p.deferred, !p.begun
	p.deferred, p.begun = nil, true
	var batch pgx.Batch
	if begins {
		batch.Queue(p.begin)
	}
	for _, s := range waiting {
		batch.Queue(s.query, s.args...)
	}
	if last != "" {
		batch.Queue(last, args...)
	}
	answers := p.conn.SendBatch(ctx, &batch)
	if begins {
		if _, err := answers.Exec(); err != nil {
			return nil, ended(answers, err)
		}
	}
	for i := range waiting {
		said, err := waiting[i].take(answers)
		if err = cmp.Or(err, said); err != nil {
			return nil, ended(answers, err)
		}
	}
	return answers, nil
}

// take reads the result of s. said is what it forbids the commit for; err is a failure of the
// whole batch.
func (s *deferred) take(results pgx.BatchResults) (said, err error) {
	if s.scan == nil {
		tag, err := results.Exec()
		if err == nil && s.one && tag.RowsAffected() != 1 {
			said = ErrStale
		}
		return said, err
	}
	rs, err := results.Query()
	if err != nil {
		return nil, err
	}
	defer rs.Close()
	if rs.Next() {
		said = s.scan(ownRow{rs})
	} else if rs.Err() == nil {
		said = s.scan(noRow{})
	}
	if rs.Close(); said == nil {
		err = rs.Err()
	}
	return said, err
}

// ended closes a batch and returns the first error.
func ended(answers pgx.BatchResults, err error) error {
	if closed := answers.Close(); err == nil {
		err = closed
	}
	return err
}

// commit ends the transaction. Unless nothing was sent, or the server itself refused
// a statement that came before COMMIT, a failure is a commitError.
func (p *pgTx) commit(ctx context.Context) error {
	if !p.begun && len(p.deferred) == 0 {
		return nil
	}
	answers, err := p.send(ctx, "COMMIT")
	if err != nil {
		if _, refused := errors.AsType[*pgconn.PgError](err); refused && !isLost(err) || pgconn.SafeToRetry(err) {
			return err
		}
		return &commitError{err}
	}
	tag, err := answers.Exec()
	if err = ended(answers, err); err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	if err != nil {
		return &commitError{err}
	}
	return nil
}

// rollback undoes what was not committed; after a commit it does nothing.
func (p *pgTx) rollback(ctx context.Context) {
	if p.conn.IsClosed() || p.conn.PgConn().TxStatus() == 'I' {
		return
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	if _, err := p.conn.Exec(limited, `ROLLBACK`); err != nil {
		_ = p.conn.Close(limited)
	}
}

// pgRows are the rows of a statement, and the batch that it came in.
type pgRows struct {
	pgx.Rows
	batch pgx.BatchResults // nil where it came alone
}

// Close reads to the end and frees the connection.
func (r pgRows) Close() error {
	r.Rows.Close()
	if r.batch == nil {
		return r.Rows.Err()
	}
	return ended(r.batch, r.Rows.Err())
}

// ownRow is the row of a statement among others. What it cannot read it tells who
// reads; pgx's own Scan would fail those that follow in the batch as well.
type ownRow struct{ pgx.Rows }

// Scan reads the columns.
func (r ownRow) Scan(dest ...any) error {
	return pgx.ScanRow(r.Conn().TypeMap(), r.FieldDescriptions(), r.RawValues(), dest...)
}

// noRow is the answer of a statement that met no row.
type noRow struct{}

// Scan says so.
func (noRow) Scan(...any) error { return sql.ErrNoRows }
