package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
)

// ChallengeRequest is the input of Store.OpenChallenge.
type ChallengeRequest struct {
	// Challenge is used unless its key has a live challenge already.
	Challenge   Challenge
	MaxAttempts int
	// LastSentBefore refuses to send if the key's last code was sent later and not used.
	LastSentBefore time.Time
	// Limits returns the limits of the send for a number with these roles.
	Limits func(RoleFacts) []Limit
	// Destination is where the code goes.
	Destination Destination
	// Channel is the channel that sends the code. It is empty for a test number, whose
	// code is fixed and not sent.
	Channel string
	// Incoming says that nothing leaves now: the person writes to the service and gets the code as the
	// answer. No limit counts the request, and the time of the last send stays.
	Incoming bool
	// Address is where a code that confirms an address goes. It is empty for other codes, which go
	// to the number or to its confirmed address.
	Address string
}

// ResendTooSoon is the error of a request too soon after the last code of its key.
type ResendTooSoon struct {
	SentAt time.Time
	// BlockedUntil is as in OpenedChallenge.
	BlockedUntil time.Time
}

// Error implements error.
func (ResendTooSoon) Error() string { return "a code was sent a moment ago" }

// OpenedChallenge is the result of Store.OpenChallenge.
type OpenedChallenge struct {
	EndsAt time.Time
	// BlockedUntil is set while too many wrong codes block the number, or the known device. No code
	// was then queued, because it could not be used.
	BlockedUntil time.Time
}

// IssuedOTP is the result of RequestOTP. It does not show whether the number holds
// the role.
type IssuedOTP struct {
	ExpiresIn time.Duration
	ResendIn  time.Duration
	Length    int
	// BlockedUntil is set while too many wrong codes block the number, or the known device: no code
	// can be used before, so none is sent. It does not depend on the roles of the number. It is set
	// also beside otp_resend_too_soon.
	BlockedUntil time.Time
}

// CheckUsable returns otp_attempts_exceeded if no code was sent because none can be used at now.
func (i IssuedOTP) CheckUsable(now time.Time) error {
	if i.BlockedUntil.IsZero() {
		return nil
	}
	return errAttemptsExceeded("otp_wrong_per_day", max(i.BlockedUntil.Sub(now), time.Second), now)
}

// OTPRequest asks for an OTP.
type OTPRequest struct {
	Number phone.Number
	Role   actor.Role
	Proof  Proof
	// Network is the network of the request: an IPv4 address or an IPv6 /64.
	Network string
	// Silent opens a challenge without an SMS: the caller typed a pair of short code and
	// number that does not match. It counts like a request for a number that does not hold
	// the role, and its response is the same.
	Silent bool
	// ByVoice asks for a call that speaks the code.
	ByVoice bool
	// ByChat asks for a message by WhatsApp, whatever the setting WHATSAPP says about OTPs.
	ByChat bool
	// Incoming opens a challenge whose code is the answer to a message of the person.
	Incoming Incoming
	// AskedWith is the browser and device of the caller, or empty.
	AskedWith string
	// ConfirmAddress is an e-mail address that the code confirms for the number, or empty.
	ConfirmAddress string
}

