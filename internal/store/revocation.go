package store

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// RevokeSession ends a session for an operator and returns its account, or "" if there
// is no live session with the ID.
func (db *DB) RevokeSession(ctx context.Context, by actor.Operator, id string) (string, error) {
	var accountID string
	err := db.Write(ctx, func(tx *Tx) error {
		accountID = ""
		err := tx.QueryRow(ctx, `
			UPDATE sessions SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING account_id`, id, database.Micros(tx.Now)).Scan(&accountID)
		if database.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := tx.endPush(ctx, id); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.SessionRevoked, "session", id, "")
	})
	return accountID, err
}
