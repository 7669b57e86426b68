package signin

import (
	"context"

	"github.com/touchline/touchline/internal/api"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
)

type changeNumberRequest struct {
	OTP         string `json:"otp" rule:"required,max=64"`
	NewNumber   string `json:"new_mobile_number" rule:"required,min=1,max=64"`
	NewOTP      string `json:"new_otp" rule:"required,max=64"`
	DeviceToken string `json:"device_token" rule:"secret,min=1,max=128"`
}

type changeNumberResponse struct {
	Account       accountResponse `json:"account"`
	SessionsEnded int             `json:"sessions_ended"`
}

// changeNumber serves POST /auth/change-number.
func (h handlers) changeNumber(ctx context.Context, r api.Request[changeNumberRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	to := h.number(in.NewNumber, "/new_mobile_number", &f)
	otp, newOTP := digits(in.OTP, "/otp", &f), digits(in.NewOTP, "/new_otp", &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	by, ended, err := h.Auth.ChangeNumber(ctx, r.Caller.Actor, in.DeviceToken, otp, to, newOTP)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(changeNumberResponse{newAccountResponse(by), ended}), nil
}

// rebuildNumberChange returns the response of changeNumber again. The caller's session
// has the new number already.
func (h handlers) rebuildNumberChange(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	by, err := h.Auth.CurrentActor(ctx, m.Caller.Actor)
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(changeNumberResponse{newAccountResponse(by), w.Number}), nil
}
