package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// CallAfter is how long a request is open before the coach may have its party called, and callEvery
	// how often.
	CallAfter = 48 * time.Hour
	callEvery = 7 * 24 * time.Hour
)

// CallFacts are what a call to a party depends on besides its request.
type CallFacts struct {
	To message.Recipient
	// Last is when the coach last had the party called about the student, within callEvery, or zero. A call
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
	again := facts.Last.Add(callEvery)
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

// Call has the party of an open request called.
func (s *Service) Call(ctx context.Context, by actor.Actor, requestID string) (*Request, error) {
	r, err := s.OwnRequest(ctx, by, requestID)
	if err != nil {
		return nil, err
	}
	_, err = s.update(ctx, r.PlayerID, loadOptions{Disputes: true, CallFacts: true}, func(p *Player, op Operation) (Change, error) {
		return p.Call(by, requestID, s.Rules, op)
	})
	if err != nil {
		return nil, err
	}
	return s.OwnRequest(ctx, by, requestID)
}

// loadCallFacts loads the facts of each party with an open request that is old enough for a call.
func (s *Service) loadCallFacts(ctx context.Context, q database.Querier, p *Player, now time.Time) error {
	for i := range p.Parties {
		a := &p.Parties[i]
		if r := a.OpenRequest(); s.Rules.Call == nil || r == nil || r.RequestedAt.Add(CallAfter).After(now) {
			continue
		}
		identity := p.Identity()
		f := &a.CallFacts
		*f = CallFacts{To: message.Recipient{Number: a.Number}}
		err := q.QueryRow(ctx, `
			SELECT EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = a.mobile_number AND st.coach_id = $2), c.time_zone, o.mobile_number,
				(SELECT max(d.created_at) FROM requests r JOIN deliveries d ON d.request_id = r.id
					WHERE r.approver_id = a.id AND r.coach_id = $2 AND (r.player_id = $3 OR r.student_key = $4 AND r.date_of_birth = $5)
						AND d.channel = 'voice' AND (d.state <> 'failed' OR d.left_at IS NOT NULL) AND d.created_at > $6), `+message.PreferenceColumns+`
			FROM accounts a
			LEFT JOIN accounts o ON o.id = $2
			LEFT JOIN coaches c ON c.id = $2
			LEFT JOIN preferences ON preferences.mobile_number = a.mobile_number
			WHERE a.id = $1`,
			a.AccountID, p.CoachID, p.ID, identity.NameKey, identity.DateOfBirth.String(), database.Micros(now.Add(-callEvery))).
			Scan(append([]any{&f.To.Stopped, database.IntoText(&f.To.CoachZone), database.IntoText((*string)(&f.To.CoachNumber)), database.IntoTime(&f.Last)},
				message.PreferenceDest(&f.To.Preferences)...)...)
		if err != nil {
			return fmt.Errorf("read what a call to the %s depends on: %w", a.Role, err)
		}
	}
	return nil
}
