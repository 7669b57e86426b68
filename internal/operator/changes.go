package operator

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// ChangesKept is how long the feed has a change, and how long a cursor is valid.
const ChangesKept = 90 * 24 * time.Hour

// ChangesOverlap is how much longer a change is stored, so that a valid cursor misses none.
const ChangesOverlap = 24 * time.Hour

// Change is one change of a player in the feed.
type Change struct {
	// Position orders the feed. Positions rise by one, in the order in which
	// readers get the changes.
	Position int64
	PlayerID string
	// Sequence is the number of the change among the changes of the player, from 1.
	Sequence int64
	// Type is the new state of the consent of Party, "availability" or "removed".
	Type string
	// Party is empty if no consent changed.
	Party          actor.Role
	GuardianStatus string
	StudentStatus  string
	At             time.Time
}
