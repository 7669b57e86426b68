package signin

import (
	"context"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/api"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
)

type requestOTPRequest struct {
	MobileNumber string `json:"mobile_number" rule:"required,min=1,max=64"`
	Role         string `json:"role" rule:"oneof=coach|guardian|student"`
	Channel      string `json:"channel" rule:"oneof=sms|chat|voice|email|whatsapp_inbound|sms_inbound"`
	DeviceToken  string `json:"device_token" rule:"secret,min=1,max=128"`
}

// proof returns the proof in a request for a code or with a code.
func proof(deviceToken, channel string) auth.Proof {
	return auth.Proof{DeviceToken: deviceToken, ByEmail: channel == "email"}
}

type requestOTPResponse struct {
	ExpiresIn int `json:"expires_in"`
	ResendIn  int `json:"resend_in"`
	OTPLength int `json:"otp_length"`
	// AttemptsBlockedUntil is set while no code can be used.
	AttemptsBlockedUntil *string `json:"attempts_blocked_until,omitempty"`
	// SendTo, Text and URL say what the person sends. Only the channels whatsapp_inbound and sms_inbound set them.
	SendTo string `json:"send_to,omitempty"`
	Text   string `json:"text,omitempty"`
	URL    string `json:"url,omitempty"`
}

// requestOTP serves POST /auth/request-otp.
func (h handlers) requestOTP(ctx context.Context, r api.Request[requestOTPRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	key := h.challengeKey(in.MobileNumber, in.Role, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	issued, err := h.Auth.RequestOTP(ctx, auth.OTPRequest{
		Number: key.Number, Role: key.Role, Proof: proof(in.DeviceToken, in.Channel), Network: r.Client, ByVoice: in.Channel == "voice",
		ByChat: in.Channel == "chat", Incoming: incoming(in.Channel), AskedWith: askedWith(r.Header.Get("User-Agent")),
	})
	if err != nil {
		return api.Response{}, err
	}
	response := requestOTPResponse{
		ExpiresIn: wire.Seconds(issued.ExpiresIn), ResendIn: wire.CeilSeconds(issued.ResendIn), OTPLength: issued.Length,
		AttemptsBlockedUntil: wire.TimestampOrNull(issued.BlockedUntil),
	}
	if by := incoming(in.Channel); by != "" {
		settings := h.Auth.Settings
		response.SendTo, response.Text = settings.AskNumber(by), message.SignInText(language.Match(r.Header.Get("Accept-Language")), settings.Brand)
		response.URL = settings.AskURL(by, escapedText(response.Text))
	}
	return endpoint.Accepted(response), nil
}

// incoming returns the channel on which the person asks for the code, or "" for another channel.
func incoming(channel string) auth.Incoming {
	if in := auth.Incoming(channel); in == auth.WhatsAppIncoming || in == auth.SMSIncoming {
		return in
	}
	return ""
}

// escapedText escapes the text of a link to a chat or an SMS.
func escapedText(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// askedWith returns the browser and device of a caller, or "" for an app.
func askedWith(userAgent string) string {
	if name := deviceName(userAgent); name != unknownBrowser {
		return name
	}
	return ""
}

type verifyOTPRequest struct {
	MobileNumber string `json:"mobile_number" rule:"required,min=1,max=64"`
	OTP          string `json:"otp" rule:"required,max=64"`
	Role         string `json:"role" rule:"oneof=coach|guardian|student"`
	Channel      string `json:"channel" rule:"oneof=sms|chat|voice|email|whatsapp_inbound|sms_inbound"`
	DeviceToken  string `json:"device_token" rule:"secret,min=1,max=128"`
}

type verifyOTPResponse struct {
	Verified   bool `json:"verified"`
	ExpiresIn  int  `json:"expires_in"`
	Registered bool `json:"registered"`
}

// verifyOTP serves POST /auth/verify-otp.
func (h handlers) verifyOTP(ctx context.Context, r api.Request[verifyOTPRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	key, otp := h.challengeKey(in.MobileNumber, in.Role, &f), digits(in.OTP, "/otp", &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	verified, err := h.Auth.VerifyOTP(ctx, key, otp, proof(in.DeviceToken, in.Channel))
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(verifyOTPResponse{
		Verified: true, ExpiresIn: wire.Seconds(verified.ExpiresIn), Registered: verified.Registered,
	}), nil
}

// challengeKey returns the number in the role; the default role is coach.
func (h handlers) challengeKey(number, role string, f *wire.Faults) auth.ChallengeKey {
	if role == "" {
		role = string(actor.Coach)
	}
	return auth.ChallengeKey{Number: h.number(number, "/mobile_number", f), Role: actor.Role(role)}
}

// number parses a mobile number as a person types it. It ignores "" and a field that has
// a fault: the rules of the field report these.
func (h handlers) number(typed, at string, f *wire.Faults) phone.Number {
	return h.api.Reader(f).Number(at, typed)
}

// The lengths that the setting OTP_LENGTH allows.
const minOTP, maxOTP = 4, 10

// digits reads an OTP as a person types or pastes it: see input.Code. A text that cannot be an OTP is a fault and does not count as an attempt.
func digits(typed, at string, f *wire.Faults) string {
	otp := input.Code(typed)
	if len(otp) < minOTP || len(otp) > maxOTP || strings.Trim(otp, "0123456789") != "" {
		f.Add(at, "invalid_otp", "This is not an OTP. Send the digits of the code.")
	}
	return otp
}
