package signin

import (
	"context"

	"github.com/touchline/touchline/internal/api"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
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

// me serves GET /api/me.
func (h handlers) me(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	by := r.Caller.Actor
	out := meResponse{Account: newAccountResponse(by), Role: string(by.Role), ProfileComplete: true}
	own, err := h.Auth.Store.Own(ctx, by)
	if err != nil {
		return api.Response{}, err
	}
	out.Roles = append([]actor.Role{}, own.Roles...) // [] if the last player of the number was deleted
	out.UnreadNotifications, out.Name = own.Unread, wire.OrNull(own.Name)
	if by.Role == actor.Coach {
		out.ProfileComplete = h.Coaches.Completed(own.FilledFields)
	}
	out.Next = nextScreen(by.Role, out.ProfileComplete)
	return endpoint.OK(out), nil
}

type closeAccountRequest struct {
	OTP         string `json:"otp" rule:"max=64"`
	DeviceToken string `json:"device_token" rule:"secret,min=1,max=128"`
}

// closeAccount serves DELETE /api/me.
func (h handlers) closeAccount(ctx context.Context, r api.Request[closeAccountRequest]) (api.Response, error) {
	in, f, by := r.Body, r.Faults, r.Caller.Actor
	if by.Role != actor.Coach {
		return h.leaveAccount(ctx, by, f)
	}
	otp := digits(in.OTP, "/otp", &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	if err := h.Auth.Close(ctx, by, in.DeviceToken, otp); err != nil {
		return api.Response{}, err
	}
	h.Streams.Hub.Wake(by.AccountID)
	return endpoint.NoContent(), nil
}

// leaveAccount deletes the account of a guardian or student.
func (h handlers) leaveAccount(ctx context.Context, by actor.Actor, f wire.Faults) (api.Response, error) {
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	recent, err := h.Auth.HasRecentOTP(ctx, by)
	if err == nil && !recent {
		err = fault.New(fault.Forbidden, "fresh_otp_required", "Sign in again, with an OTP or a passkey. Then delete the account within 15 minutes.")
	}
	if err == nil {
		err = h.Leave(ctx, by)
	}
	if err != nil {
		return api.Response{}, err
	}
	h.Streams.Hub.Wake(by.AccountID)
	return endpoint.NoContent(), nil
}
