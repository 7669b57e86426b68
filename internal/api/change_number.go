package api

import (
	"context"

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
func (s *Server) changeNumber(ctx context.Context, r Request[changeNumberRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	to := s.number(in.NewNumber, "/new_mobile_number", &f)
	otp, newOTP := digits(in.OTP, "/otp", &f), digits(in.NewOTP, "/new_otp", &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	by, ended, err := s.Auth.ChangeNumber(ctx, r.Caller.Actor, in.DeviceToken, otp, to, newOTP)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(changeNumberResponse{newAccountResponse(by), ended}), nil
}

// rebuildNumberChange returns the response of changeNumber again. The caller's session
// has the new number already.
func (s *Server) rebuildNumberChange(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	by, err := s.Auth.CurrentActor(ctx, m.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(changeNumberResponse{newAccountResponse(by), w.Number}), nil
}
