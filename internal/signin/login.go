package signin

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/api"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/keyed"
	"github.com/touchline/touchline/internal/platform/wire"
)

// keepLogin is how long a client whose response was lost can repeat a login.
const keepLogin = time.Minute

type loginRequest struct {
	MobileNumber string `json:"mobile_number" rule:"required,min=1,max=64"`
	OTP          string `json:"otp" rule:"required,max=64"`
	Role         string `json:"role" rule:"oneof=coach|guardian|student"`
	Channel      string `json:"channel" rule:"oneof=sms|chat|voice|email|whatsapp_inbound|sms_inbound"`
	DeviceName   string `json:"device_name" rule:"min=1,max=100"`
	DeviceToken  string `json:"device_token" rule:"secret,min=1,max=128"`
}

type accountResponse struct {
	ID           string `json:"id"`
	Role         string `json:"role"`
	MobileNumber string `json:"mobile_number"`
}

func newAccountResponse(by actor.Actor) accountResponse {
	return accountResponse{ID: by.AccountID, Role: string(by.Role), MobileNumber: string(by.Number)}
}

type tokenResponse struct {
	AccessToken      string          `json:"access_token"`
	TokenType        string          `json:"token_type"`
	ExpiresIn        int             `json:"expires_in"`
	RefreshToken     string          `json:"refresh_token"`
	RefreshExpiresIn int             `json:"refresh_expires_in"`
	SessionID        string          `json:"session_id"`
	DeviceToken      string          `json:"device_token"`
	Account          accountResponse `json:"account"`
	ProfileComplete  bool            `json:"profile_complete"`
	Next             string          `json:"next"`
}

// login serves POST /auth/login. With an Idempotency-Key the response can be repeated for
// a minute, while its session lives. A repeat with another body counts as a wrong code.
func (h handlers) login(ctx context.Context, r api.Request[loginRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	key, otp := h.challengeKey(in.MobileNumber, in.Role, &f), digits(in.OTP, "/otp", &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	return h.api.HandleOnce(ctx, r.Meta, keyed.Request{
		Owner: "login/" + string(key.Role) + "/" + string(key.Number), Keep: keepLogin, Body: r.Raw,
		CheckRepeat: func(ctx context.Context, same bool) error {
			return h.Auth.CheckLoginRepeat(ctx, key, proof(in.DeviceToken, in.Channel), same)
		},
		MayRepeat: h.Auth.CheckLoginSession,
		Rebuild: func(ctx context.Context, w idempotency.Work) (api.Response, error) {
			grant, err := h.Auth.LoginGrant(ctx, w.ID)
			if err != nil {
				return api.Response{}, err
			}
			return h.grantResponse(grant), nil
		},
		Handle: func(ctx context.Context, f wire.Faults) (api.Response, error) {
			if err := f.Err(); err != nil {
				return api.Response{}, err
			}
			grant, err := h.Auth.Login(ctx, key, otp, proof(in.DeviceToken, in.Channel), in.DeviceName)
			if err != nil {
				return api.Response{}, err
			}
			return h.grantResponse(grant).WithSubject(grant.Session.ID), nil
		},
	})
}

type refreshRequest struct {
	// No length rule: any invalid token is 401, so that the app signs in again.
	RefreshToken string `json:"refresh_token" rule:"required,secret,min=1"`
}

// refresh serves POST /auth/refresh.
func (h handlers) refresh(ctx context.Context, r api.Request[refreshRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	grant, err := h.Auth.Refresh(ctx, in.RefreshToken)
	if err != nil {
		return api.Response{}, err
	}
	return h.grantResponse(grant), nil
}

// grantResponse does not read the store: the OTP or the refresh token is used up, so a
// failed read would lose the tokens.
func (h handlers) grantResponse(g *auth.Grant) api.Response {
	by := g.Session.Actor()
	complete := by.Role != actor.Coach || h.Coaches.Completed(g.Session.FilledFields)
	return endpoint.OK(tokenResponse{
		AccessToken: g.AccessToken, TokenType: "Bearer", ExpiresIn: wire.Seconds(g.AccessEnds),
		RefreshToken: g.RefreshToken, RefreshExpiresIn: wire.Seconds(g.RefreshEnds),
		SessionID: g.Session.ID, DeviceToken: g.DeviceToken, Account: newAccountResponse(by),
		ProfileComplete: complete, Next: nextScreen(by.Role, complete),
	})
}

// nextScreen returns the screen that the app shows next.
func nextScreen(role actor.Role, complete bool) string {
	switch {
	case role != actor.Coach:
		return "approvals"
	case complete:
		return "dashboard"
	}
	return "complete_profile"
}
