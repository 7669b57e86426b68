package api

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/wire"
)

// approvalStatus serves GET /api/players/approval-status/{playerId}.
func (s *Server) approvalStatus(ctx context.Context, r Request[noBody]) (Response, error) {
	id, err := r.PathID("playerId")
	if err != nil {
		return Response{}, err
	}
	p, history, err := s.approvals.Status(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(s.view(r.Caller).status(p, history)), nil
}

// respond serves PUT /api/approval/guardian-response and student-response. The
// party is the role of the session; the routes let in one role each.
func (s *Server) respond(ctx context.Context, r Request[decisionRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	if err := s.checkBody(ctx, r.Caller.Actor, in.PlayerID, f); err != nil {
		return Response{}, err
	}
	p, history, err := s.approvals.Decide(ctx, r.Caller.Actor, in.PlayerID, in.decision())
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(s.view(r.Caller).status(p, history)), nil
}

// listPending serves GET /api/coach/pending-approvals.
func (s *Server) listPending(ctx context.Context, r Request[noBody]) (Response, error) {
	var f wire.Faults
	page := s.page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	items, err := s.approvals.Pending(ctx, r.Caller.Actor, approval.Page{Limit: page.ReadLimit(), After: page.After.approval()})
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, items, s.view(r.Caller).pending, func(i approval.PendingItem) keyset {
		return keysetOf(approval.Keyset{At: i.PendingSince, ID: i.PlayerID, Party: i.Party})
	}), nil
}
