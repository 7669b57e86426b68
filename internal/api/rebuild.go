package api

import (
	"context"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
)

// rebuildPlayer returns the response of addPlayer again.
func (s *Server) rebuildPlayer(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	p, err := s.Approvals.Player(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/players/"+p.ID, s.view(m.Caller).player(p)), nil
}

// rebuildRequest returns the response of a call that opened, sent again or closed a
// request.
func (s *Server) rebuildRequest(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	request, err := s.Approvals.OwnRequest(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	body := s.view(m.Caller).request(request)
	if w.New {
		return endpoint.Created("/api/approval/requests/"+request.ID, body), nil
	}
	return endpoint.OK(body), nil
}

// rebuildReminder returns the response of sendReminder again.
func (s *Server) rebuildReminder(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	request, err := s.Approvals.OwnRequest(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Accepted(reminderResponse{s.view(m.Caller).request(request), w.Number}), nil
}

// rebuildNumberChange returns the response of changeNumber again. The caller's session
// has the new number already.
func (s *Server) rebuildNumberChange(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	by, err := s.Auth.CurrentActor(ctx, m.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(changeNumberResponse{newAccountResponse(by), w.Number}), nil
}
