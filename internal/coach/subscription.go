package coach

import (
	"context"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
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
	KYC   KYCState
	Usage Usage
}

// Usage has the amounts that tiers limit.
type Usage struct {
	Players      int64
	StorageBytes int64
	// Messages are the SMS of the messages that the coach wrote in the last 24 h.
	Messages int64
}

// Subscriptions lets coaches choose, and operators set, a tier.
type Subscriptions struct {
	Store Store
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
	sub.Tier, sub.KYC = s.Tiers.Of(sub.StoredTier), s.Tiers.KYCState(sub.KYC)
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
	err = s.Store.UpdateTier(ctx, by.AccountID, func(c TierChoice) (TierChoice, error) {
		current := s.Tiers.Of(c.Tier).Name
		switch {
		case current != tier.Name && !tier.SelfService:
			return TierChoice{Tier: c.Tier, Requested: tier.Name}, nil
		case c.Tier == "" && current == tier.Name:
			return TierChoice{}, nil
		}
		return TierChoice{Tier: tier.Name}, nil
	})
	if err != nil {
		return Subscription{}, err
	}
	return s.Subscription(ctx, by)
}

// tierNamed returns the tier with this name, or an unknown_tier fault.
func (s *Subscriptions) tierNamed(name string) (Tier, error) {
	t, ok := s.Tiers.Named(name)
	if !ok {
		return t, fault.Validation([]fault.Field{{Pointer: "/tier", Code: "unknown_tier", Detail: "There is no such tier. Use one of " + strings.Join(s.Tiers.Names(), ", ") + "."}})
	}
	return t, nil
}
