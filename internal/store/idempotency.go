package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/idempotency"
)

// ClaimKey claims the key and returns nil, or returns the stored response. A key can be
// claimed if it is new, if its response has expired, or if the same request began before
// AbandonedBefore and never finished.
func (db *DB) ClaimKey(ctx context.Context, c idempotency.Claim) (*idempotency.StoredResponse, error) {
	var stored *idempotency.StoredResponse
	err := db.write(ctx, func(tx *tx) error {
		stored = nil
		res, err := tx.Exec(ctx, `
			INSERT INTO kept_answers (owner, key, fingerprint, status, lease, started_at, ends_at)
			VALUES ($1, $2, $3, 0, $4, $5, $6)
			ON CONFLICT (owner, key) DO UPDATE SET
				fingerprint = excluded.fingerprint, status = 0, answer = NULL, lease = excluded.lease,
				started_at = excluded.started_at, ends_at = excluded.ends_at
			WHERE kept_answers.ends_at <= $5
				OR kept_answers.status = 0 AND kept_answers.started_at < $7 AND kept_answers.fingerprint = excluded.fingerprint`,
			c.Owner, c.Key, c.Fingerprint, c.LeaseID, micros(c.StartedAt), micros(c.EndsAt), micros(c.AbandonedBefore))
		if err != nil {
			return fmt.Errorf("claim idempotency key: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 1 {
			return err
		}
		var found idempotency.StoredResponse
		err = tx.QueryRow(ctx, `SELECT fingerprint, answer FROM kept_answers WHERE owner = $1 AND key = $2`, c.Owner, c.Key).
			Scan(&found.Fingerprint, &found.Sealed)
		if errors.Is(err, sql.ErrNoRows) {
			return database.ErrStale // it was released concurrently
		}
		stored = &found
		return err
	})
	return stored, err
}

// SaveResponse stores the response if the lease still holds the key.
func (db *DB) SaveResponse(ctx context.Context, owner, key, lease string, status int, sealed []byte) error {
	_, err := db.sql.Exec(ctx, `
		UPDATE kept_answers SET status = $4, answer = $5
		WHERE owner = $1 AND key = $2 AND lease = $3 AND status = 0`, owner, key, lease, status, sealed)
	return err
}

// ReleaseKey deletes the key if the lease still holds it.
func (db *DB) ReleaseKey(ctx context.Context, owner, key, lease string) error {
	_, err := db.sql.Exec(ctx, `DELETE FROM kept_answers WHERE owner = $1 AND key = $2 AND lease = $3 AND status = 0`, owner, key, lease)
	return err
}
