package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// Disclosure is how much of a player a caller may read.
type Disclosure int

// Each disclosure includes the ones before it.
const (
	// Outline: ids, statuses, the names of student and coach. A request to a wrong
	// number must reveal no more.
	Outline Disclosure = iota
	// Details: everything except the medical information.
	Details
	// Full: everything.
	Full
)

// DisclosedTo returns how much of p by may read, if p is visible to by: a coach
// everything, a party only the outline until it has approved, a minor never the
// medical information.
func (p *Player) DisclosedTo(by actor.Actor, now time.Time) Disclosure {
	switch {
	case by.Role == actor.Coach:
		return Full
	case p.Approver(by.Role).Consent.State != Approved:
		return Outline
	case by.Role == actor.Student && !p.Adult(now):
		return Details
	}
	return Full
}
