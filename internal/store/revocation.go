package store

import (
	"context"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/operator"
)

// RevokeSession ends a session for an operator and returns its account, or "" if there
// is no live session with the ID.
func (db *DB) RevokeSession(ctx context.Context, by actor.Operator, id string) (string, error) {
	var accountID string
	err := db.write(ctx, func(tx *tx) error {
		accountID = ""
		err := tx.QueryRow(ctx, `
			UPDATE sessions SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING account_id`, id, micros(tx.Now)).Scan(&accountID)
		if isNoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := tx.endPush(ctx, id); err != nil {
			return err
		}
		return tx.audit(ctx, by, operator.SessionRevoked, "session", id, "")
	})
	return accountID, err
}
