package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

// Opening is a challenge to open, with the limits that it counts against.
type Opening struct {
	Fresh    Challenge
	MaxTries int
	// SentBefore is the newest time of the last send at which another may go.
	SentBefore time.Time
	Limits     []Limit
	// Quiet opens the challenge without an SMS: the code of a test number is known.
	Quiet bool
}

// TooSoon says that the slot's last code was sent a moment ago.
type TooSoon struct{ SentAt time.Time }

// Error makes TooSoon an error for the store to return.
func (TooSoon) Error() string { return "a code was sent a moment ago" }

// Asked is what request-otp answers. It is the same whether or not the number
// holds the role.
type Asked struct {
	ExpiresIn time.Duration
	ResendIn  time.Duration
	Length    int
}

// RequestOTP opens a challenge in the slot and queues its SMS. Address is where
// the request comes from, an IPv4 address or an IPv6 /64. Whether the number
// holds the role is asked only when the SMS is about to go, so that the answer
// is the same, and takes the same work, for everybody.
func (s *Service) RequestOTP(ctx context.Context, slot Slot, deviceToken, address string) (Asked, error) {
	if !s.Settings.Reachable(slot.Number) {
		return Asked{}, errDestination()
	}
	now := s.Now()
	var err error
	if slot.DeviceID, err = s.device(ctx, slot, deviceToken, now); err != nil {
		return Asked{}, err
	}
	o := Opening{
		Fresh:    Challenge{Slot: slot, ID: s.NewID(), SentAt: now, EndsAt: now.Add(s.Settings.OTPValidity)},
		MaxTries: s.Settings.OTPTries, SentBefore: s.sentBefore(now), Limits: s.sendLimits(slot, address),
	}
	code := s.Settings.TestCode(slot.Number, now)
	if o.Quiet = code != ""; !o.Quiet {
		if code, err = newCode(s.Rand, s.Settings.OTPLength); err != nil {
			return Asked{}, err
		}
	}
	o.Fresh.Code = s.Keys.Vault.Seal(ForOTP, []byte(code), o.Fresh.ID)
	opened, err := s.Store.OpenChallenge(ctx, o)
	if soon, ok := errors.AsType[TooSoon](err); ok {
		wait := soon.SentAt.Add(s.Settings.OTPResendAfter).Sub(now)
		return Asked{}, fault.New(fault.TooMany, "otp_resend_too_soon", "A code was sent a moment ago. Wait before you ask for a new OTP.").
			With("limit", "otp_resend_after").With("ends_at", now.Add(wait)).After(wait)
	}
	if limited, ok := errors.AsType[Limited](err); ok {
		return Asked{}, errSends(limited, now)
	}
	if err != nil {
		return Asked{}, err
	}
	return Asked{ExpiresIn: opened.EndsAt.Sub(now), ResendIn: s.Settings.OTPResendAfter, Length: s.Settings.OTPLength}, nil
}

// sentBefore returns the newest time of the last send at which another may go.
// Where the wait is off that lies ahead: of two requests at once, the second to be
// counted may have come first, and the clocks of replicas differ.
func (s *Service) sentBefore(now time.Time) time.Time {
	if s.Settings.OTPResendAfter == 0 {
		return now.Add(24 * time.Hour)
	}
	return now.Add(-s.Settings.OTPResendAfter)
}

func (s *Service) device(ctx context.Context, slot Slot, token string, now time.Time) (string, error) {
	if token == "" {
		return "", nil
	}
	return s.Store.Device(ctx, hashToken(token), slot.Number, now)
}

// sendLimits lists what a send counts against, always in the same order, so
// that two of them cannot wait for each other.
func (s *Service) sendLimits(slot Slot, address string) []Limit {
	if slot.DeviceID != "" {
		return []Limit{{Name: "otp_sends_per_device_day", Key: "send/device/" + slot.DeviceID, Max: deviceSends, Per: 24 * time.Hour}}
	}
	var limits []Limit
	for _, l := range []Limit{
		{Name: "otp_sends_per_address_hour", Key: "send/address/" + address, Max: s.Settings.SendsPerAddressHour, Per: time.Hour},
		{Name: "otp_sends_per_day", Key: "send/day/" + string(slot.Number), Max: s.Settings.SendsPerDay, Per: 24 * time.Hour},
		{Name: "otp_sends_per_hour", Key: "send/hour/" + string(slot.Number), Max: s.Settings.SendsPerHour, Per: time.Hour},
		{Name: "otp_sends_total_hour", Key: "send/all", Max: s.Settings.SendsTotalHour, Per: time.Hour},
	} {
		if l.Max > 0 {
			limits = append(limits, l)
		}
	}
	return limits
}

// Try is one guess at a code. The store counts it first, against the challenge
// and against all that were wrong lately, and only then lets Right judge; a
// right guess is given back. All of it is one transaction.
type Try struct {
	// Slots are looked through for a live challenge, in this order.
	Slots    []Slot
	MaxTries int
	// MaxWrong returns how many wrong tries a slot's number or device has in 24 h.
	MaxWrong func(Slot) int
	Now      time.Time
	// Right judges the guess. It may run more than once.
	Right func(Challenge) bool
	// SignIn uses the challenge up and opens this session. Use uses it up for
	// something else. Without either the guess only verifies.
	SignIn *SignIn
	Use    bool
}

