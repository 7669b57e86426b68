package api

import (
	"context"

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
func (s *Server) listSessions(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	p := s.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	by := r.Caller.Actor
	sessions, err := s.Auth.Sessions(ctx, by, p.After.ID, p.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(p, sessions, func(session *auth.Session) sessionResponse {
		return sessionResponse{
			SessionID: session.ID, DeviceName: wire.OrNull(session.DeviceName), Role: string(session.Role),
			CreatedAt: wire.Timestamp(session.CreatedAt), LastUsedAt: wire.Timestamp(session.LastUsedAt), Current: session.ID == by.SessionID,
		}
	}, func(session *auth.Session) Keyset { return Keyset{ID: session.ID} }), nil
}

// endSession serves DELETE /auth/sessions/{session_id}.
func (s *Server) endSession(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	by := r.Caller.Actor
	if err := s.Auth.EndSession(ctx, by, id); err != nil {
		return Response{}, err
	}
	s.Streams.Hub.Wake(by.AccountID)
	return endpoint.NoContent(), nil
}
