package verification

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Operations returns the operations of a coach about the coach's verification.
func (s *Service) Operations(a *api.Server) []api.Route {
	return []api.Route{
		{Method: "GET", Pattern: "/api/coach/kyc", Handle: endpoint.Handle(s.get), Authorize: api.CoachOnly},
		{Method: "POST", Pattern: "/api/coach/kyc", Handle: a.Idempotent(endpoint.Handle(s.submit), s.rebuild), Authorize: api.CoachOnly, Body: endpoint.JSON},
	}
}

type stateResponse struct {
	State       string   `json:"state"`
	Reason      *string  `json:"reason"`
	LegalName   *string  `json:"legal_name"`
	DocumentIDs []string `json:"document_ids"`
	SubmittedAt *string  `json:"submitted_at"`
	DecidedAt   *string  `json:"decided_at"`
	// Marked and Unmarked say whether families see the mark of a verified identity, and why not.
	Marked   bool     `json:"marked"`
	Unmarked []string `json:"unmarked"`
}

func newStateResponse(state coach.KYCState, sub Submission, unmarked []string) stateResponse {
	if state != coach.Verified {
		unmarked = []string{}
	}
	ids := sub.DocumentIDs
	if ids == nil {
		ids = []string{}
	}
	return stateResponse{
		State: string(state), Reason: wire.OrNull(sub.Reason), LegalName: wire.OrNull(sub.LegalName), DocumentIDs: ids,
		SubmittedAt: wire.TimestampOrNull(sub.SubmittedAt), DecidedAt: wire.TimestampOrNull(sub.DecidedAt),
		Marked: state == coach.Verified && len(unmarked) == 0, Unmarked: unmarked,
	}
}

// get serves GET /api/coach/kyc.
func (s *Service) get(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	state, sub, err := s.State(ctx, r.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	profile, err := coach.Store{DB: s.DB}.Profile(ctx, r.Caller.Actor.AccountID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newStateResponse(state, sub, profile.Unmarked())), nil
}

type submitRequest struct {
	LegalName   string   `json:"legal_name" rule:"required,name,min=1,max=100"`
	DocumentIDs []string `json:"document_ids" rule:"required,min=1,max=10,id"`
}

// submit serves POST /api/coach/kyc.
func (s *Service) submit(ctx context.Context, r api.Request[submitRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	seen := map[string]bool{}
	for i, id := range in.DocumentIDs {
		if seen[id] {
			f.Add(wire.PointTo("/document_ids", i), "duplicate", "Name each document once.")
		}
		seen[id] = true
	}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	state, sub, err := s.Submit(ctx, r.Caller.Actor, in.LegalName, in.DocumentIDs)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/coach/kyc", newStateResponse(state, sub, nil)), nil
}

// rebuild returns the response of submit again.
func (s *Service) rebuild(ctx context.Context, m api.Meta, _ idempotency.Work) (api.Response, error) {
	state, sub, err := s.State(ctx, m.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/coach/kyc", newStateResponse(state, sub, nil)), nil
}
