package coaching

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type tierResponse struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	SelfService bool           `json:"self_service"`
	Features    []string       `json:"features"`
	Limits      LimitsResponse `json:"limits"`
	Shows       []string       `json:"shows"`
	KYCFor      []string       `json:"kyc_for"`
}

// LimitsResponse has null for no limit.
type LimitsResponse struct {
	Players           *int64 `json:"players"`
	UnverifiedPlayers *int64 `json:"unverified_players"`
	StorageBytes      *int64 `json:"storage_bytes"`
	MessagesPerDay    *int64 `json:"messages_per_day"`
}

func newTierResponse(t coach.Tier) tierResponse {
	limit := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	return tierResponse{
		Name: t.Name, Title: t.Title, SelfService: t.SelfService, Features: t.Features,
		Limits: LimitsResponse{
			Players: limit(t.Limits.Players), UnverifiedPlayers: limit(t.Limits.UnverifiedPlayers),
			StorageBytes: limit(t.Limits.StorageBytes), MessagesPerDay: limit(t.Limits.MessagesPerDay),
		},
		Shows: t.Shows, KYCFor: t.KYCFor,
	}
}

// listTiers serves GET /api/subscription-tiers, in the order of the configuration.
func (h handlers) listTiers(_ context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	tiers := h.Subscriptions.Tiers.List
	i := 1 + slices.IndexFunc(tiers, func(t coach.Tier) bool { return t.Name == page.After.ID })
	return endpoint.PageResponse(page, tiers[i:], newTierResponse, func(t coach.Tier) api.Keyset { return api.Keyset{ID: t.Name} }), nil
}

// SubscriptionResponse is the Subscription of openapi.yaml.
type SubscriptionResponse struct {
	Tier          string       `json:"tier"`
	RequestedTier *string      `json:"requested_tier"`
	Since         string       `json:"since"`
	Details       tierResponse `json:"details"`
	Use           UseResponse  `json:"use"`
}

// UseResponse is how much of the limits of a tier is used.
type UseResponse struct {
	Players       int64 `json:"players"`
	StorageBytes  int64 `json:"storage_bytes"`
	MessagesToday int64 `json:"messages_today"`
}

// NewSubscriptionResponse returns the response of a subscription.
func NewSubscriptionResponse(sub coach.Subscription) SubscriptionResponse {
	return SubscriptionResponse{
		Tier: sub.Tier.Name, RequestedTier: wire.OrNull(sub.Requested), Since: wire.Timestamp(sub.Since), Details: newTierResponse(sub.Tier),
		Use: UseResponse{Players: sub.Usage.Players, StorageBytes: sub.Usage.StorageBytes, MessagesToday: sub.Usage.Messages},
	}
}

// subscription serves GET /api/coach/subscription.
func (h handlers) subscription(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	sub, err := h.Subscriptions.Subscription(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(NewSubscriptionResponse(sub)), nil
}

type subscriptionRequest struct {
	Tier string `json:"tier" rule:"required,min=1,max=40"`
}

// chooseTier serves PUT /api/coach/subscription: 202 if an operator decides.
func (h handlers) chooseTier(ctx context.Context, r api.Request[subscriptionRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	sub, err := h.Subscriptions.Choose(ctx, r.Caller.Actor, in.Tier)
	if err != nil {
		return api.Response{}, err
	}
	if sub.Requested != "" {
		return endpoint.Accepted(NewSubscriptionResponse(sub)), nil
	}
	return endpoint.OK(NewSubscriptionResponse(sub)), nil
}