// SignIn is the session that a right code opens.
type SignIn struct {
	// Session lacks its account, which the store finds or, for a coach, makes, and
	// what that has Filled.
	Session *Session
	// RefreshHash is what is kept of its refresh token.
	RefreshHash []byte
	// DeviceHash and DeviceEnds renew or register the session's device.
	DeviceHash []byte
	DeviceEnds time.Time
}

// Verdict is how a try ended.
type Verdict int

// The verdicts.
const (
	NoChallenge Verdict = iota // nothing live to try
	Exhausted                  // this challenge had its tries
	Blocked                    // the number or device had its wrong tries
	WrongCode
	RightCode
	Suspended // right, but nobody may sign in to the account; nothing was counted
)

// Tried is what became of a Try.
type Tried struct {
	Verdict Verdict
	// Left is how many more guesses may follow a wrong one.
	Left int
	// EndsAt is when a right challenge ends, or until when a number is Blocked.
	EndsAt time.Time
	// SentAt is when the code of an Exhausted challenge last went out.
	SentAt time.Time
	// Registered says that the account was there before.
	Registered bool
}

// try checks a guess; its errors are the contract's otp_* problems.
func (s *Service) try(ctx context.Context, slot Slot, otp, deviceToken string, signIn func(deviceID string) (*SignIn, error)) (Tried, error) {
	now := s.Now()
	t, device, err := s.guess(ctx, slot, otp, deviceToken, now)
	if err != nil {
		return Tried{}, err
	}
	if signIn != nil {
		if t.SignIn, err = signIn(device); err != nil {
			return Tried{}, err
		}
	}
	tried, err := s.Store.TryOTP(ctx, t)
	if err != nil {
		return Tried{}, err
	}
	if err := s.judge(tried, now); err != nil {
		return tried, err
	}
	return tried, nil
}

// guess returns a Try of otp that only verifies, and the device that deviceToken
// proves.
func (s *Service) guess(ctx context.Context, slot Slot, otp, deviceToken string, now time.Time) (Try, string, error) {
	device, err := s.device(ctx, slot, deviceToken, now)
	if err != nil {
		return Try{}, "", err
	}
	t := Try{
		Slots: []Slot{slot}, MaxTries: s.Settings.OTPTries, Now: now, MaxWrong: s.maxWrong,
		Right: func(c Challenge) bool {
			code, err := s.Code(c.ID, c.Code)
			return err == nil && subtle.ConstantTimeCompare([]byte(code), []byte(otp)) == 1
		},
	}
	if device != "" {
		// A code that was asked for without the device's token still counts.
		t.Slots = []Slot{{slot.Number, slot.Role, device}, slot}
	}
	return t, device, nil
}

// judge says what was wrong with a try that was made at now; nil where it was
// right.
func (s *Service) judge(tried Tried, now time.Time) *fault.Error {
	switch tried.Verdict {
	case RightCode:
		return nil
	case WrongCode:
		return errOTPIncorrect(tried.Left)
	case Exhausted:
		// A fresh code may be asked for after the usual wait.
		return errAttempts("otp_tries", max(tried.SentAt.Add(s.Settings.OTPResendAfter).Sub(now), time.Second), now)
	case Suspended:
		return fault.New(fault.Forbidden, "account_suspended", "This account is suspended, so nobody can sign in to it. Ask whoever runs the service.")
	case Blocked:
		return errAttempts("otp_wrong_per_day", max(tried.EndsAt.Sub(now), time.Second), now)
	default:
		return errOTPExpired()
	}
}

func (s *Service) maxWrong(slot Slot) int {
	if slot.DeviceID != "" {
		return deviceTries
	}
	return s.Settings.OTPWrongPerDay
}

// Verified is what verify-otp answers.
type Verified struct {
	ExpiresIn  time.Duration
	Registered bool
}

// VerifyOTP checks a code without using it up; one login with it may follow.
func (s *Service) VerifyOTP(ctx context.Context, slot Slot, otp, deviceToken string) (Verified, error) {
	tried, err := s.try(ctx, slot, otp, deviceToken, nil)
	if err != nil {
		return Verified{}, err
	}
	return Verified{ExpiresIn: tried.EndsAt.Sub(s.Now()), Registered: tried.Registered}, nil
}

// Login checks a code, uses it up, and opens a session. A coach's first login
// registers the coach.
func (s *Service) Login(ctx context.Context, slot Slot, otp, deviceToken, deviceName string) (*Grant, error) {
	now, vault := s.Now(), s.Keys.Vault
	session := &Session{
		ID: s.NewID(), AccountID: s.NewID(), Role: slot.Role, Number: slot.Number, DeviceName: deviceName, Generation: 1,
		CreatedAt: now, LastUsedAt: now, IdleAt: now.Add(s.Settings.RefreshIdle), EndsAt: now.Add(s.Settings.RefreshLifetime),
	}
	refresh, err := vault.newRefreshToken(session.ID, session.Generation)
	if err != nil {
		return nil, err
	}
	_, err = s.try(ctx, slot, otp, deviceToken, func(device string) (*SignIn, error) {
		if device == "" {
			device = s.NewID()
		}
		session.DeviceID = device
		return &SignIn{
			Session: session, RefreshHash: hashToken(refresh),
			DeviceHash: hashToken(vault.deviceToken(device)), DeviceEnds: now.Add(deviceLifetime),
		}, nil
	})
	if err != nil {
		return nil, err
	}
	return s.grant(session, refresh, now)
}
