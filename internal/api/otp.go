package api

import (
	"net/http"
	"strings"
	"unicode"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/phone"
)

type requestOTPRequest struct {
	MobileNumber string `json:"mobile_number" rule:"required,min=1,max=64"`
	Role         string `json:"role" rule:"oneof=coach|guardian|student"`
	Channel      string `json:"channel" rule:"oneof=sms"`
	DeviceToken  string `json:"device_token" rule:"secret,min=1,max=128"`
}

type requestOTPResponse struct {
	ExpiresIn int `json:"expires_in"`
	ResendIn  int `json:"resend_in"`
	OTPLength int `json:"otp_length"`
}

// requestOTP serves POST /auth/request-otp.
func (s *Server) requestOTP(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[requestOTPRequest](r)
	slot := s.slot(in.MobileNumber, in.Role, &f)
	if err := f.err(); err != nil {
		return err
	}
	asked, err := s.auth.RequestOTP(r.Context(), slot, in.DeviceToken, s.client(r))
	if err != nil {
		return err
	}
	return encode(w, http.StatusAccepted, requestOTPResponse{
		ExpiresIn: seconds(asked.ExpiresIn), ResendIn: wholeSeconds(asked.ResendIn), OTPLength: asked.Length,
	})
}

type verifyOTPRequest struct {
	MobileNumber string `json:"mobile_number" rule:"required,min=1,max=64"`
	OTP          string `json:"otp" rule:"required,max=64"`
	Role         string `json:"role" rule:"oneof=coach|guardian|student"`
	DeviceToken  string `json:"device_token" rule:"secret,min=1,max=128"`
}

type verifyOTPResponse struct {
	Verified   bool `json:"verified"`
	ExpiresIn  int  `json:"expires_in"`
	Registered bool `json:"registered"`
}

// verifyOTP serves POST /auth/verify-otp.
func (s *Server) verifyOTP(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[verifyOTPRequest](r)
	slot, otp := s.slot(in.MobileNumber, in.Role, &f), digits(in.OTP, "/otp", &f)
	if err := f.err(); err != nil {
		return err
	}
	verified, err := s.auth.VerifyOTP(r.Context(), slot, otp, in.DeviceToken)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, verifyOTPResponse{
		Verified: true, ExpiresIn: seconds(verified.ExpiresIn), Registered: verified.Registered,
	})
}

// slot returns the number in the role, coach where none is named.
func (s *Server) slot(number, role string, f *faults) auth.Slot {
	if role == "" {
		role = string(actor.Coach)
	}
	return auth.Slot{Number: s.number(number, "/mobile_number", f), Role: actor.Role(role)}
}

// number reads a mobile number as somebody typed it; "" notes a fault, unless
// nothing was typed, which is for the rules to judge.
func (s *Server) number(typed, at string, f *faults) phone.Number {
	if typed == "" || f.has(at) {
		return ""
	}
	n, err := s.phones.Parse(typed)
	if err != nil {
		f.add(at, "invalid_number", "This is "+err.Error()+".")
	}
	return n
}

// How many digits an OTP may have, whatever the setting (contract section 6).
const minOTP, maxOTP = 4, 10

// digits reads an OTP as somebody typed it, in the digits of any script, with
// spaces anywhere. What cannot be one at all is no try.
func digits(typed, at string, f *faults) string {
	otp := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return phone.ASCIIDigit(r)
	}, typed)
	if len(otp) < minOTP || len(otp) > maxOTP || strings.Trim(otp, "0123456789") != "" {
		f.add(at, "invalid_otp", "This is not an OTP: send the digits of the SMS.")
	}
	return otp
}
