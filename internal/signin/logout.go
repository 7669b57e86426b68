package signin

import (
	"context"

	"github.com/touchline/touchline/internal/api"

	"github.com/touchline/touchline/internal/platform/endpoint"
)

type logoutRequest struct {
	All          bool    `json:"all"`
	RefreshToken *string `json:"refresh_token" rule:"secret,min=1"`
}

// logout serves POST /auth/logout. The access token names the session. If it is missing or
// expired, the refresh token does.
func (h handlers) logout(ctx context.Context, r api.Request[logoutRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	signInError := r.Caller.SignInError
	if signInError != nil && in.RefreshToken == nil {
		return api.Response{}, signInError
	}
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	var err error
	if signInError == nil {
		err = h.Auth.Logout(ctx, r.Caller.Actor, in.All)
	} else {
		err = h.Auth.LogoutByRefresh(ctx, *in.RefreshToken, in.All)
	}
	if err != nil {
		return api.Response{}, err
	}
	h.Streams.Hub.Wake(r.Caller.Actor.AccountID)
	return endpoint.NoContent(), nil
}
