package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

// Settings are the operator's choices that the store itself carries out.
type Settings struct {
	// LinkValidity is how long the link in a message leads anywhere.
	LinkValidity time.Duration
	// DigestAfter is how long a request waits before its coach is told of it,
	// DigestEvery how often at most while any waits.
	DigestAfter, DigestEvery time.Duration
	// What one coach may send to one number, all coaches to one number, and one
	// coach to all, in 24 h; 0 is no cap.
	MessagesPerNumberFromCoach, MessagesPerNumber, MessagesPerCoach int
	// MessagesByTier, where it is not nil, takes the place of MessagesPerCoach: each
	// coach may send what their tier allows.
	MessagesByTier *coach.Tiers
	// AllowCoachAsContact lets a coach have the number of a guardian or student of
	// their own.
	AllowCoachAsContact bool
	// GetsSMS says whether a notice may go to a number; nil is yes to all.
	GetsSMS func(n phone.Number) bool
}

const (
	// heldReason marks a delivery that waits for a cap.
	heldReason = "held"
	// sparedReason marks one to a test number: it is done, and nothing left.
	sparedReason = "test_number"
	// messageLife is how long a message is tried before it is given up.
	messageLife = 24 * time.Hour
)

// caps lists what an SMS from a coach to a number counts against (contract
// section 4), always in this order: what all messages of a transaction share
// comes first, so that two transactions cannot wait for each other. perCoach is
// what the coach may send in all, 0 without a cap; it is counted all the same.
// Without a coach, who has gone, what all send to the number is the only cap.
func (db *DB) caps(coachID string, perCoach int64, to phone.Number) []auth.Limit {
	const day = 24 * time.Hour
	var caps []auth.Limit
	if coachID != "" {
		caps = append(caps, auth.Limit{Name: "messages_per_coach", Key: messagesFrom(coachID), Max: int(perCoach), Per: day, Numbered: true})
		if limit := db.Settings.MessagesPerNumberFromCoach; limit > 0 {
			caps = append(caps, auth.Limit{Name: "messages_per_number_from_coach", Key: "message/" + coachID + "/" + string(to), Max: limit, Per: day})
		}
	}
	if limit := db.Settings.MessagesPerNumber; limit > 0 {
		caps = append(caps, auth.Limit{Name: "messages_per_number", Key: "message/to/" + string(to), Max: limit, Per: day})
	}
	return caps
}

// messagesFrom is the key under which the messages of a coach are counted.
func messagesFrom(coachID string) string { return "message/from/" + coachID }

// quota is what a coach may send in 24 h.
type quota struct {
	coachID  string
	limit    int64
	standing coach.TierStatus
}

// quota reads what a coach may send.
func (tx *tx) quota(ctx context.Context, coachID string) (quota, error) {
	q := quota{coachID: coachID, limit: int64(tx.db.Settings.MessagesPerCoach)}
	tiers := tx.db.Settings.MessagesByTier
	if tiers == nil {
		return q, nil
	}
	err := tx.QueryRow(ctx, `SELECT tier, kyc_state FROM coaches WHERE id = $1`, coachID).Scan(intoText(&q.standing.Tier), &q.standing.KYC)
	if err != nil && !isNone(err) { // who has gone has the first tier
		return q, fmt.Errorf("read the tier: %w", err)
	}
	q.limit = tiers.Of(q.standing.Tier).Limits.MessagesPerDay
	return q, nil
}

// withinQuota answers tier_limit where the coach's tier has no message left. The
// limit's row is locked by then, so the count holds.
func (tx *tx) withinQuota(ctx context.Context, q quota) error {
	if tx.db.Settings.MessagesByTier == nil {
		return nil
	}
	var use int64
	err := tx.QueryRow(ctx, `SELECT count(*) FROM limit_slots WHERE key = $1 AND free_at > $2`, messagesFrom(q.coachID), micros(tx.Now)).Scan(&use)
	if err != nil {
		return fmt.Errorf("count messages: %w", err)
	}
	return tx.db.Settings.MessagesByTier.CheckMessages(q.standing, use)
}

// wakeOutbox tells this process's worker, after the commit, that one of a kind waits.
func (tx *tx) wakeOutbox(kind notify.Kind) {
	if wake := tx.db.OnQueued; wake != nil {
		tx.AfterCommit(func() { wake(kind) })
	}
}

// wakeTrays tells this process's streams, after the commit, whose trays grew.
func (tx *tx) wakeTrays(accountIDs []string) {
	if wake := tx.db.OnNotified; wake != nil && len(accountIDs) > 0 {
		tx.AfterCommit(func() { wake(accountIDs) })
	}
}
