package consent

import (
	"context"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
)

// rebuildPlayer returns the response of addPlayer again.
func (h handlers) rebuildPlayer(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	p, err := h.Player(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/players/"+p.ID, h.view(m.Caller).player(p)), nil
}

// rebuildGuardian returns the response of addGuardian again.
func (h handlers) rebuildGuardian(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	request, err := h.OwnRequest(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	p, err := h.Player(ctx, m.Caller.Actor, request.PlayerID)
	if err != nil {
		return api.Response{}, err
	}
	return h.guardianAdded(m.Caller, p, request.GuardianID)
}

// rebuildRequest returns the response of a call that opened, sent again or closed a
// request.
func (h handlers) rebuildRequest(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	request, err := h.OwnRequest(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	body := h.view(m.Caller).request(request)
	if w.New {
		return endpoint.Created("/api/approval/requests/"+request.ID, body), nil
	}
	return endpoint.OK(body), nil
}

// rebuildReminder returns the response of sendReminder again.
func (h handlers) rebuildReminder(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	request, err := h.OwnRequest(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Accepted(reminderResponse{h.view(m.Caller).request(request), w.Number}), nil
}
