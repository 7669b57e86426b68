package approval

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
)

// Disclosure is how much of a player somebody may read (contract section 4).
type Disclosure int

// The disclosures, each with all that the one before has.
const (
	// Outline: ids, statuses, the student's name and the coach's. A wrong number
	// must learn no more.
	Outline Disclosure = iota
	// Details: all but the medical information.
	Details
	// Whole: everything.
	Full
)

// DisclosedTo says how much of p by may read, who may know that p exists: the
// coach everything; a party nothing but the outline until it has approved; a
// student under 18 never the medical information.
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
