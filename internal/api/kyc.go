package api

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type kycResponse struct {
	State       string   `json:"state"`
	Reason      *string  `json:"reason"`
	LegalName   *string  `json:"legal_name"`
	DocumentIDs []string `json:"document_ids"`
	SubmittedAt *string  `json:"submitted_at"`
	DecidedAt   *string  `json:"decided_at"`
}

func newKYCResponse(state coach.KYCState, sub coach.Submission) kycResponse {
	ids := sub.DocumentIDs
	if ids == nil {
		ids = []string{}
	}
	return kycResponse{
		State: string(state), Reason: wire.OrNull(sub.Reason), LegalName: wire.OrNull(sub.LegalName), DocumentIDs: ids,
		SubmittedAt: wire.TimestampOrNull(sub.SubmittedAt), DecidedAt: wire.TimestampOrNull(sub.DecidedAt),
	}
}

// kyc serves GET /api/coach/kyc.
func (s *Server) kyc(ctx context.Context, r Request[NoBody]) (Response, error) {
	state, sub, err := s.Verifications.State(ctx, r.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newKYCResponse(state, sub)), nil
}

type kycRequest struct {
	LegalName   string   `json:"legal_name" rule:"required,name,min=1,max=100"`
	DocumentIDs []string `json:"document_ids" rule:"required,min=1,max=10,id"`
}

// submitKYC serves POST /api/coach/kyc.
func (s *Server) submitKYC(ctx context.Context, r Request[kycRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	seen := map[string]bool{}
	for i, id := range in.DocumentIDs {
		if seen[id] {
			f.Add(wire.PointTo("/document_ids", i), "duplicate", "Name each document once.")
		}
		seen[id] = true
	}
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	state, sub, err := s.Verifications.Submit(ctx, r.Caller.Actor, in.LegalName, in.DocumentIDs)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/coach/kyc", newKYCResponse(state, sub)), nil
}
