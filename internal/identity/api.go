package identity

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// handlers serves proofs as JSON.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of the proof of a guardian.
func (s *Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	return []api.Route{
		{Method: "POST", Pattern: "/api/approval/proof", Handle: endpoint.Handle(h.begin), Authorize: api.GuardianOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/approval/proof", Handle: endpoint.Handle(h.get), Authorize: api.GuardianOnly},
		{Method: "DELETE", Pattern: "/api/approval/proof", Handle: endpoint.Handle(h.withdraw), Authorize: api.GuardianOnly, Urgent: true},
	}
}

type beginRequest struct {
	PlayerID string  `json:"player_id" rule:"required,id"`
	Provider string  `json:"provider" rule:"required,min=1,max=30"`
	ReturnTo *string `json:"return_to" rule:"min=1,max=500"`
}

// begunResponse is the ProofStarted of openapi.yaml.
type begunResponse struct {
	ProofID   string `json:"proof_id"`
	URL       string `json:"url"`
	ExpiresIn int    `json:"expires_in"`
}

// begin serves POST /api/approval/proof.
func (h handlers) begin(ctx context.Context, r api.Request[beginRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	returnTo := ""
	if in.ReturnTo != nil {
		if returnTo = *in.ReturnTo; !h.mayReturnTo(returnTo) {
			f.Add("/return_to", "invalid_value", "This must begin with the address of the app, which APP_URL names.")
		}
	}
	if err := h.api.CheckFaults(ctx, r.Caller.Actor, in.PlayerID, f); err != nil {
		return api.Response{}, err
	}
	a, address, err := h.Begin(ctx, r.Caller.Actor, in.PlayerID, in.Provider, returnTo)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/approval/proof", begunResponse{a.ID, address, wire.Seconds(attemptFor)}), nil
}

// mayReturnTo reports whether a person may be sent to an address after the proof: to the app, or to this service.
func (s *Service) mayReturnTo(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	for _, allowed := range []string{s.AppURL, s.PublicURL} {
		a, err := url.Parse(allowed)
		if allowed != "" && err == nil && a.Scheme == u.Scheme && a.Host == u.Host {
			return true
		}
	}
	return false
}

// statusResponse is the AdultProof of openapi.yaml.
type statusResponse struct {
	State    string  `json:"state"`
	Method   *string `json:"method"`
	Provider *string `json:"provider"`
	At       *string `json:"at"`
	EndsAt   *string `json:"ends_at"`
	NameFit  *string `json:"name_fit"`
	Failure  *string `json:"failure"`
}

// get serves GET /api/approval/proof.
func (h handlers) get(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	st, err := h.Status(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(statusResponse{
		State: st.State, Method: wire.OrNull(st.Method), Provider: wire.OrNull(st.Provider), At: wire.TimestampOrNull(st.At), EndsAt: wire.TimestampOrNull(st.EndsAt),
		NameFit: wire.OrNull(st.NameFit), Failure: wire.OrNull(string(st.Failure)),
	}), nil
}

// withdraw serves DELETE /api/approval/proof.
func (h handlers) withdraw(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	if err := h.Withdraw(ctx, r.Caller.Actor); err != nil {
		return api.Response{}, err
	}
	return endpoint.NoContent(), nil
}
