package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// Timeline is all that its coach sees of one player.
type Timeline struct {
	// Player has the newest request of each party with its deliveries, and the reminders
	// within the window.
	Player *Player
	// History are the decisions, oldest first.
	History []Record
	// Requests are the newest maxTimeline requests of both parties with their deliveries
	// and follow-ups, newest first.
	Requests []*Request
}

// RemindersLeft returns how many reminders the coach may send to a party now.
func (t *Timeline) RemindersLeft(a *Party, rules Rules) int {
	return max(0, rules.RemindersPerWindow-len(a.Reminders))
}

// ReminderPause is how long the coach's pages wait after a message to a party before they offer a
// reminder. The API does not wait.
const ReminderPause = 24 * time.Hour

// NextReminder returns when the coach's pages offer a reminder to a party with an open request: after
// ReminderPause, and when the limit on reminders allows one.
func (t *Timeline) NextReminder(approver *Party, rules Rules) time.Time {
	at := approver.Request.LastSentAt.Add(ReminderPause)
	if n := len(approver.Reminders); n > 0 {
		at = latest(at, approver.Reminders[n-1].Add(ReminderPause))
		if first := n - rules.RemindersPerWindow; first >= 0 {
			at = latest(at, approver.Reminders[first].Add(rules.ReminderWindow))
		}
	}
	return at
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// EditEffect is the effect of an edit on the consents of a player.
type EditEffect struct {
	// Ended are the parties whose approval would end, Asked those that would get a new
	// request.
	Ended, Asked []NamedParty
}

// NamedParty is a party. It has the first name of one of several guardians, else no name.
type NamedParty struct {
	Role actor.Role
	Name string
}

func (p *Player) named(a *Party) NamedParty {
	n := NamedParty{Role: a.Role}
	if a.Role == actor.Guardian && len(p.Guardians()) > 1 {
		n.Name = a.FirstName()
	}
	return n
}

// Any reports whether the edit would change a consent or ask a party.
func (e EditEffect) Any() bool { return len(e.Ended)+len(e.Asked) > 0 }

// PreviewEdit returns the effect of Edit on the consents, or its error. It changes p.
func (p *Player) PreviewEdit(by actor.Actor, patch Patch, rules Rules, op Operation) (EditEffect, error) {
	before := p.Copy()
	c, err := p.Edit(by, patch, rules, op)
	if err != nil {
		return EditEffect{}, err
	}
	var effect EditEffect
	for i := range p.Parties {
		a := &p.Parties[i]
		if was := before.Find(a.Role, a.GuardianID); was != nil && was.Consent.State == Approved && a.Consent.State != Approved {
			effect.Ended = append(effect.Ended, p.named(a))
		}
	}
	for _, r := range c.Opened {
		effect.Asked = append(effect.Asked, p.named(p.Asked(r)))
	}
	return effect, nil
}
