package touchline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Account is the account of a session.
type Account struct {
	ID           string `json:"id"`
	Role         string `json:"role"`
	MobileNumber string `json:"mobile_number"`
}

// Tokens is the response to a sign-in or a refresh.
type Tokens struct {
	AccessToken     string  `json:"access_token"`
	ExpiresIn       int     `json:"expires_in"`
	RefreshToken    string  `json:"refresh_token"`
	SessionID       string  `json:"session_id"`
	DeviceToken     string  `json:"device_token"`
	Account         Account `json:"account"`
	ProfileComplete bool    `json:"profile_complete"`
	Next            string  `json:"next"`
}

// stored is a session in the Store. WorksUntil is in the time of this device.
type stored struct {
	Tokens
	WorksUntil time.Time `json:"works_until"`
}

// Session is one signed-in account.
type Session struct {
	base  string
	http  *http.Client // without the session
	store Store
	name  string

	refreshing sync.Mutex
}

// RequestOTP sends an OTP to a number in a role, with the device token of both. channel is "sms", "chat", "voice", "email" or "".
func (s *Session) RequestOTP(ctx context.Context, number, role, channel string) error {
	return s.post(ctx, "/auth/request-otp", s.identity(ctx, number, role, map[string]string{"channel": channel}), nil, nil)
}

// SignIn signs in with an OTP. After a lost response the same key asks for it again, so the OTP is not lost.
func (s *Session) SignIn(ctx context.Context, number, role, otp string) (Tokens, error) {
	var tokens Tokens
	if err := s.post(ctx, "/auth/login", s.identity(ctx, number, role, map[string]string{"otp": otp}), nil, &tokens); err != nil {
		return Tokens{}, err
	}
	return tokens, s.Adopt(ctx, tokens, number)
}

// Adopt stores the tokens of another way to sign in, such as a passkey. number is as the person typed it.
func (s *Session) Adopt(ctx context.Context, tokens Tokens, number string) error {
	err := errors.Join(
		s.store.Set(ctx, s.deviceKey(number, tokens.Account.Role), tokens.DeviceToken),
		s.store.Set(ctx, s.deviceKey(tokens.Account.MobileNumber, tokens.Account.Role), tokens.DeviceToken))
	if err != nil {
		return err
	}
	_, err = s.write(ctx, tokens)
	return err
}

// SignOut ends the session, with everywhere all sessions of the number. The tokens are deleted even if the service cannot be reached.
func (s *Session) SignOut(ctx context.Context, everywhere bool) error {
	current, err := s.read(ctx)
	if err != nil {
		return err
	}
	if err := s.store.Delete(ctx, s.key()); err != nil || current == nil {
		return err
	}
	body := map[string]any{"refresh_token": current.RefreshToken}
	if everywhere {
		body["all"] = true
	}
	err = s.post(ctx, "/auth/logout", body, http.Header{"Authorization": {"Bearer " + current.AccessToken}}, nil)
	if p, ok := errors.AsType[*Problem](err); ok && p.Status == http.StatusUnauthorized {
		return nil
	}
	return err
}

// Account returns the account that is signed in. The error is SignedOut without one.
func (s *Session) Account(ctx context.Context) (Account, error) {
	current, err := s.read(ctx)
	if err == nil && current == nil {
		err = &SignedOut{"signed_out"}
	}
	if err != nil {
		return Account{}, err
	}
	return current.Account, nil
}

// current returns tokens that work for some seconds.
func (s *Session) current(ctx context.Context) (*stored, error) {
	current, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	if current == nil {
		return nil, &SignedOut{"signed_out"}
	}
	if time.Until(current.WorksUntil) < 5*time.Second {
		return s.refresh(ctx, current)
	}
	return current, nil
}

// refresh replaces tokens. Concurrent calls share one refresh: the later ones find other tokens in the store.
func (s *Session) refresh(ctx context.Context, used *stored) (*stored, error) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	current, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	if current == nil {
		return nil, &SignedOut{"signed_out"}
	}
	if current.RefreshToken != used.RefreshToken {
		return current, nil
	}
	var tokens Tokens
	err = s.post(ctx, "/auth/refresh", map[string]string{"refresh_token": current.RefreshToken}, nil, &tokens)
	if err == nil {
		return s.write(ctx, tokens)
	}
	p, ok := errors.AsType[*Problem](err)
	if !ok || p.Status != http.StatusUnauthorized {
		return nil, err
	}
	if p.Code == "refresh_token_raced" { // another process with this store has refreshed
		if newer, err := s.read(ctx); err == nil && newer != nil && newer.RefreshToken != current.RefreshToken {
			return newer, nil
		}
	}
	return nil, s.end(ctx, p.Code)
}

func (s *Session) end(ctx context.Context, reason string) error {
	return errors.Join(&SignedOut{reason}, s.store.Delete(ctx, s.key()))
}

// RoundTrip sends a request with the access token, and once more after a refresh. It implements http.RoundTripper.
func (s *Session) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := bufferBody(req); err != nil {
		return nil, err
	}
	current, err := s.current(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := s.send(req, current)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	switch code := peekCode(resp); code {
	case "token_expired", "token_invalid":
		_ = resp.Body.Close()
		fresh, err := s.refresh(req.Context(), current)
		if err != nil {
			return nil, err
		}
		return s.send(req, fresh)
	case "session_revoked":
		_ = resp.Body.Close()
		return nil, s.end(req.Context(), code)
	}
	return resp, nil
}

func (s *Session) send(req *http.Request, tokens *stored) (*http.Response, error) {
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	again.Header.Set("Authorization", "Bearer "+tokens.AccessToken)
	return s.http.Transport.RoundTrip(again)
}

func (s *Session) post(ctx context.Context, path string, body any, header http.Header, out any) error {
	req, err := newRequest(ctx, http.MethodPost, s.base+path, body)
	if err != nil {
		return err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	return decode(s.http, req, out)
}

// identity returns fields with the number, the role and the device token of both. Empty fields are left out.
func (s *Session) identity(ctx context.Context, number, role string, fields map[string]string) map[string]string {
	device, _ := s.store.Get(ctx, s.deviceKey(number, role)) // without it the sign-in has smaller limits
	body := map[string]string{"mobile_number": number, "role": role, "device_token": device}
	for name, value := range fields {
		body[name] = value
	}
	for name, value := range body {
		if value == "" {
			delete(body, name)
		}
	}
	return body
}

func (s *Session) key() string { return s.name + ".session" }

var notDigits = regexp.MustCompile(`\D`)

// deviceKey names the device token of a number in a role. The last ten digits are the same in every spelling of a number.
func (s *Session) deviceKey(number, role string) string {
	digits := notDigits.ReplaceAllString(number, "")
	return strings.Join([]string{s.name, "device", role, digits[max(0, len(digits)-10):]}, ".")
}

func (s *Session) read(ctx context.Context) (*stored, error) {
	text, err := s.store.Get(ctx, s.key())
	if err != nil || text == "" {
		return nil, err
	}
	current := new(stored)
	if err := json.Unmarshal([]byte(text), current); err != nil {
		return nil, fmt.Errorf("read the stored session: %w", err)
	}
	return current, nil
}

// write stores new tokens before the new access token is used.
func (s *Session) write(ctx context.Context, tokens Tokens) (*stored, error) {
	current := &stored{tokens, time.Now().Add(time.Duration(tokens.ExpiresIn) * time.Second)}
	text, err := json.Marshal(current)
	if err != nil {
		return nil, err
	}
	return current, s.store.Set(ctx, s.key(), string(text))
}