// RequestOTP opens a challenge and queues its SMS or mail. The worker checks whether the number
// holds the role and has a confirmed address before it sends the message, so that the response and
// its timing are the same for every number. Errors: destination_blocked, otp_resend_too_soon,
// otp_send_limit, and validation_failed without mail, calls or chat.
func (s *Service) RequestOTP(ctx context.Context, in OTPRequest) (IssuedOTP, error) {
	key := ChallengeKey{Number: in.Number, Role: in.Role}
	if !s.Settings.Reachable(key.Number) {
		return IssuedOTP{}, errDestination()
	}
	now := s.Now()
	device, err := s.device(ctx, key, in.Proof, now)
	if err != nil {
		return IssuedOTP{}, err
	}
	channel := s.Settings.OTPChannel
	switch byEmail := in.Proof.ByEmail || in.ConfirmAddress != ""; {
	case byEmail && !s.Settings.OTPByEmail:
		return IssuedOTP{}, errNoMail()
	case in.ConfirmAddress != "":
		channel, key = emailChannel, confirmKey(in.Number, in.Role, in.ConfirmAddress)
	case byEmail:
		channel, key = emailChannel, emailKey(in.Number, in.Role)
	case device.maySend:
		key.DeviceID = device.id
	}
	if in.ByVoice {
		if !s.Settings.OTPByVoice {
			return IssuedOTP{}, errNoVoice()
		}
		channel = voiceChannel
	}
	if in.ByChat {
		if !s.Settings.OTPByChat {
			return IssuedOTP{}, errNoChat()
		}
		channel = chatChannel
	}
	if in.Incoming != "" && s.Settings.AskNumber(in.Incoming) == "" {
		return IssuedOTP{}, errNoIncoming()
	}
	r := ChallengeRequest{
		Challenge:   Challenge{ChallengeKey: key, ID: s.NewID(), SentAt: now, EndsAt: now.Add(s.Settings.OTPValidity)},
		MaxAttempts: s.Settings.OTPTries, LastSentBefore: s.lastSentBefore(now),
		Limits:  func(roles RoleFacts) []Limit { return s.sendLimits(key, in, roles) },
		Address: in.ConfirmAddress, Incoming: in.Incoming != "",
	}
	r.Challenge.AskedWith = in.AskedWith
	if channel != emailChannel {
		r.Destination = s.destination(key.Number, in.Network)
	}
	code := s.Settings.TestCode(key.Number, now)
	if code == "" {
		if !in.Silent && in.Incoming == "" {
			r.Channel = channel
		}
		code, err = newCode(s.Rand, s.Settings.OTPLength)
		if err != nil {
			return IssuedOTP{}, err
		}
	}
	r.Challenge.Code = s.Keys.Vault.For(vault.ForOTP).Seal([]byte(code), r.Challenge.ID)
	opened, err := s.Store.OpenChallenge(ctx, r)
	if soon, ok := errors.AsType[ResendTooSoon](err); ok {
		wait := soon.SentAt.Add(s.Settings.OTPResendAfter).Sub(now)
		return IssuedOTP{BlockedUntil: soon.BlockedUntil}, fault.New(fault.TooMany, "otp_resend_too_soon", "A code was asked for a moment ago. Wait before you ask for a new OTP.").
			With("limit", "otp_resend_after").With("ends_at", now.Add(wait)).After(wait)
	}
	if _, ok := errors.AsType[FraudSuspected](err); ok {
		return IssuedOTP{}, errFraudSuspected()
	}
	if exceeded, ok := errors.AsType[LimitExceeded](err); ok {
		return IssuedOTP{}, errSendLimit(exceeded, now)
	}
	if err != nil {
		return IssuedOTP{}, err
	}
	issued := IssuedOTP{
		ExpiresIn: opened.EndsAt.Sub(now), ResendIn: s.Settings.OTPResendAfter, Length: s.Settings.OTPLength, BlockedUntil: opened.BlockedUntil,
	}
	if in.Incoming != "" {
		issued.ResendIn = 0
	}
	return issued, nil
}

// lastSentBefore returns the latest time of the last send that permits another. If
// the wait is off it is in the future, because the clocks of replicas differ.
func (s *Service) lastSentBefore(now time.Time) time.Time {
	if s.Settings.OTPResendAfter == 0 {
		return now.Add(24 * time.Hour)
	}
	return now.Add(-s.Settings.OTPResendAfter)
}

