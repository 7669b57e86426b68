package api

import (
	"context"

	"github.com/touchline/touchline/internal/platform/endpoint"
)

type closeAccountRequest struct {
	OTP         string `json:"otp" rule:"required,max=64"`
	DeviceToken string `json:"device_token" rule:"secret,min=1,max=128"`
}

// closeAccount serves DELETE /api/me.
func (s *Server) closeAccount(ctx context.Context, r Request[closeAccountRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	otp := digits(in.OTP, "/otp", &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	by := r.Caller.Actor
	if err := s.Auth.Close(ctx, by, in.DeviceToken, otp); err != nil {
		return Response{}, err
	}
	s.Streams.Hub.Wake(by.AccountID)
	return endpoint.NoContent(), nil
}
