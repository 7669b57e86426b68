package store

import "context"

// statement is one that a transaction may run a little later than it is told to,
// because nothing before the next depends on its answer.
type statement struct {
	query string
	args  []any
	one   bool                // errStale unless it meets exactly one row
	read  func(scanner) error // of its row, which must be there; nil asks for none
}

// guarded says whether the answer to s may forbid the commit.
func (s *statement) guarded() bool { return s.one || s.read != nil }

// later runs s before whatever the transaction does next, and before its end. On
// PostgreSQL it shares the round trip of that; on SQLite there is none to save.
// Where s does not meet the rows that it wants the transaction can only end.
func (t *tx) later(ctx context.Context, s statement) error {
	if t.pg != nil {
		if err := t.ready(); err != nil {
			return err
		}
		observe(s.query, s.args)
		t.pg.waiting = append(t.pg.waiting, s)
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

// put is later for a statement that may meet any number of rows.
func (t *tx) put(ctx context.Context, query string, args ...any) error {
	return t.later(ctx, statement{query: query, args: args})
}

// putOne is later for a guarded statement: errStale unless it meets exactly one row.
func (t *tx) putOne(ctx context.Context, query string, args ...any) error {
	return t.later(ctx, statement{query: query, args: args, one: true})
}

// answered returns once whatever was put off has run.
func (t *tx) answered() error {
	if t.pg == nil || len(t.pg.waiting) == 0 {
		return nil
	}
	if err := t.ready(); err != nil {
		return err
	}
	return t.note(t.pg.flush(t.ctx))
}
