package approval

import (
	"github.com/touchline/touchline/internal/platform/actor"
)

// Disclosure is how much of a player a caller may read.
type Disclosure int

const (
	// Outline: ids, statuses, the names of student and coach. A request to a wrong
	// number must reveal no more.
	Outline Disclosure = iota
	// Details: everything except the medical text, which Service.Medical reads.
	Details
)

// DisclosedTo returns how much of p by may read, if p is visible to by: a coach
// the details, a party only the outline until it has approved, and while that cannot be proved.
func (p *Player) DisclosedTo(by actor.Actor) Disclosure {
	if a := p.PartyOf(by); by.Role != actor.Coach && (a == nil || a.Consent.State != Approved || p.Unproved) {
		return Outline
	}
	return Details
}