// verify evaluates an attempt. signIn, if not nil, returns the session to open.
// Errors: see resultError.
func (s *Service) verify(ctx context.Context, key ChallengeKey, otp string, proof Proof, signIn func(deviceID string) (*SignIn, error)) (VerificationResult, error) {
	now := s.Now()
	attempt, device, err := s.loginAttempt(ctx, key, otp, proof, now)
	if err != nil {
		return VerificationResult{}, err
	}
	if signIn != nil {
		attempt.SignIn, err = signIn(device)
		if err != nil {
			return VerificationResult{}, err
		}
	}
	result, err := s.Store.VerifyOTP(ctx, attempt)
	if err != nil {
		return VerificationResult{}, err
	}
	if err := s.resultError(result, now); err != nil {
		return result, err
	}
	return result, nil
}

// newAttempt returns an attempt that only verifies otp, and the ID of the device that a
// device token proves.
func (s *Service) newAttempt(ctx context.Context, key ChallengeKey, otp string, proof Proof, now time.Time) (Attempt, string, error) {
	device, err := s.device(ctx, key, proof, now)
	if err != nil {
		return Attempt{}, "", err
	}
	a := s.attempt(key, otp, now)
	if device.id != "" {
		// The code may have been requested without the proof, so try both keys.
		a.Keys = []ChallengeKey{{key.Number, key.Role, device.id}, key}
	}
	if device.byLink {
		return a, "", nil
	}
	return a, device.id, nil
}

// attempt returns an attempt that only verifies otp for key.
func (s *Service) attempt(key ChallengeKey, otp string, now time.Time) Attempt {
	return Attempt{
		Keys: []ChallengeKey{key}, MaxAttempts: s.Settings.OTPTries, MaxFailures: s.maxFailures, Now: now,
		Matches: func(c Challenge) bool {
			code, err := s.Code(c.ID, c.Code)
			return err == nil && subtle.ConstantTimeCompare([]byte(code), []byte(otp)) == 1
		},
	}
}

// loginAttempt is newAttempt for a code that may have been sent by mail. A caller that does not
// name the channel means the mail only if no other code can be used: wrong codes for one channel
// must not use up the attempts of the other.
func (s *Service) loginAttempt(ctx context.Context, key ChallengeKey, otp string, proof Proof, now time.Time) (Attempt, string, error) {
	a, device, err := s.newAttempt(ctx, key, otp, proof, now)
	if err != nil || !s.Settings.OTPByEmail && !proof.ByEmail {
		return a, device, err
	}
	email := emailKey(key.Number, key.Role)
	byEmail := proof.ByEmail
	if !byEmail {
		byEmail, err = s.Store.OnlyEmailCode(ctx, email, a)
	}
	if byEmail {
		a.Keys = []ChallengeKey{email}
	}
	return a, device, err
}

func errSuspended() *fault.Error {
	return fault.New(fault.Forbidden, "account_suspended", "This account is suspended. It cannot sign in. Ask the operator of the service.")
}

// resultError returns nil for CorrectCode. For other outcomes of an attempt at now it
// returns otp_incorrect, otp_expired, otp_attempts_exceeded or account_suspended.
func (s *Service) resultError(r VerificationResult, now time.Time) *fault.Error {
	switch r.Outcome {
	case CorrectCode:
		return nil
	case WrongCode:
		return errOTPIncorrect(r.AttemptsLeft)
	case AttemptsExhausted:
		// A new code may be requested after the usual wait.
		return errAttemptsExceeded("otp_tries", max(r.SentAt.Add(s.Settings.OTPResendAfter).Sub(now), time.Second), now)
	case AccountSuspended:
		return errSuspended()
	case Blocked:
		return errAttemptsExceeded("otp_wrong_per_day", max(r.EndsAt.Sub(now), time.Second), now)
	default:
		return errOTPExpired()
	}
}

func (s *Service) maxFailures(key ChallengeKey) int {
	if key.DeviceID != "" {
		return deviceFailures
	}
	return s.Settings.OTPWrongPerDay
}

// Verified is the result of VerifyOTP.
type Verified struct {
	ExpiresIn  time.Duration
	Registered bool
}

