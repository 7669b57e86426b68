package api

import (
	"net/http"
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
func (s *Server) changeNumber(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[changeNumberRequest](r)
	to := s.number(in.NewNumber, "/new_mobile_number", &f)
	otp, newOTP := digits(in.OTP, "/otp", &f), digits(in.NewOTP, "/new_otp", &f)
	if err := f.err(); err != nil {
		return err
	}
	by, ended, err := s.auth.ChangeNumber(r.Context(), caller(r), in.DeviceToken, otp, to, newOTP)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, changeNumberResponse{newAccountResponse(by), ended})
}
