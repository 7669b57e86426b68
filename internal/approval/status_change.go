package approval

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// ChangeType says what changed about a player, for other services.
type ChangeType string

// The types besides the states: a consent that became approved, rejected, revoked or
// pending has the type of its new state.
const (
	// AvailabilityChanged: services changed, but no consent did.
	AvailabilityChanged ChangeType = "availability"
	// PlayerRemoved: the coach removed the player, or closed the account.
	PlayerRemoved ChangeType = "removed"
)

// StatusChange is one change of a player that other services read.
type StatusChange struct {
	Type ChangeType
	// Party is the party whose consent changed, or empty.
	Party actor.Role
	At    time.Time
}

// firstChanges returns the changes of a new player: each party becomes pending.
func (p *Player) firstChanges(now time.Time) []StatusChange {
	return p.statusChanges(ConsentStatus{}, Rules{}, now)
}

// statusChanges returns the changes since before, which is the zero value for a new player.
// A guardian who does not exist has no consent that could change.
func (p *Player) statusChanges(before ConsentStatus, rules Rules, now time.Time) []StatusChange {
	if !p.DeletedAt.IsZero() {
		return []StatusChange{{Type: PlayerRemoved, At: now}}
	}
	after := p.ConsentStatus()
	var changes []StatusChange
	if after.HasGuardian && (!before.HasGuardian || after.Guardian != before.Guardian) {
		changes = append(changes, StatusChange{ChangeType(after.Guardian), actor.Guardian, now})
	}
	if after.Student != before.Student {
		changes = append(changes, StatusChange{ChangeType(after.Student), actor.Student, now})
	}
	if len(changes) == 0 && !slices.Equal(before.Availability(rules, now).Services(), after.Availability(rules, now).Services()) {
		changes = append(changes, StatusChange{Type: AvailabilityChanged, At: now})
	}
	return changes
}
