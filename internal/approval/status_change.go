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
	// GuardianID is that of the Party.
	GuardianID string
	At         time.Time
}

// FirstChanges returns the changes of a new player: each party becomes pending.
func (p *Player) FirstChanges(now time.Time) []StatusChange {
	return p.StatusChanges(ConsentStatus{}, Rules{}, now)
}

// StatusChanges returns the changes since before, which is the zero value for a new player.
// A guardian who does not exist has no consent that could change.
func (p *Player) StatusChanges(before ConsentStatus, rules Rules, now time.Time) []StatusChange {
	if !p.DeletedAt.IsZero() {
		return []StatusChange{{Type: PlayerRemoved, At: now}}
	}
	after := p.ConsentStatus()
	var changes []StatusChange
	for _, g := range after.Guardians {
		if was := before.As(g.ID); !was.HasGuardian || was.Guardian != g.State {
			changes = append(changes, StatusChange{ChangeType(g.State), actor.Guardian, g.ID, now})
		}
	}
	if after.Student != before.Student {
		changes = append(changes, StatusChange{ChangeType(after.Student), actor.Student, "", now})
	}
	was, is := before.Availability(rules, now), after.Availability(rules, now)
	if len(changes) == 0 && (!slices.Equal(was.Services(), is.Services()) || !slices.Equal(was.Guardians, is.Guardians)) {
		changes = append(changes, StatusChange{Type: AvailabilityChanged, At: now})
	}
	return changes
}
