package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
)

// subscriptionRoutes are the tiers and the coach's own.
func (s *Server) subscriptionRoutes() []route {
	return []route{
		{method: "GET", pattern: "/api/subscription-tiers", handle: s.listTiers, roles: coachOnly},
		{method: "GET", pattern: "/api/coach/subscription", handle: s.subscription, roles: coachOnly},
		{method: "PUT", pattern: "/api/coach/subscription", handle: s.chooseTier, roles: coachOnly, body: bodyJSON},
	}
}

type tierResponse struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	SelfService bool           `json:"self_service"`
	Features    []string       `json:"features"`
	Limits      limitsResponse `json:"limits"`
	Shows       []string       `json:"shows"`
	KYCFor      []string       `json:"kyc_for"`
}

// limitsResponse has null where there is no limit.
type limitsResponse struct {
	Players           *int64 `json:"players"`
	UnverifiedPlayers *int64 `json:"unverified_players"`
	StorageBytes      *int64 `json:"storage_bytes"`
	MessagesPerDay    *int64 `json:"messages_per_day"`
}

// newTierResponse answers a tier.
func newTierResponse(t coach.Tier) tierResponse {
	limit := func(n int64) *int64 {
		if n == 0 {
			return nil
		}
		return &n
	}
	return tierResponse{
		Name: t.Name, Title: t.Title, SelfService: t.SelfService, Features: t.Features,
		Limits: limitsResponse{
			Players: limit(t.Limits.Players), UnverifiedPlayers: limit(t.Limits.UnverifiedPlayers),
			StorageBytes: limit(t.Limits.StorageBytes), MessagesPerDay: limit(t.Limits.MessagesPerDay),
		},
		Shows: t.Shows, KYCFor: t.KYCFor,
	}
}

// listTiers serves GET /api/subscription-tiers: all of them, as the configuration
// orders them.
func (s *Server) listTiers(w http.ResponseWriter, _ *http.Request) error {
	out := wire.List[tierResponse]{Items: []tierResponse{}}
	for _, t := range s.subscriptions.Tiers.List {
		out.Items = append(out.Items, newTierResponse(t))
	}
	return encode(w, http.StatusOK, out)
}

type subscriptionResponse struct {
	Tier    string       `json:"tier"`
	Since   string       `json:"since"`
	Details tierResponse `json:"details"`
	Use     useResponse  `json:"use"`
}

type useResponse struct {
	Players       int64 `json:"players"`
	StorageBytes  int64 `json:"storage_bytes"`
	MessagesToday int64 `json:"messages_today"`
}

func newSubscriptionResponse(sub coach.Subscription) subscriptionResponse {
	return subscriptionResponse{
		Tier: sub.Tier.Name, Since: timestamp(sub.Since), Details: newTierResponse(sub.Tier),
		Use: useResponse{Players: sub.Usage.Players, StorageBytes: sub.Usage.StorageBytes, MessagesToday: sub.Usage.Messages},
	}
}

// subscription serves GET /api/coach/subscription.
func (s *Server) subscription(w http.ResponseWriter, r *http.Request) error {
	sub, err := s.subscriptions.Subscription(r.Context(), caller(r))
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, newSubscriptionResponse(sub))
}

type subscriptionRequest struct {
	Tier string `json:"tier" rule:"required,min=1,max=40"`
}

// chooseTier serves PUT /api/coach/subscription.
func (s *Server) chooseTier(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[subscriptionRequest](r)
	if err := f.err(); err != nil {
		return err
	}
	sub, err := s.subscriptions.Choose(r.Context(), caller(r), in.Tier)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, newSubscriptionResponse(sub))
}
