package admin

import (
	"context"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type tierRequestResponse struct {
	CoachID       string  `json:"coach_id"`
	CoachName     *string `json:"coach_name"`
	Tier          string  `json:"tier"`
	RequestedTier string  `json:"requested_tier"`
	RequestedAt   string  `json:"requested_at"`
}

// listTierRequests serves GET /api/admin/tier-requests, oldest first.
func (s *Server) listTierRequests(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	page := s.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	after := coach.TierRequestCursor{At: page.After.Time(), CoachID: page.After.ID}
	found, err := s.Subscriptions.Requests(ctx, r.Caller.Operator(), after, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, found, func(t coach.TierRequest) tierRequestResponse {
		return tierRequestResponse{
			CoachID: t.CoachID, CoachName: wire.OrNull(t.CoachName), Tier: s.Subscriptions.Tiers.Of(t.Tier).Name,
			RequestedTier: t.Requested, RequestedAt: wire.Timestamp(t.At),
		}
	}, func(t coach.TierRequest) Keyset { return KeysetAt(t.At, t.CoachID) }), nil
}

// approveTier serves POST /api/admin/tier-requests/{coach_id}/approve.
func (s *Server) approveTier(ctx context.Context, r Request[tierRequest], id string) (Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return Response{}, s.missingCoachOr(ctx, id, err)
	}
	if _, err := s.Subscriptions.Approve(ctx, r.Caller.Operator(), id, in.Tier); err != nil {
		return Response{}, err
	}
	return s.readCoach(ctx, r.Caller, id)
}

type refuseTierRequest struct {
	Tier   string `json:"tier" rule:"required,min=1,max=100"`
	Reason string `json:"reason" rule:"required,name,lines,min=1,max=500"`
}

// refuseTier serves POST /api/admin/tier-requests/{coach_id}/refuse.
func (s *Server) refuseTier(ctx context.Context, r Request[refuseTierRequest], id string) (Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return Response{}, s.missingCoachOr(ctx, id, err)
	}
	if _, err := s.Subscriptions.Refuse(ctx, r.Caller.Operator(), id, in.Tier, in.Reason); err != nil {
		return Response{}, err
	}
	return s.readCoach(ctx, r.Caller, id)
}
