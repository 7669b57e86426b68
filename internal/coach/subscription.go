package coach

import (
	"context"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// Subscription is the tier of a coach and what of it is in use.
type Subscription struct {
	// Kept is the name of the tier as it is kept; Tier is the one that counts.
	StoredTier string
	Tier       Tier
	// Since is when it was chosen or set; where it never was, when the coach
	// registered.
	Since time.Time
	Usage Usage
}

// Use is how much a coach has of what tiers bound.
type Usage struct {
	Players      int64
	StorageBytes int64
	// Messages in the last 24 h, by SMS, about approvals.
	Messages int64
}

// SubscriptionStore is what subscriptions need kept; package store provides it.
type SubscriptionStore interface {
	// Subscription returns all but Tier.
	Subscription(ctx context.Context, coachID string) (Subscription, error)
	// UpdateTier hands fn the name of the tier as it is kept, "" for none, and
	// keeps the name that it returns; nothing is written where that is the same.
	// fn may run more than once.
	UpdateTier(ctx context.Context, coachID string, fn func(kept string) (string, error)) error
	// SetTier keeps the tier of that name and writes by's entry of the audit log,
	// both or neither.
	SetTier(ctx context.Context, by actor.Operator, coachID, name string) error
}

// Subscriptions carries out what coaches ask of their tier.
type Subscriptions struct {
	Store SubscriptionStore
	Tiers Tiers
}

// Subscription returns the caller's own tier and use.
func (s *Subscriptions) Subscription(ctx context.Context, by actor.Actor) (Subscription, error) {
	return s.Of(ctx, by.AccountID)
}

// Of returns the tier and use of a coach, for operators.
func (s *Subscriptions) Of(ctx context.Context, coachID string) (Subscription, error) {
	sub, err := s.Store.Subscription(ctx, coachID)
	sub.Tier = s.Tiers.Of(sub.StoredTier)
	return sub, err
}

// Choose gives the caller the tier of that name. To choose the one that they have
// changes nothing. Going down takes nothing away: over a limit only adding stops.
func (s *Subscriptions) Choose(ctx context.Context, by actor.Actor, name string) (Subscription, error) {
	wanted, err := s.tierNamed(name)
	if err != nil {
		return Subscription{}, err
	}
	err = s.Store.UpdateTier(ctx, by.AccountID, func(kept string) (string, error) {
		has := s.Tiers.Of(kept).Name
		switch {
		case kept == "" && has == wanted.Name:
			return kept, nil
		case has != wanted.Name && !wanted.SelfService:
			return "", fault.New(fault.Forbidden, "tier_limit", "The tier %s cannot be chosen: an operator sets it. Ask whoever runs the service.", wanted.Title).
				With("limit", "self_service").With("limit_value", nil).With("use", nil).With("tier", has).With("needed_tier", nil)
		}
		return wanted.Name, nil
	})
	if err != nil {
		return Subscription{}, err
	}
	return s.Subscription(ctx, by)
}

// Set gives a coach any tier, at an operator's wish.
func (s *Subscriptions) Set(ctx context.Context, by actor.Operator, coachID, name string) (Subscription, error) {
	if _, err := s.tierNamed(name); err != nil {
		return Subscription{}, err
	}
	if err := s.Store.SetTier(ctx, by, coachID, name); err != nil {
		return Subscription{}, err
	}
	return s.Subscription(ctx, actor.Actor{AccountID: coachID, Role: actor.Coach})
}

// known returns the tier of that name, or says that there is none.
func (s *Subscriptions) tierNamed(name string) (Tier, error) {
	t, ok := s.Tiers.Named(name)
	if !ok {
		return t, fault.Validation([]fault.Field{{Pointer: "/tier", Code: "unknown_tier", Detail: "There is no such tier; there are " + strings.Join(s.Tiers.Names(), ", ") + "."}})
	}
	return t, nil
}
