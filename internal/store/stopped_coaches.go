package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
)

// stoppedCoaches returns the ids of the coaches whose messages a number stopped, sorted.
func stoppedCoaches(ctx context.Context, q database.Querier, n phone.Number) ([]string, error) {
	rs, err := q.Query(ctx, `SELECT coach_id FROM stopped_coaches WHERE mobile_number = $1 ORDER BY coach_id`, string(n))
	return database.CollectTexts(rs, err)
}

// StopCoach makes the messages of a coach to a number stay in the app. It may be repeated.
func (db *DB) StopCoach(ctx context.Context, n phone.Number, coachID string) error {
	err := db.Write(ctx, func(tx *Tx) error { return tx.stopCoach(ctx, n, coachID, tx.Now, false) })
	if err != nil {
		return fmt.Errorf("stop a coach: %w", err)
	}
	return nil
}

// StopCoachByReply is StopCoach for a person who replied to a message. It returns false if the
// reply was handled before.
func (db *DB) StopCoachByReply(ctx context.Context, r message.Reply, coachID string) (stopped bool, err error) {
	err = db.Write(ctx, func(tx *Tx) error {
		if stopped, err = tx.isNewReply(ctx, r); err != nil || !stopped {
			return err
		}
		at := tx.Now
		if !r.SentAt.IsZero() && r.SentAt.Before(at) {
			at = r.SentAt
		}
		return tx.stopCoach(ctx, r.From, coachID, at, true)
	})
	if err != nil {
		return false, fmt.Errorf("stop a coach by a reply: %w", err)
	}
	return stopped, nil
}

// AllowCoach ends StopCoach. It may be repeated.
func (db *DB) AllowCoach(ctx context.Context, n phone.Number, coachID string) error {
	err := db.Write(ctx, func(tx *Tx) error { return tx.allowCoach(ctx, n, coachID) })
	if err != nil {
		return fmt.Errorf("allow a coach: %w", err)
	}
	return nil
}

// AllowCoachesByReply ends each StopCoachByReply of a number, and StopCoach for one coach, unless
// the stop is later than the reply. It returns how many coaches may send messages again, and may
// be repeated.
func (db *DB) AllowCoachesByReply(ctx context.Context, r message.Reply, coachID string) (coaches int, err error) {
	err = db.Write(ctx, func(tx *Tx) error {
		coaches = 0
		isNew, err := tx.isNewReply(ctx, r)
		if err != nil || !isNew {
			return err
		}
		until := tx.Now
		if !r.SentAt.IsZero() {
			until = r.SentAt.Add(time.Second) // SentAt has no fractions of a second
		}
		changed, err := tx.Exec(ctx, `
			DELETE FROM stopped_coaches WHERE mobile_number = $1 AND (by_reply OR coach_id = $2) AND stopped_at <= $3`,
			string(r.From), coachID, database.Micros(until))
		coaches = int(changed)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("allow coaches by a reply: %w", err)
	}
	return coaches, nil
}

// isNewReply reports whether no call with r was handled before, and stores it. A repeated call
// equals the first one: if a gateway sends the same id with different replies, none is lost. A
// hash is stored because it contains the number.
func (tx *Tx) isNewReply(ctx context.Context, r message.Reply) (bool, error) {
	if r.ID == "" {
		return true, nil
	}
	hash := sha256.Sum256(fmt.Appendf(nil, "%s %s %t %d %s", r.Channel, r.From, r.Stops(), r.SentAt.Unix(), r.ID))
	n, err := tx.Exec(ctx, `
		INSERT INTO handled_replies (hash, handled_at) VALUES ($1, $2)
		ON CONFLICT (hash) DO NOTHING`, hash[:], database.Micros(tx.Now))
	return n == 1, err
}

// mergeStops keeps the time of the newest stop, and whether each one was a reply: START does not end
// a stop on a page together with those of replies.
const mergeStops = `ON CONFLICT (mobile_number, coach_id) DO UPDATE SET
	stopped_at = CASE WHEN stopped_coaches.stopped_at < excluded.stopped_at THEN excluded.stopped_at ELSE stopped_coaches.stopped_at END,
	by_reply = stopped_coaches.by_reply AND excluded.by_reply`

func (tx *Tx) stopCoach(ctx context.Context, n phone.Number, coachID string, at time.Time, byReply bool) error {
	return tx.Defer(ctx, `
		INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at, by_reply) VALUES ($1, $2, $3, $4)
		`+mergeStops, string(n), coachID, database.Micros(at), byReply)
}

func (tx *Tx) allowCoach(ctx context.Context, n phone.Number, coachID string) error {
	return tx.Defer(ctx, `DELETE FROM stopped_coaches WHERE mobile_number = $1 AND coach_id = $2`, string(n), coachID)
}

// replaceStopped stops and allows coaches so that the list before becomes after.
func (tx *Tx) replaceStopped(ctx context.Context, n phone.Number, before, after []string) error {
	for _, id := range after {
		if !slices.Contains(before, id) {
			if err := tx.stopCoach(ctx, n, id, tx.Now, false); err != nil {
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
