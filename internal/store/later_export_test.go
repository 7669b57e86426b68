package store

import "context"

// Later is tx.later, of a statement that must meet one row or answers one.
func (t *tx) Later(ctx context.Context, one bool, read func(Scanner) error, q string, args ...any) error {
	return t.later(ctx, statement{query: q, args: args, one: one, read: read})
}
