package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/auth"
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
func (s *Server) listSessions(w http.ResponseWriter, r *http.Request) error {
	var f faults
	p := s.page(r, r.URL.Query(), &f)
	if err := f.err(); err != nil {
		return err
	}
	by := caller(r)
	sessions, err := s.auth.Sessions(r.Context(), by, p.after.ID, p.more())
	if err != nil {
		return err
	}
	return answerPage(w, p, sessions, func(session *auth.Session) sessionResponse {
		return sessionResponse{
			SessionID: session.ID, DeviceName: orNull(session.DeviceName), Role: string(session.Role),
			CreatedAt: timestamp(session.CreatedAt), LastUsedAt: timestamp(session.LastUsedAt), Current: session.ID == by.SessionID,
		}
	}, func(session *auth.Session) keyset { return keyset{ID: session.ID} })
}

// endSession serves DELETE /auth/sessions/{session_id}.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "session_id")
	if err != nil {
		return err
	}
	by := caller(r)
	if err := s.auth.EndSession(r.Context(), by, id); err != nil {
		return err
	}
	s.hub.Wake(by.AccountID)
	return nothing(w)
}
