package document

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// reservationTTL is how long reserved blobs are kept for an upload: much longer than any request.
const reservationTTL = time.Hour

// reserveBlobs records the blobs of renditions before their bytes are written. The clean-up deletes them
// after reservationTTL if no document uses them, even if this process ends.
func (s *Service) reserveBlobs(ctx context.Context, coachID string, keys []string, renditions []Rendition) error {
	var values []any
	for i, key := range keys {
		values = append(values, key, coachID, renditions[i].Size(), database.Micros(s.Now()), database.Micros(s.Now().Add(reservationTTL)))
	}
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		return tx.InsertRows(ctx, `INSERT INTO blobs (key, coach_id, size, created_at, ends_at)`, "", 5, values)
	})
	return fault.Wrap(err, "reserve blobs")
}

// errReservationExpired means that an upload took longer than its reservation: the clean-up may have
// deleted its bytes.
var errReservationExpired = errors.New("document: the reservation of the upload has expired")

// keepBlobs makes reserved blobs permanent.
func keepBlobs(ctx context.Context, tx *store.Tx, coachID string, keys []string) error {
	args := append([]any{coachID, database.Micros(tx.Now)}, database.TextArgs(keys)...)
	n, err := tx.Exec(ctx, `UPDATE blobs SET ends_at = NULL WHERE coach_id = $1 AND ends_at > $2 AND key IN (`+database.Params(3, len(keys))+`)`, args...)
	if err != nil || n == int64(len(keys)) {
		return err
	}
	return fault.Down(errReservationExpired)
}

// expireBlobs lets the clean-up delete the blobs of a deleted document.
func expireBlobs(ctx context.Context, tx *store.Tx, keys []string) error {
	args := append([]any{database.Micros(tx.Now)}, database.TextArgs(keys)...)
	return tx.Defer(ctx, `UPDATE blobs SET ends_at = $1 WHERE key IN (`+database.Params(2, len(keys))+`)`, args...)
}

// releaseBlobs lets the clean-up delete the blobs of a refused upload. It skips blobs that a document
// uses.
func (s *Service) releaseBlobs(ctx context.Context, keys []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		args := append([]any{database.Micros(tx.Now)}, database.TextArgs(keys)...)
		return tx.Defer(ctx, `UPDATE blobs SET ends_at = $1 WHERE ends_at IS NOT NULL AND key IN (`+database.Params(2, len(keys))+`)`, args...)
	})
	if err != nil {
		s.Log.Warn("release blobs of a refused upload", "error", err)
	}
}

// expiredBlob is a blob that may be deleted since endsAt.
type expiredBlob struct {
	key    string
	endsAt time.Time
}

// expiredBlobs returns up to n expired blobs after the given one, longest expired first.
func (s *Service) expiredBlobs(ctx context.Context, after expiredBlob, n int) ([]expiredBlob, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT key, ends_at FROM blobs
		WHERE ends_at <= $1 AND (ends_at, key) > ($2, $3)
		ORDER BY ends_at, key LIMIT $4`, database.Micros(s.Now()), database.SinceMicros(after.endsAt), after.key, n)
	return database.Collect(rs, err, func(r database.Scanner) (b expiredBlob, err error) {
		return b, r.Scan(&b.key, database.IntoTime(&b.endsAt))
	})
}

// deleteBlob deletes the bytes of an expired blob, then its record, so that no bytes are left without a
// record.
func (s *Service) deleteBlob(ctx context.Context, key string) error {
	if err := s.Files.Delete(ctx, key); err != nil {
		return err
	}
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		return tx.Defer(ctx, `DELETE FROM blobs WHERE key = $1 AND ends_at <= $2`, key, database.Micros(tx.Now))
	})
}

// cleanupBatch is how many blobs one query returns. A run stops after cleanupMaxFailures failed
// deletions. The next one begins after them.
const (
	cleanupBatch       = 100
	cleanupMaxFailures = 10
)

// DeleteExpiredBlobs deletes blobs without a document and blobs of unfinished uploads. Several replicas
// may run it at once. It returns the number of deleted blobs.
func (s *Service) DeleteExpiredBlobs(ctx context.Context) (int64, error) {
	var deleted int64
	var failed []error
	var last expiredBlob
	if stopped := s.cleanupStopped.Swap(nil); stopped != nil {
		last = *stopped
	}
	for {
		expired, err := s.expiredBlobs(ctx, last, cleanupBatch)
		if err != nil {
			return deleted, errors.Join(append(failed, err)...)
		}
		for _, b := range expired {
			last = b
			if err := s.deleteBlob(ctx, b.key); err != nil {
				// Continue with the others.
				if failed = append(failed, fmt.Errorf("delete blob %s: %w", b.key, err)); len(failed) == cleanupMaxFailures {
					s.cleanupStopped.Store(&b)
					return deleted, errors.Join(failed...)
				}
				continue
			}
			deleted++
		}
		if len(expired) < cleanupBatch || ctx.Err() != nil {
			return deleted, errors.Join(failed...)
		}
	}
}
