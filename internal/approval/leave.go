package approval

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Leave unlinks the calling guardian or student, who deletes the account, from a player. First it takes an approval back or
// rejects an open request, as the party could, so the coach is notified as usual; without either the coach is told that the party left. It does nothing for a player whom by does not see.
// text is what the person read, in language; empty for a caller of the API.
func (s *Service) Leave(ctx context.Context, by actor.Actor, playerID, language, text string) error {
	var read Wording
	if text != "" {
		read = s.WordingOf(language, text)
	}
	var decided *Record
	var coachID string
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		decided = nil
		p, err := s.loadPlayer(ctx, tx, playerID, loadOptions{})
		if fault.KindOf(err) == fault.NotFound || err == nil && !p.VisibleTo(by) {
			return nil
		}
		if err != nil {
			return err
		}
		coachID = p.CoachID
		w := s.wordingFor(by, p.Player, read)
		change := func(fn func(*Player, Operation) (Change, error)) error {
			return s.changePlayer(ctx, tx, p, loadOptions{}, func(p *Player) (Change, error) {
				op, before := s.operation(), p.ConsentStatus()
				c, err := fn(p, op)
				if c.Save {
					c.StatusChanges = p.statusChanges(before, s.Rules, op.Now)
				}
				return c, err
			})
		}
		action := Trigger("")
		switch approver := p.PartyOf(by); {
		case approver.Consent.State == Approved:
			action = Revoke
		case approver.Consent.State == Pending && approver.OpenRequest() != nil:
			action = Reject
		}
		if action != "" {
			err := change(func(p *Player, op Operation) (Change, error) {
				c, err := p.Decide(by, by.Role, Decision{Action: action, Wording: w}, op)
				c.Events = slices.DeleteFunc(c.Events, func(e event.Event) bool { return e.Type == event.GuardiansDisagree })
				decided = c.History
				return c, err
			})
			if err != nil {
				return err
			}
		}
		return change(func(p *Player, op Operation) (Change, error) {
			c := p.leave(by, w, op)
			if action != "" {
				c.Events = slices.DeleteFunc(c.Events, func(e event.Event) bool { return e.Type == event.Left }) // the coach knows by the decision
			}
			return c, nil
		})
	})
	if err == nil && decided != nil {
		s.logDecision(ctx, coachID, decided)
	}
	return err
}

// leave removes what the coach noted about the party by, so that only a coach who enters a number again can ask again. The
// sessions and notifications of the account end with it.
func (p *Player) leave(by actor.Actor, w Wording, op Operation) Change {
	a := p.PartyOf(by)
	c := Change{Save: true, By: by, Wording: w, Events: []event.Event{p.newEvent(event.Left, a)}}
	was := *a
	a.AccountID, a.Person = "", Person{}
	a.Consent.restart(PendingContact, laterThan(a.Consent.ChangedAt, op.Now))
	if a.Role == actor.Guardian {
		p.tellOthers(event.GuardianRemoved, &was, &c)
	}
	if i := p.index(a); a.Role == actor.Guardian && i > 0 {
		p.Parties = slices.Delete(slices.Clone(p.Parties), i, i+1)
	}
	return c
}

// RemoveForErasure removes a player whom an operator erases, and tells the coach without naming the player. It returns not_found
// for a removed one.
func (s *Service) RemoveForErasure(ctx context.Context, playerID string) error {
	_, err := s.update(ctx, playerID, loadOptions{}, func(p *Player, op Operation) (Change, error) {
		c, err := p.Remove(actor.Actor{AccountID: p.CoachID, Role: actor.Coach}, op)
		c.By = actor.Actor{} // no person of the service
		c.Events = append(c.Events, event.Event{Type: event.PlayerErased, CoachID: p.CoachID})
		return c, err
	})
	return err
}
