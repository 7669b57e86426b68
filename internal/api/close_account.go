package api

import (
	"net/http"
)

type closeAccountRequest struct {
	OTP         string `json:"otp" rule:"required,max=64"`
	DeviceToken string `json:"device_token" rule:"secret,min=1,max=128"`
}

// closeAccount serves DELETE /api/me.
func (s *Server) closeAccount(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[closeAccountRequest](r)
	otp := digits(in.OTP, "/otp", &f)
	if err := f.err(); err != nil {
		return err
	}
	by := caller(r)
	if err := s.auth.Close(r.Context(), by, in.DeviceToken, otp); err != nil {
		return err
	}
	s.hub.Wake(by.AccountID)
	return nothing(w)
}
