package coach

import (
	"context"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// Subscription is the tier of a coach and its usage.
type Subscription struct {
	// StoredTier is the stored name; Tier is the tier that applies.
	StoredTier string
	Tier       Tier
	// Requested is the name of the tier that the coach asked for and no operator has
	// decided on, or "".
	Requested string
	// Since is when the tier was chosen or set, or else when the coach registered.
	Since time.Time
	Usage Usage
}

// Usage is how much a coach uses of what tiers limit.
type Usage struct {
	Players      int64
	StorageBytes int64
	// Messages are the approval SMS of the last 24 h.
	Messages int64
}

// SubscriptionStore stores subscriptions; package store implements it.
type SubscriptionStore interface {
	// Subscription returns everything except Tier.
	Subscription(ctx context.Context, coachID string) (Subscription, error)
	// UpdateTier calls fn with the stored tier name, "" for none, and stores the
	// name that it returns, unless it is the same. fn may run more than once.
	UpdateTier(ctx context.Context, coachID string, fn func(stored string) (string, error)) error
	// RequestTier stores the tier that the coach asks for; "" ends the request.
	RequestTier(ctx context.Context, coachID, name string) error
	// SetTier stores the tier, ends the request for a tier, and writes the operator's audit log entry in one transaction.
	SetTier(ctx context.Context, by actor.Operator, coachID, name string) error
}

// Subscriptions lets coaches choose, and operators set, a tier.
type Subscriptions struct {
	Store SubscriptionStore
	Tiers Tiers
}

// Subscription returns the caller's tier and usage.
func (s *Subscriptions) Subscription(ctx context.Context, by actor.Actor) (Subscription, error) {
	return s.Of(ctx, by.AccountID)
}

// CheckFeature returns a tier_limit unless the caller's tier has the feature.
func (s *Subscriptions) CheckFeature(ctx context.Context, by actor.Actor, feature string) error {
	sub, err := s.Store.Subscription(ctx, by.AccountID)
	if err != nil {
		return err
	}
	return s.Tiers.CheckFeature(TierStatus{Tier: sub.StoredTier}, feature)
}

// Of returns the tier and usage of any coach, for operators.
func (s *Subscriptions) Of(ctx context.Context, coachID string) (Subscription, error) {
	sub, err := s.Store.Subscription(ctx, coachID)
	sub.Tier = s.Tiers.Of(sub.StoredTier)
	if _, exists := s.Tiers.Named(sub.Requested); !exists || sub.Requested == sub.Tier.Name {
		sub.Requested = ""
	}
	return sub, err
}

// Choose sets the caller's tier, or requests it from the operator if it is not
// self-service. Choosing the current tier ends a request and changes nothing else. A
// downgrade deletes nothing: above a limit the coach cannot add more.
func (s *Subscriptions) Choose(ctx context.Context, by actor.Actor, name string) (Subscription, error) {
	tier, err := s.tierNamed(name)
	if err != nil {
		return Subscription{}, err
	}
	requested := ""
	err = s.Store.UpdateTier(ctx, by.AccountID, func(stored string) (string, error) {
		current := s.Tiers.Of(stored).Name
		requested = ""
		if current != tier.Name && !tier.SelfService {
			requested = tier.Name
		}
		if requested != "" || stored == "" && current == tier.Name {
			return stored, nil
		}
		return tier.Name, nil
	})
	if err != nil {
		return Subscription{}, err
	}
	if err := s.Store.RequestTier(ctx, by.AccountID, requested); err != nil {
		return Subscription{}, err
	}
	return s.Subscription(ctx, by)
}

// Set gives a coach any tier, for operators.
func (s *Subscriptions) Set(ctx context.Context, by actor.Operator, coachID, name string) (Subscription, error) {
	if _, err := s.tierNamed(name); err != nil {
		return Subscription{}, err
	}
	if err := s.Store.SetTier(ctx, by, coachID, name); err != nil {
		return Subscription{}, err
	}
	return s.Subscription(ctx, actor.Actor{AccountID: coachID, Role: actor.Coach})
}

// tierNamed returns the tier with this name, or an unknown_tier fault.
func (s *Subscriptions) tierNamed(name string) (Tier, error) {
	t, ok := s.Tiers.Named(name)
	if !ok {
		return t, fault.Validation([]fault.Field{{Pointer: "/tier", Code: "unknown_tier", Detail: "There is no such tier. Use one of " + strings.Join(s.Tiers.Names(), ", ") + "."}})
	}
	return t, nil
}
