package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// ReserveBlobs records blobs that are about to be written, until ends. The clean-up
// deletes them later if no document uses them, even if this process ends.
func (db *DB) ReserveBlobs(ctx context.Context, coachID string, blobs []coach.Blob, ends time.Time) error {
	now := db.Now()
	var args []any
	for _, b := range blobs {
		args = append(args, b.Key, coachID, b.Size, database.Micros(now), database.Micros(ends))
	}
	_, err := db.sql.Exec(ctx, `INSERT INTO blobs (key, coach_id, size, created_at, ends_at) VALUES `+database.RowsOf(len(blobs), 5), args...)
	if err != nil {
		return fmt.Errorf("reserve blobs: %w", err)
	}
	return nil
}

// errReservationExpired means that an upload took longer than its reservation: the
// clean-up may have deleted its bytes.
var errReservationExpired = errors.New("store: the reservation of the upload has expired")

// keepBlobs makes reserved blobs permanent.
func (tx *Tx) keepBlobs(ctx context.Context, coachID string, keys []string) error {
	args := append([]any{coachID, database.Micros(tx.Now)}, database.TextArgs(keys)...)
	n, err := tx.Exec(ctx, `UPDATE blobs SET ends_at = NULL WHERE coach_id = $1 AND ends_at > $2 AND key IN (`+database.Params(3, len(keys))+`)`, args...)
	if err != nil || n == int64(len(keys)) {
		return err
	}
	return fault.Down(errReservationExpired)
}

// expireBlobs lets the clean-up delete the blobs of a deleted document.
func (tx *Tx) expireBlobs(ctx context.Context, keys []string) error {
	args := append([]any{database.Micros(tx.Now)}, database.TextArgs(keys)...)
	err := tx.Defer(ctx, `UPDATE blobs SET ends_at = $1 WHERE key IN (`+database.Params(2, len(keys))+`)`, args...)
	return err
}

// ReleaseBlobs lets the clean-up delete reserved blobs. It skips blobs that a document uses.
func (db *DB) ReleaseBlobs(ctx context.Context, keys []string) error {
	args := append([]any{database.Micros(db.Now())}, database.TextArgs(keys)...)
	_, err := db.sql.Exec(ctx, `UPDATE blobs SET ends_at = $1 WHERE ends_at IS NOT NULL AND key IN (`+database.Params(2, len(keys))+`)`, args...)
	return err
}

// ExpiredBlobs returns up to n expired blobs after the given one, longest expired first.
func (db *DB) ExpiredBlobs(ctx context.Context, after coach.ExpiredBlob, n int) ([]coach.ExpiredBlob, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT key, ends_at FROM blobs
		WHERE ends_at <= $1 AND (ends_at, key) > ($2, $3)
		ORDER BY ends_at, key LIMIT $4`, database.Micros(db.Now()), database.SinceMicros(after.EndsAt), after.Key, n)
	return database.Collect(rs, err, func(s database.Scanner) (b coach.ExpiredBlob, err error) {
		return b, s.Scan(&b.Key, database.IntoTime(&b.EndsAt))
	})
}

// DeleteBlob deletes the record of a blob that the file store no longer holds.
func (db *DB) DeleteBlob(ctx context.Context, key string) error {
	_, err := db.sql.Exec(ctx, `DELETE FROM blobs WHERE key = $1 AND ends_at <= $2`, key, database.Micros(db.Now()))
	return err
}
