package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// removed is a record in removed_records. Nothing but a restore reads it, so families do not see it.
type removed[T any] struct {
	Record  T
	Version int64
}

// removeRecord deletes a record with a query and keeps it for restoreRecord. The lock of the player
// keeps a concurrent removal of the player from leaving it behind.
func removeRecord[T any](ctx context.Context, db *DB, kind, coachID, playerID, id, deletion string, read func(*Tx) (T, int64, error)) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.LockPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		r, version, err := read(tx)
		if err != nil {
			return err
		}
		content, err := json.Marshal(removed[T]{r, version})
		if err != nil {
			return err
		}
		if err := tx.DeferOne(ctx, deletion, id, version); err != nil {
			return fmt.Errorf("delete %s %s: %w", kind, id, err)
		}
		return tx.Defer(ctx, `
			INSERT INTO removed_records (id, coach_id, player_id, kind, content, removed_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (id) DO UPDATE SET content = excluded.content, removed_at = excluded.removed_at`,
			id, coachID, playerID, kind, string(content), database.Micros(tx.Now))
	})
}

// restoreRecord adds a record again that was deleted within team.RestoreWithin, or returns not_found.
func restoreRecord[T any](ctx context.Context, db *DB, kind, coachID, playerID, id string, insert func(*Tx, removed[T]) error) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.LockPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		var content string
		err := tx.QueryRow(ctx, `
			DELETE FROM removed_records WHERE id = $1 AND coach_id = $2 AND player_id = $3 AND kind = $4 AND removed_at >= $5 RETURNING content`,
			id, coachID, playerID, kind, database.Micros(tx.Now.Add(-team.RestoreWithin))).Scan(&content)
		if database.IsNoRows(err) {
			return fault.Missing()
		}
		if err != nil {
			return fmt.Errorf("restore %s %s: %w", kind, id, err)
		}
		var r removed[T]
		if err := json.Unmarshal([]byte(content), &r); err != nil {
			return fmt.Errorf("restore %s %s: %w", kind, id, err)
		}
		return insert(tx, r)
	})
}
