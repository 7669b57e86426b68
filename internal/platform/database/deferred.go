package database

import "context"

// deferred is a statement of a transaction that runs together with the next one.
type deferred struct {
	query string
	args  []any
	rows  int64               // ErrStale unless it affects exactly so many rows; 0 is any number
	scan  func(Scanner) error // scans its row, sql.ErrNoRows without one; nil: it returns none
	each  bool                // scan gets each of its rows instead
	span  func(error)         // ends its span; may be nil
}

// mayFail reports whether the result of s may forbid the commit.
func (s *deferred) mayFail() bool { return s.rows > 0 || s.scan != nil }

// Defer runs a statement before the next statement of the transaction, or before its
// commit. On PostgreSQL it shares their round trip. On SQLite it runs at once. Its failure
// is returned by the statement that sends it, and ends the transaction.
func (t *Tx) Defer(ctx context.Context, query string, args ...any) error {
	return t.deferStatement(ctx, deferred{query: query, args: args})
}

// DeferEach is Defer for several statements with the same arguments.
func (t *Tx) DeferEach(ctx context.Context, queries []string, args ...any) error {
	for _, query := range queries {
		if err := t.Defer(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// DeferOne is Defer for a statement that must affect exactly one row; otherwise the
// transaction fails with ErrStale and is retried.
func (t *Tx) DeferOne(ctx context.Context, query string, args ...any) error {
	return t.DeferRowCount(ctx, 1, query, args...)
}

// DeferRowCount is DeferOne for a statement that must affect exactly n rows.
func (t *Tx) DeferRowCount(ctx context.Context, n int, query string, args ...any) error {
	return t.deferStatement(ctx, deferred{query: query, args: args, rows: int64(n)})
}

// DeferRow is Defer for a statement that returns at most one row, which scan reads;
// its Scan returns sql.ErrNoRows without a row. An error of scan ends the transaction.
func (t *Tx) DeferRow(ctx context.Context, scan func(Scanner) error, query string, args ...any) error {
	return t.deferStatement(ctx, deferred{query: query, args: args, scan: scan})
}

// DeferRows is Defer for a statement that returns rows, of which scan reads each. An error
// of scan ends the transaction.
func (t *Tx) DeferRows(ctx context.Context, scan func(Scanner) error, query string, args ...any) error {
	return t.deferStatement(ctx, deferred{query: query, args: args, scan: scan, each: true})
}

func (t *Tx) deferStatement(ctx context.Context, s deferred) error {
	if t.pg != nil {
		if err := t.ready(); err != nil {
			return err
		}
		observe(s.query, s.args)
		s.span = t.db.span(t.ctx, s.query)
		t.pg.deferred = append(t.pg.deferred, s)
		return nil
	}
	switch {
	case s.each:
		rs, err := t.Query(ctx, s.query, s.args...)
		_, err = Collect(rs, err, func(row Scanner) (struct{}, error) { return struct{}{}, s.scan(row) })
		return err
	case s.scan != nil:
		return s.scan(t.QueryRow(ctx, s.query, s.args...))
	}
	n, err := t.Exec(ctx, s.query, s.args...)
	if err == nil && s.rows > 0 && n != s.rows {
		return ErrStale
	}
	return err
}

// Flush sends the deferred statements and waits for their results.
func (t *Tx) Flush() error {
	if t.pg == nil || len(t.pg.deferred) == 0 {
		return nil
	}
	if err := t.ready(); err != nil {
		return err
	}
	return t.fail(t.pg.flush(t.ctx))
}
