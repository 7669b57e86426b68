package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Reading is one reading of the medical text of a player.
type Reading struct {
	ID       string
	PlayerID string
	At       time.Time
	// Role is who read it; ReaderName is the name of a coach, or empty.
	Role       actor.Role
	ReaderName string
	Purpose    ReadingPurpose
}

// ReadingPurpose says how a medical text was read.
type ReadingPurpose string

// The values of ReadingPurpose.
const (
	ReadToShow   ReadingPurpose = "shown"
	ReadToEdit   ReadingPurpose = "edited"
	ReadToExport ReadingPurpose = "exported"
)

// CheckApproved returns an error unless the party by of p has approved; what says what it may do then.
func (p *Player) CheckApproved(by actor.Actor, what string) error {
	a := p.PartyOf(by)
	if a == nil {
		return fault.Missing()
	}
	switch state := a.Consent.State; {
	case state == Approved && !p.Unproved:
		return nil
	case state == Pending || p.Unproved:
		return fault.New(fault.Forbidden, "approval_pending", "Approve first. Then you can %s.", what)
	default:
		return fault.New(fault.Forbidden, "approval_required", "You can %s only after an approval. It was refused or taken back. The coach can ask again.", what)
	}
}

// MayReadMedical returns an error unless by, who may see p, may read its medical text: the
// coach, a guardian who has approved, and an adult student who has approved.
func (p *Player) MayReadMedical(by actor.Actor, now time.Time) error {
	switch {
	case by.Role == actor.Coach:
		return nil
	case by.Role == actor.Student && !p.Adult(now):
		return fault.New(fault.Forbidden, "role_not_allowed", "Students can read the medical information from the age of 18. Until then their guardian can.")
	}
	return p.CheckApproved(by, "read the medical information")
}