// VerifyOTP checks a code without consuming it, so that one Login can follow.
func (s *Service) VerifyOTP(ctx context.Context, key ChallengeKey, otp string, proof Proof) (Verified, error) {
	result, err := s.verify(ctx, key, otp, proof, nil)
	if err != nil {
		return Verified{}, err
	}
	return Verified{ExpiresIn: result.EndsAt.Sub(s.Now()), Registered: result.Registered}, nil
}

// Login checks and consumes a code and opens a session. A coach's first login
// registers the coach.
func (s *Service) Login(ctx context.Context, key ChallengeKey, otp string, proof Proof, deviceName string) (*Grant, error) {
	now, tokens := s.Now(), s.Keys.Vault
	session := &Session{
		ID: s.NewID(), AccountID: s.NewID(), Role: key.Role, Number: key.Number, DeviceName: deviceName, Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(s.Settings.RefreshIdle), EndsAt: now.Add(s.Settings.RefreshLifetime),
	}
	refresh, err := tokens.NewRefreshToken(session.ID, session.Generation)
	if err != nil {
		return nil, err
	}
	if err := s.signIn(ctx, key, otp, proof, session, vault.HashToken(refresh)); err != nil {
		return nil, err
	}
	return s.grant(session, refresh, now)
}

// signIn checks and consumes a code and opens the session, whose refresh token or page
// token has this hash.
func (s *Service) signIn(ctx context.Context, key ChallengeKey, otp string, proof Proof, session *Session, tokenHash []byte) error {
	_, err := s.verify(ctx, key, otp, proof, func(device string) (*SignIn, error) {
		if device == "" {
			device = s.NewID()
		}
		session.DeviceID = device
		hash := vault.HashToken(s.Keys.Vault.DeviceToken(device))
		return &SignIn{
			Session: session, RefreshHash: tokenHash,
			DeviceHash: hash, DeviceEnds: session.CreatedAt.Add(deviceLifetime), OtherDevices: proof.otherDevices(hash),
		}, nil
	})
	return err
}

// CheckLoginRepeat checks a request that repeats the Idempotency-Key of a login, before
// its response is repeated. A request that is not the same as the first counts as a
// wrong code; otherwise the key would let a caller guess codes without a limit. Error:
// otp_attempts_exceeded.
func (s *Service) CheckLoginRepeat(ctx context.Context, key ChallengeKey, proof Proof, same bool) error {
	now := s.Now()
	a, _, err := s.loginAttempt(ctx, key, "", proof, now)
	if err != nil {
		return err
	}
	result, err := s.Store.RepeatLogin(ctx, a, same)
	if err != nil || result.Outcome == WrongCode {
		return err
	}
	return s.resultError(result, now)
}

// LoginGrant returns the tokens of a login again. It returns otp_expired if the session
// has ended.
func (s *Service) LoginGrant(ctx context.Context, sessionID string) (*Grant, error) {
	now := s.Now()
	session, err := s.Store.Session(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	if session.checkActive(now) != nil {
		return nil, errSignInEnded()
	}
	session.FilledFields, err = s.Store.DB.FilledFields(ctx, session.AccountID)
	if err != nil {
		return nil, err
	}
	session.Generation = 1
	refresh, err := s.Keys.Vault.NewRefreshToken(session.ID, session.Generation)
	if err != nil {
		return nil, err
	}
	return s.grant(session, refresh, now)
}

// CheckLoginSession returns otp_expired if the session of a login has ended: the OTP is
// used up, and a login never returns 401.
func (s *Service) CheckLoginSession(ctx context.Context, sessionID string) error {
	session, err := s.Store.Session(ctx, sessionID)
	if err == nil && session.checkActive(s.Now()) != nil {
		err = errSignInEnded()
	}
	return err
}

func errSignInEnded() error {
	return fault.New(fault.Gone, "otp_expired", "This OTP was used, and its session has ended. Ask for a new OTP.")
}

// ErrWrongOTP returns otp_incorrect for an attempt that was counted earlier.
func ErrWrongOTP(attemptsLeft int) *fault.Error { return errOTPIncorrect(attemptsLeft) }
