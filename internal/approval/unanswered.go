package approval

import (
	"time"
)

// RemoveUnanswered removes a player whose parties have both been pending since before. It does nothing if a party has
// answered, or the contact or the student has changed, meanwhile.
func (p *Player) RemoveUnanswered(before time.Time, op Operation) Change {
	if !p.DeletedAt.IsZero() {
		return Change{}
	}
	for i := range p.Parties {
		if c := p.Parties[i].Consent; c.State != Pending || !c.PendingSince.Before(before) {
			return Change{}
		}
	}
	return p.remove(op)
}
