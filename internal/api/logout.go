package api

import (
	"net/http"
)

type logoutRequest struct {
	All          bool    `json:"all"`
	RefreshToken *string `json:"refresh_token" rule:"secret,min=1"`
}

// logout serves POST /auth/logout. The access token names the session or, where
// it is missing or has expired, the refresh token does.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[logoutRequest](r)
	refused := callOf(r.Context()).refused
	if refused != nil && in.RefreshToken == nil {
		return refused
	}
	if err := f.err(); err != nil {
		return err
	}
	var err error
	if refused == nil {
		err = s.auth.Logout(r.Context(), caller(r), in.All)
	} else {
		err = s.auth.LogoutByRefresh(r.Context(), *in.RefreshToken, in.All)
	}
	if err != nil {
		return err
	}
	s.hub.Wake(caller(r).AccountID)
	return nothing(w)
}
