package coach

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// MaxTierReason bounds the reason of a refusal, in characters.
const MaxTierReason = 500

// TierChoice is the stored tier of a coach, "" for the first one, and the tier that the
// coach asked for, "" for none.
type TierChoice struct{ Tier, Requested string }

// TierRequest is a coach's request for a tier that is not self-service.
type TierRequest struct {
	CoachID   string
	CoachName string
	TierChoice
	At time.Time
}

// TierRequestCursor is a position in the list of requests.
type TierRequestCursor struct {
	At      time.Time
	CoachID string
}

// TierOutcome is an operator's decision about a tier request.
type TierOutcome string

// The outcomes.
const (
	TierSet      TierOutcome = "set" // whether or not the coach asked for a tier
	TierApproved TierOutcome = "approved"
	TierRefused  TierOutcome = "refused"
)

// TierDecision is an operator's decision. It ends the coach's request.
type TierDecision struct {
	Outcome TierOutcome
	// Stored is the tier of the coach from now on.
	Stored string
	// Named is the tier that the decision is about.
	Named string
	// Event notifies the coach; nil is no notification.
	Event *event.Event
}

// Requests returns the requests for tiers, oldest first, and audits the access.
func (s *Subscriptions) Requests(ctx context.Context, by actor.Operator, after TierRequestCursor, limit int) ([]TierRequest, error) {
	return s.Store.TierRequests(ctx, by, after, limit)
}

// Set gives a coach any tier, for operators. If the coach asked for a tier, this decides
// the request.
func (s *Subscriptions) Set(ctx context.Context, by actor.Operator, coachID, name string) (Subscription, error) {
	if _, err := s.tierNamed(name); err != nil {
		return Subscription{}, err
	}
	return s.decide(ctx, by, coachID, func(c TierChoice) (TierDecision, error) {
		d := TierDecision{Outcome: TierSet, Stored: name, Named: name}
		switch c.Requested {
		case "":
		case name:
			d.Event = s.tierEvent(event.TierApproved, coachID, name, "")
		default:
			d.Event = s.tierEvent(event.TierRefused, coachID, c.Requested, "")
		}
		return d, nil
	})
}

// Approve gives a coach the tier that the coach asked for, and notifies the coach. It
// returns request_superseded if the coach no longer asks for this tier.
func (s *Subscriptions) Approve(ctx context.Context, by actor.Operator, coachID, name string) (Subscription, error) {
	if _, err := s.tierNamed(name); err != nil {
		return Subscription{}, err
	}
	return s.decide(ctx, by, coachID, func(c TierChoice) (TierDecision, error) {
		d := TierDecision{Outcome: TierApproved, Stored: name, Named: name, Event: s.tierEvent(event.TierApproved, coachID, name, "")}
		return d, c.asksFor(name)
	})
}

// Refuse ends a coach's request for a tier, and notifies the coach, who reads the reason.
// It returns request_superseded if the coach no longer asks for this tier.
func (s *Subscriptions) Refuse(ctx context.Context, by actor.Operator, coachID, name, reason string) (Subscription, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxTierReason || !utf8.ValidString(reason) || strings.ContainsRune(reason, 0) {
		return Subscription{}, fault.Validation([]fault.Field{{
			Pointer: "/reason", Code: "invalid_value", Detail: fmt.Sprintf("Give a reason of 1 to %d characters. The coach reads it.", MaxTierReason),
		}})
	}
	return s.decide(ctx, by, coachID, func(c TierChoice) (TierDecision, error) {
		d := TierDecision{Outcome: TierRefused, Stored: c.Tier, Named: name, Event: s.tierEvent(event.TierRefused, coachID, name, reason)}
		return d, c.asksFor(name)
	})
}

func (s *Subscriptions) decide(ctx context.Context, by actor.Operator, coachID string, fn func(TierChoice) (TierDecision, error)) (Subscription, error) {
	if err := s.Store.DecideTier(ctx, by, coachID, fn); err != nil {
		return Subscription{}, err
	}
	return s.Of(ctx, coachID)
}

// asksFor returns request_superseded unless the coach asks for the tier.
func (c TierChoice) asksFor(name string) error {
	switch c.Requested {
	case name:
		return nil
	case "":
		return fault.New(fault.Conflict, "request_superseded", "The coach does not ask for a tier any more.")
	default:
		return fault.New(fault.Conflict, "request_superseded", "The coach now asks for the tier %s. Decide about that one.", c.Requested)
	}
}

func (s *Subscriptions) tierEvent(t event.Type, coachID, name, reason string) *event.Event {
	title := name
	if tier, ok := s.Tiers.Named(name); ok {
		title = tier.Title
	}
	return &event.Event{Type: t, CoachID: coachID, Title: title, Reason: reason}
}
