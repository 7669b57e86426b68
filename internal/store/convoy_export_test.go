package store

import "context"

// ExecRow is execRow.
func (db *DB) ExecRow(ctx context.Context, read func(Scanner) error, q string, args ...any) error {
	return db.execRow(ctx, read, q, args...)
}
