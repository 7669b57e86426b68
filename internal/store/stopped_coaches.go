package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/phone"
)

// stoppedCoaches returns the ids of the coaches whose messages a number stopped, sorted.
func stoppedCoaches(ctx context.Context, q database.Querier, n phone.Number) ([]string, error) {
	rs, err := q.Query(ctx, `SELECT coach_id FROM stopped_coaches WHERE mobile_number = $1 ORDER BY coach_id`, string(n))
	return collectTexts(rs, err)
}

// StopCoach makes the messages of a coach to a number stay in the app. It may be repeated.
func (db *DB) StopCoach(ctx context.Context, n phone.Number, coachID string) error {
	return db.stopCoach(ctx, n, coachID, false)
}

// StopCoachByReply is StopCoach for a person who replied to a message.
func (db *DB) StopCoachByReply(ctx context.Context, n phone.Number, coachID string) error {
	return db.stopCoach(ctx, n, coachID, true)
}

func (db *DB) stopCoach(ctx context.Context, n phone.Number, coachID string, byReply bool) error {
	err := db.write(ctx, func(tx *tx) error { return tx.stopCoach(ctx, n, coachID, byReply) })
	if err != nil {
		return fmt.Errorf("stop a coach: %w", err)
	}
	return nil
}

// AllowCoach ends StopCoach. It may be repeated.
func (db *DB) AllowCoach(ctx context.Context, n phone.Number, coachID string) error {
	err := db.write(ctx, func(tx *tx) error { return tx.allowCoach(ctx, n, coachID) })
	if err != nil {
		return fmt.Errorf("allow a coach: %w", err)
	}
	return nil
}

// AllowCoachesByReply ends each StopCoachByReply of a number, and StopCoach for one coach. It
// returns how many coaches may send messages again, and may be repeated.
func (db *DB) AllowCoachesByReply(ctx context.Context, n phone.Number, coachID string) (coaches int, err error) {
	err = db.write(ctx, func(tx *tx) error {
		changed, err := tx.Exec(ctx, `DELETE FROM stopped_coaches WHERE mobile_number = $1 AND (by_reply OR coach_id = $2)`, string(n), coachID)
		coaches = int(changed)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("allow coaches by a reply: %w", err)
	}
	return coaches, nil
}

// stopCoach keeps the first stop. If a page stopped the coach, a reply does not change that.
func (tx *tx) stopCoach(ctx context.Context, n phone.Number, coachID string, byReply bool) error {
	return tx.Defer(ctx, `
		INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at, by_reply) VALUES ($1, $2, $3, $4)
		ON CONFLICT (mobile_number, coach_id) DO NOTHING`, string(n), coachID, micros(tx.Now), byReply)
}

func (tx *tx) allowCoach(ctx context.Context, n phone.Number, coachID string) error {
	return tx.Defer(ctx, `DELETE FROM stopped_coaches WHERE mobile_number = $1 AND coach_id = $2`, string(n), coachID)
}

// replaceStopped stops and allows coaches so that the list before becomes after.
func (tx *tx) replaceStopped(ctx context.Context, n phone.Number, before, after []string) error {
	for _, id := range after {
		if !slices.Contains(before, id) {
			if err := tx.stopCoach(ctx, n, id, false); err != nil {
				return err
			}
		}
	}
	for _, id := range before {
		if !slices.Contains(after, id) {
			if err := tx.allowCoach(ctx, n, id); err != nil {
				return err
			}
		}
	}
	return nil
}
