package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Shown is the state of a party and its newest request when a form was shown.
type Shown struct {
	// Response is the state of the party's consent.
	Response State
	// RequestID is empty if there was no request.
	RequestID string
	// SentAt is when the request was last sent.
	SentAt time.Time
}

// outdated reports whether a response, another request or another sending has followed.
func (s Shown) outdated(a *Party) bool {
	r := a.Request
	return a.Consent.State != s.Response || r != nil && (r.ID != s.RequestID || r.LastSentAt.After(s.SentAt))
}

// SendShown is Send for a form. It returns request_superseded if a response, another request or
// another sending has followed since the form was shown: an old form must not ask after a later
// refusal, or undo a later correction of the number.
func (p *Player) SendShown(by actor.Actor, party actor.Role, correction Patch, shown Shown, rules Rules, op Operation) (Change, error) {
	if err := p.ownedBy(by); err != nil {
		return Change{}, err
	}
	a, err := p.find(party, correction.GuardianID)
	if err != nil {
		return Change{}, err
	}
	if shown.outdated(a) {
		return Change{}, fault.New(fault.Conflict, "request_superseded", "The question was answered or sent after this page was opened.")
	}
	c, _, err := p.Send(by, party, correction, nil, rules, op)
	return c, err
}
