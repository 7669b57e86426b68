package coach

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// NeedsShown is how many needs the roster and the page Today show.
const NeedsShown = 5

// NeedKind says why the coach should act for a party of a player. A party has at most one.
type NeedKind string

// The kinds. An open request is failed, overdue, stopped, held or long pending, the first that
// fits.
const (
	NeedFailed      NeedKind = "delivery_failed" // the request did not arrive
	NeedDisputed    NeedKind = "disputed"        // the number belongs to someone else
	NeedRejected    NeedKind = "rejected"        // until the coach has read of it, as NeedRevoked
	NeedRevoked     NeedKind = "revoked"
	NeedOverdue     NeedKind = "overdue"      // open for longer than FollowUpTarget without a follow-up
	NeedStopped     NeedKind = "stopped"      // the party wants no messages from the coach
	NeedHeld        NeedKind = "held"         // a message waits for a message limit
	NeedLongPending NeedKind = "long_pending" // open for longer than LongPending
)

// NeedKinds lists every kind, the most urgent first.
var NeedKinds = []NeedKind{NeedFailed, NeedDisputed, NeedRejected, NeedRevoked, NeedOverdue, NeedStopped, NeedHeld, NeedLongPending}

// Need is one party for which the coach should act.
type Need struct {
	Kind NeedKind
	// Since is when the request left, was decided or was opened.
	Since                 time.Time
	PlayerID, StudentName string
	Party                 actor.Role
	// GuardianID is that of a guardian. GuardianName is the name of one of several guardians, else empty.
	GuardianID, GuardianName string
	// RequestID is the newest request, or "".
	RequestID string
	// Channels are those on which the request of a NeedFailed failed: sms, chat, email.
	Channels []string
	// HasReason reports whether the party gave a reason for a NeedRejected or NeedRevoked.
	HasReason bool
	// HeldBy is the key of the limit that holds the message of a NeedHeld, or "".
	HeldBy string
}

// NeedQuery selects needs.
type NeedQuery struct {
	// Kind is the only kind, or "" for all.
	Kind NeedKind
	// Limit is the largest number of items. There is no next page: a coach deals with the
	// first ones, and the others move up.
	Limit int
}

// Needs are the parties for which the coach should act.
type Needs struct {
	// Counts count all of them by kind.
	Counts map[NeedKind]int
	// Items are sorted by urgency, then by time: answers of no newest first, all others
	// oldest first. NeedRejected and NeedRevoked are equally urgent.
	Items []Need
}

// Total returns the number of all needs.
func (n Needs) Total() (total int) {
	for _, count := range n.Counts {
		total += count
	}
	return total
}

// Needs returns the parties that need the caller.
func (d *Dashboards) Needs(ctx context.Context, by actor.Actor, q NeedQuery) (Needs, error) {
	if q.Kind != "" && !slices.Contains(NeedKinds, q.Kind) {
		q.Kind = ""
	}
	return d.Store.Needs(ctx, by.AccountID, q, d.Now())
}
