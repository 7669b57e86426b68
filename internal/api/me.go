package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/actor"
)

type meResponse struct {
	Account             accountResponse `json:"account"`
	Role                string          `json:"role"`
	Roles               []actor.Role    `json:"roles"`
	Name                *string         `json:"name"`
	ProfileComplete     bool            `json:"profile_complete"`
	Next                string          `json:"next"`
	UnreadNotifications int             `json:"unread_notifications"`
}

// me serves GET /api/me. A guardian or student has no name here: each coach
// writes their own, and several children may share the number.
func (s *Server) me(w http.ResponseWriter, r *http.Request) error {
	by := caller(r)
	out := meResponse{Account: newAccountResponse(by), Role: string(by.Role), ProfileComplete: true}
	var err error
	if out.Roles, err = s.auth.Roles(r.Context(), by); err != nil {
		return err
	}
	if out.UnreadNotifications, err = s.tray.Unread(r.Context(), by); err != nil {
		return err
	}
	if by.Role == actor.Coach {
		p, err := s.coaches.Profile(r.Context(), by)
		if err != nil {
			return err
		}
		out.Name, out.ProfileComplete = orNull(p.Name), len(p.Missing(s.coaches.Required)) == 0
	}
	out.Next = nextScreen(by.Role, out.ProfileComplete)
	return encode(w, http.StatusOK, out)
}
