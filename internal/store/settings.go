package store

import (
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

// Settings are the settings of the operator that the store passes to the domain.
type Settings struct {
	// LinkValidity is how long the link in a message works.
	LinkValidity time.Duration
	// DigestAfter is how long a request is open before its coach gets a digest;
	// DigestEvery is the least time between two digests.
	DigestAfter, DigestEvery time.Duration
	// Limits of SMS in 24 h: from one coach to one number, to one number, and from
	// one coach; 0 is no limit.
	MessagesPerNumberFromCoach, MessagesPerNumber, MessagesPerCoach int
	// MessagesByTier, if not nil, replaces MessagesPerCoach by the limit of the coach's tier.
	MessagesByTier *coach.Tiers
	// AllowCoachAsContact lets a coach use the number of a guardian or student of one
	// of their players.
	AllowCoachAsContact bool
	// Reachable reports whether a channel sends copies of notifications to a number;
	// nil is all.
	Reachable func(channel notify.Channel, n phone.Number) bool
}
