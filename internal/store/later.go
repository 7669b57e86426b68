package store

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// statement is one that a transaction may run a little later than it is told to,
// because nothing before the commit depends on its answer.
type statement struct {
	query string
	args  []any
	one   bool                // errStale unless it meets exactly one row
	read  func(scanner) error // of its row, which must be there; nil asks for none
}

// later runs s before whatever the transaction does next, and before its end. On
// PostgreSQL those that come one after the other share a round trip; on SQLite
// there is none to save.
func (t *tx) later(ctx context.Context, s statement) error {
	if _, travels := t.on.(*pgTx); travels && t.failed == nil {
		t.waiting = append(t.waiting, s)
		return nil
	}
	switch {
	case s.read != nil:
		return s.read(t.queryRow(ctx, s.query, s.args...))
	case s.one:
		return t.execOne(ctx, s.query, s.args...)
	}
	_, err := t.exec(ctx, s.query, s.args...)
	return err
}

// flush runs what waits.
func (t *tx) flush() error {
	all := t.waiting
	t.waiting = nil
	if len(all) == 0 {
		return nil
	}
	for _, s := range all {
		observe(s.query, s.args)
	}
	stale, err := t.on.(*pgTx).together(t.ctx, all)
	if err := t.note(err); err != nil {
		return err
	}
	return stale
}

// pgTx is a transaction on PostgreSQL, whose connection is at hand.
type pgTx struct {
	*sql.Tx
	conn *sql.Conn
}

// together runs all in one round trip. guard is what is said of them by the rows
// that they met; err is a failure, after which the transaction is dead.
func (p *pgTx) together(ctx context.Context, all []statement) (guard, err error) {
	err = p.conn.Raw(func(raw any) (err error) {
		var batch pgx.Batch
		for _, s := range all {
			batch.Queue(s.query, s.args...)
		}
		answers := raw.(*stdlib.Conn).Conn().SendBatch(ctx, &batch)
		defer func() {
			if closed := answers.Close(); err == nil {
				err = closed
			}
		}()
		for _, s := range all {
			said, err := s.take(answers)
			if err != nil {
				return err
			}
			if guard == nil {
				guard = said
			}
		}
		return nil
	})
	return guard, err
}

// take reads the answer to s.
func (s *statement) take(answers pgx.BatchResults) (guard, err error) {
	if s.read == nil {
		tag, err := answers.Exec()
		if err == nil && s.one && tag.RowsAffected() != 1 {
			guard = errStale
		}
		return guard, err
	}
	rs, err := answers.Query()
	if err != nil {
		return nil, err
	}
	defer rs.Close()
	if rs.Next() {
		err = s.read(rs)
	} else {
		guard = s.read(noRow{})
	}
	rs.Close()
	if failed := rs.Err(); failed != nil {
		return nil, failed
	}
	return guard, err
}

// noRow is the answer of a statement that met no row.
type noRow struct{}

// Scan says so.
func (noRow) Scan(...any) error { return sql.ErrNoRows }
