package signin

import (
	"context"

	"github.com/touchline/touchline/internal/api"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type sessionResponse struct {
	SessionID  string  `json:"session_id"`
	DeviceName *string `json:"device_name"`
	Role       string  `json:"role"`
	CreatedAt  string  `json:"created_at"`
	LastUsedAt string  `json:"last_used_at"`
	Current    bool    `json:"current"`
}

// listSessions serves GET /auth/sessions, newest first.
func (h handlers) listSessions(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	p := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	by := r.Caller.Actor
	sessions, err := h.Auth.Sessions(ctx, by, p.After.ID, p.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(p, sessions, func(session *auth.Session) sessionResponse {
		return sessionResponse{
			SessionID: session.ID, DeviceName: wire.OrNull(session.DeviceName), Role: string(session.Role),
			CreatedAt: wire.Timestamp(session.CreatedAt), LastUsedAt: wire.Timestamp(session.LastUsedAt), Current: session.ID == by.SessionID,
		}
	}, func(session *auth.Session) api.Keyset { return api.Keyset{ID: session.ID} }), nil
}

// endSession serves DELETE /auth/sessions/{session_id}.
func (h handlers) endSession(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	by := r.Caller.Actor
	if err := h.Auth.EndSession(ctx, by, id); err != nil {
		return api.Response{}, err
	}
	h.Streams.Hub.Wake(by.AccountID)
	return endpoint.NoContent(), nil
}
