package handlers

import (
	"context"

	"github.com/touchline/touchline/internal/api"

	"github.com/touchline/touchline/internal/platform/endpoint"
)

type closeAccountRequest struct {
	OTP         string `json:"otp" rule:"required,max=64"`
	DeviceToken string `json:"device_token" rule:"secret,min=1,max=128"`
}

// closeAccount serves DELETE /api/me.
func (h calls) closeAccount(ctx context.Context, r api.Request[closeAccountRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	otp := digits(in.OTP, "/otp", &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	by := r.Caller.Actor
	if err := h.api.Auth.Close(ctx, by, in.DeviceToken, otp); err != nil {
		return api.Response{}, err
	}
	h.api.Streams.Hub.Wake(by.AccountID)
	return endpoint.NoContent(), nil
}
