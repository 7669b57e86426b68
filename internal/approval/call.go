package approval

import (
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// CallAfter is how long a request is open before the coach may have its party called, and CallEvery
	// how often.
	CallAfter = 48 * time.Hour
	CallEvery = 7 * 24 * time.Hour
)

// CallFacts are what a call to a party depends on besides its request.
type CallFacts struct {
	To message.Recipient
	// Last is when the coach last had the party called about the student, within CallEvery, or zero. A call
	// that left no provider does not count.
	Last time.Time
}

// Call has the party of an open request called, which asks the question. The call leaves in the same
// transaction. Errors: not_found, no_open_request, voice_not_configured, contact_disputed, messages_stopped,
// call_too_early, call_limit, call_hours.
func (p *Player) Call(by actor.Actor, requestID string, rules Rules, op Operation) (Change, error) {
	r, err := p.openRequest(by, requestID)
	if err != nil {
		return Change{}, err
	}
	a := p.Asked(r)
	if err := p.MayCall(a, rules, op.Now); err != nil {
		return Change{}, err
	}
	r.FollowedUpAt = op.Now
	return Change{
		Save: true, FollowedUp: r, By: by,
		Send: []Message{{Request: r, Channel: message.Voice, Kind: MessageReminder, Destination: rules.Call(a.addresses())}},
	}, nil
}

// MayCall returns why the coach can not have a party with an open request called now, or nil.
func (p *Player) MayCall(a *Party, rules Rules, now time.Time) error {
	party, facts := a.Role, a.CallFacts
	early := a.Request.RequestedAt.Add(CallAfter)
	again := facts.Last.Add(CallEvery)
	at, _, awake := facts.To.CallAt(now)
	switch {
	case rules.Call == nil:
		return fault.New(fault.Conflict, "voice_not_configured", "This service makes no calls that ask a question.")
	case p.disputed(party, a.Number):
		return errDisputed(party)
	case facts.To.Stopped || !awake || facts.To.Preferences.Refuses(message.Reminder, message.SMS):
		return fault.New(fault.Conflict, "messages_stopped", "The %s wants no messages from you. Talk to them. The question is still open in the app.", party)
	case early.After(now):
		return notBefore(fault.Conflict, "call_too_early", early, now, "The %s has time to answer first. You can have them called 48 hours after the question.", party)
	case !facts.Last.IsZero() && again.After(now):
		return notBefore(fault.TooMany, "call_limit", again, now, "The %s was called already. You can have them called once in 7 days.", party)
	case at.After(now):
		return notBefore(fault.Conflict, "call_hours", at, now, "You can call from %s in the time zone of the %s.", at.In(facts.To.CallZone()).Format("15:04"), party)
	}
	return nil
}

// notBefore returns an error that says when the call is possible.
func notBefore(kind fault.Kind, code string, at, now time.Time, format string, args ...any) error {
	return fault.New(kind, code, format, args...).With("retry_at", at).After(at.Sub(now))
}
