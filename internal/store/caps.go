package store

import (
	"time"

	"github.com/touchline/touchline/internal/auth"
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
}

const (
	// heldReason marks a delivery that waits for a cap.
	heldReason = "held"
	// messageLife is how long a message is tried before it is given up.
	messageLife = 24 * time.Hour
)

// caps lists what an SMS from a coach to a number counts against (contract
// section 4), always in this order: what all messages of a transaction share
// comes first, so that two transactions cannot wait for each other.
func (db *DB) caps(coachID string, to phone.Number) []auth.Limit {
	const day = 24 * time.Hour
	var caps []auth.Limit
	for _, l := range []auth.Limit{
		{Name: "messages_per_coach", Key: "message/from/" + coachID, Max: db.Settings.MessagesPerCoach, Per: day},
		{Name: "messages_per_number_from_coach", Key: "message/" + coachID + "/" + string(to), Max: db.Settings.MessagesPerNumberFromCoach, Per: day},
		{Name: "messages_per_number", Key: "message/to/" + string(to), Max: db.Settings.MessagesPerNumber, Per: day},
	} {
		if l.Max > 0 {
			caps = append(caps, l)
		}
	}
	return caps
}

// wakeOutbox tells this process's worker, after the commit, that one of a kind waits.
func (tx *tx) wakeOutbox(kind notify.Kind) {
	if wake := tx.db.OnQueued; wake != nil {
		tx.afterCommit(func() { wake(kind) })
	}
}

// wakeTrays tells this process's streams, after the commit, whose trays grew.
func (tx *tx) wakeTrays(accountIDs []string) {
	if wake := tx.db.OnNotified; wake != nil && len(accountIDs) > 0 {
		tx.afterCommit(func() { wake(accountIDs) })
	}
}
