package approval

import (
	"slices"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// AnswerLeaving takes an approval of by back or rejects an open request, as the party could, so that the coach is
// notified as usual. w is what the person read who deletes the account. It does nothing without either.
func (p *Player) AnswerLeaving(by actor.Actor, w Wording, op Operation) (Change, error) {
	d := Decision{Action: Revoke, Wording: w}
	switch a := p.PartyOf(by); {
	case a.Consent.State == Approved:
	case a.Consent.State == Pending && a.OpenRequest() != nil:
		d.Action = Reject
	default:
		return Change{}, nil
	}
	c, err := p.Decide(by, by.Role, d, op)
	c.Events = slices.DeleteFunc(c.Events, func(e event.Event) bool { return e.Type == event.GuardiansDisagree })
	return c, err
}

// Leave removes what the coach noted about the party by, so that only a coach who enters a number again can ask again. If the first of several
// guardians leaves, the next one becomes the first.
// The sessions and notifications of the account end with it. The coach is told, unless answered says that AnswerLeaving
// told it.
func (p *Player) Leave(by actor.Actor, w Wording, answered bool, op Operation) Change {
	a := p.PartyOf(by)
	c := Change{Save: true, By: by, Wording: w}
	if !answered {
		c.Events = []event.Event{p.NewEvent(event.Left, a)}
	}
	was := *a
	a.AccountID, a.Person = "", Person{}
	a.Consent.restart(PendingContact, laterThan(a.Consent.ChangedAt, op.Now))
	if a.Role == actor.Guardian {
		former := p.Parties[0].GuardianID
		p.tellOthers(event.GuardianRemoved, &was, &c)
		p.closePlace(a)
		p.tellNowFirst(former, &c)
	}
	return c
}
