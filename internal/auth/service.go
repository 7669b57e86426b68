package auth

import (
	"context"
	"io"
	"time"

	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Settings are the operator's settings. A send limit of 0 is off.
type Settings struct {
	OTPLength      int
	OTPValidity    time.Duration
	OTPTries       int
	OTPResendAfter time.Duration
	OTPWrongPerDay int

	SendsPerHour        int
	SendsPerDay         int
	SendsPerAddressHour int
	SendsTotalHour      int

	AccessLifetime  time.Duration
	RefreshIdle     time.Duration
	RefreshLifetime time.Duration
	RefreshGrace    time.Duration

	// FraudRule turns the rule against toll fraud on. DefaultRegion is the country that
	// it does not judge as a whole.
	FraudRule     bool
	DefaultRegion string

	// OTPChannel is the channel of OTPs, such as "sms".
	OTPChannel string
	// OTPByEmail says that OTPs can be sent by mail, too.
	OTPByEmail bool
	// Reachable reports whether OTPs may be sent to the number's country.
	Reachable func(phone.Number) bool
	// TestCode returns the fixed code of a test number at that time, or "".
	TestCode func(phone.Number, time.Time) string
}

// Limits of a known device, and how long it stays known.
const (
	deviceFailures = 10
	deviceSends    = 5
	deviceLifetime = 180 * 24 * time.Hour
)

// Store saves challenges, devices and sessions; package store implements it.
type Store interface {
	// Device returns the ID of the live device with this token hash that is bound to
	// number, or "".
	Device(ctx context.Context, tokenHash []byte, number phone.Number, now time.Time) (string, error)
	// OpenChallenge counts the limits, saves the challenge and queues its SMS. If its key
	// has a live challenge, it sends that one again. While too many wrong codes block the
	// number or device, it queues nothing. Errors: LimitExceeded, ResendTooSoon,
	// FraudSuspected.
	OpenChallenge(ctx context.Context, r ChallengeRequest) (OpenedChallenge, error)
	// VerifyOTP counts an attempt, evaluates it (see Attempt) and saves the result.
	VerifyOTP(ctx context.Context, a Attempt) (VerificationResult, error)
	// RepeatLogin counts a request that repeats the Idempotency-Key of a login, and
	// evaluates it (see EvaluateRepeat). It saves the counts unless the request is the
	// same as the first.
	RepeatLogin(ctx context.Context, a Attempt, same bool) (VerificationResult, error)
	// ChangeNumber evaluates both codes. If both are correct, it consumes them and gives
	// the coach the new number.
	ChangeNumber(ctx context.Context, c NumberChange) (NumberChangeResult, error)
	// CloseAccount evaluates the code. If it is correct, it consumes it and closes the
	// coach's account.
	CloseAccount(ctx context.Context, c CloseRequest) (VerificationResult, error)

	// OnlyEmailCode reports whether the challenge of email has not ended, while no code of the
	// keys of a can be used.
	OnlyEmailCode(ctx context.Context, email ChallengeKey, a Attempt) (bool, error)
	// ConfirmAddress evaluates the code. If it is correct, it consumes it and saves the address.
	ConfirmAddress(ctx context.Context, c AddressConfirmation) (VerificationResult, error)
	// ConfirmedAddress returns the confirmed address of a number and role, or "".
	ConfirmedAddress(ctx context.Context, n phone.Number, role actor.Role) (string, error)
	// RemoveAddress ends the confirmation of an address. It may be repeated.
	RemoveAddress(ctx context.Context, n phone.Number, role actor.Role) error

	// Session returns a session, even one that has ended, or nil.
	Session(ctx context.Context, id string) (*Session, error)
	// SessionOfToken is Session with only what authenticates a caller: the account, the role,
	// the number, the generation, its first use and the ends.
	SessionOfToken(ctx context.Context, id string) (*Session, error)
	// PageSession returns a session of pages with this token, even one that has ended, or
	// nil.
	PageSession(ctx context.Context, id string, tokenHash []byte) (*Session, error)
	// ExtendPageSession saves a use of the session at now and moves the end of its idle
	// time, unless it has ended or was used after notAfter.
	ExtendPageSession(ctx context.Context, id string, now, idleAt, notAfter time.Time) error
	// MarkUsed saves the first use of the tokens of a generation.
	MarkUsed(ctx context.Context, id string, generation int64, now time.Time) error
	// Rotate moves a session to its next generation. It returns nil unless the session
	// is live and has the generation and hash of r.
	Rotate(ctx context.Context, r Rotation) (*Session, error)
	// FilledFields returns Session.FilledFields of an account.
	FilledFields(ctx context.Context, accountID string) ([]string, error)
	// Revoke ends s and saves the notifications of e, unless s has ended already.
	Revoke(ctx context.Context, s *Session, e event.Event) error
	// EndSession ends a live session of the account; false if there is none.
	EndSession(ctx context.Context, accountID, id string) (bool, error)
	// EndAllSessions ends the sessions of the number of by in every role, and removes its
	// devices.
	EndAllSessions(ctx context.Context, by actor.Actor) error
	// Sessions lists live sessions, newest first, starting after the one with the ID before.
	Sessions(ctx context.Context, accountID string, now time.Time, before string, limit int) ([]*Session, error)
	// Roles returns the roles that number holds now.
	Roles(ctx context.Context, number phone.Number) ([]actor.Role, error)
}

// Service signs accounts in and out.
type Service struct {
	Store Store
	// LinkedRequest returns the ID of the request behind the link with this hash, if the link left to
	// number itself and asks it in this role, or "". open reports whether the link is valid and the
	// request is open. Consent sets it; nil finds none.
	LinkedRequest func(ctx context.Context, linkHash []byte, number phone.Number, role actor.Role, now time.Time) (requestID string, open bool, err error)
	Keys          *Keys
	Tokens        *Tokens
	Settings      Settings
	Now           func() time.Time
	NewID         func() string
	Rand          io.Reader
}

// Roles returns every role that the caller's number holds.
func (s *Service) Roles(ctx context.Context, by actor.Actor) ([]actor.Role, error) {
	return s.Store.Roles(ctx, by.Number)
}
