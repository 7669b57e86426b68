package idempotency

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
)

// SQL stores keys and responses in the database.
type SQL struct{ DB *database.DB }

// ClaimKey claims the key and returns nil, or returns its stored state. A key can be
// claimed if it is new, if its response has expired, or if the lease of the same request
// has ended before its work was committed.
func (k SQL) ClaimKey(ctx context.Context, c Claim) (*StoredResponse, error) {
	var stored *StoredResponse
	err := k.DB.Write(ctx, func(tx *database.Tx) error {
		stored = nil
		n, err := tx.Exec(ctx, `
			INSERT INTO kept_answers (owner, key, fingerprint, status, lease, lease_ends_at, ends_at)
			VALUES ($1, $2, $3, 0, $4, $5, $6)
			ON CONFLICT (owner, key) DO UPDATE SET
				fingerprint = excluded.fingerprint, status = 0, answer = NULL, work = NULL, lease = excluded.lease,
				lease_ends_at = excluded.lease_ends_at, ends_at = excluded.ends_at
			WHERE kept_answers.ends_at <= $7
				OR kept_answers.status = 0 AND kept_answers.lease_ends_at <= $7 AND kept_answers.fingerprint = excluded.fingerprint`,
			c.Owner, c.Key, c.Fingerprint, c.LeaseID, database.Micros(c.LeaseEndsAt), database.Micros(c.EndsAt), database.Micros(c.Now))
		if err != nil {
			return fmt.Errorf("claim idempotency key: %w", err)
		}
		if n == 1 {
			return nil
		}
		var found StoredResponse
		err = tx.QueryRow(ctx, `SELECT fingerprint, answer, work FROM kept_answers WHERE owner = $1 AND key = $2`, c.Owner, c.Key).
			Scan(&found.Fingerprint, &found.Sealed, database.IntoJSON(&found.Work))
		if database.IsNoRows(err) {
			return database.ErrStale // it was released concurrently
		}
		stored = &found
		return err
	})
	return stored, err
}

// RenewKey moves the end of the lease, if h holds the key and its work is not committed.
func (k SQL) RenewKey(ctx context.Context, h Holder, leaseEndsAt time.Time) error {
	_, err := k.DB.Exec(ctx, `
		UPDATE kept_answers SET lease_ends_at = $4
		WHERE owner = $1 AND key = $2 AND lease = $3 AND status = 0`, h.Owner, h.Key, h.LeaseID, database.Micros(leaseEndsAt))
	return err
}

// Complete marks the key under which ctx works as committed with w. If another request
// has taken the key over, the transaction fails. Without a key it does nothing.
func Complete(ctx context.Context, tx *database.Tx, w Work) error {
	h, ok := HolderOf(ctx)
	if !ok {
		return nil
	}
	work, err := json.Marshal(w)
	if err != nil {
		return err
	}
	var one int
	return tx.DeferRow(ctx, func(row database.Scanner) error {
		err := row.Scan(&one)
		if database.IsNoRows(err) {
			return errInProgress() // another request has taken over
		}
		return err
	}, `
		UPDATE kept_answers SET status = 1, work = $4
		WHERE owner = $1 AND key = $2 AND lease = $3 AND status = 0
		RETURNING 1`, h.Owner, h.Key, h.LeaseID, string(work))
}

// SaveResponse stores the response if h still holds the key.
func (k SQL) SaveResponse(ctx context.Context, h Holder, status int, sealed []byte) error {
	_, err := k.DB.Exec(ctx, `
		UPDATE kept_answers SET status = $4, answer = $5
		WHERE owner = $1 AND key = $2 AND lease = $3 AND status IN (0, 1)`, h.Owner, h.Key, h.LeaseID, status, sealed)
	return err
}

// ReleaseKey deletes the key if h still holds it and its work is not committed. It
// returns committed work, else nil. On PostgreSQL the DELETE waits for a transaction
// whose COMMIT was lost on the way, because that has locked the row.
func (k SQL) ReleaseKey(ctx context.Context, h Holder) (*Work, error) {
	n, err := k.DB.Exec(ctx, `DELETE FROM kept_answers WHERE owner = $1 AND key = $2 AND lease = $3 AND status = 0`, h.Owner, h.Key, h.LeaseID)
	if err != nil || n == 1 {
		return nil, err
	}
	var work *Work
	err = k.DB.QueryRow(ctx, `SELECT work FROM kept_answers WHERE owner = $1 AND key = $2 AND lease = $3`, h.Owner, h.Key, h.LeaseID).
		Scan(database.IntoJSON(&work))
	if database.IsNoRows(err) {
		return nil, nil
	}
	return work, err
}
