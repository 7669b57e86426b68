package auth

import (
	"context"
	"io"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/phone"
)

// Settings are what an operator may choose (contract section 6). A limit on
// sends that is 0 is off.
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

	// Reachable says whether an SMS may go to the number's country.
	Reachable func(phone.Number) bool
	// TestCode returns the fixed code of a test number at a time, or "".
	TestCode func(phone.Number, time.Time) string
}

// What a proven device has of its own (contract section 2), and how long it
// stays proven.
const (
	deviceTries    = 10
	deviceSends    = 5
	deviceLifetime = 180 * 24 * time.Hour
)

// Store is what auth needs kept; package store provides it.
type Store interface {
	// Device returns the id of the live device with this token hash that is
	// bound to number, or "".
	Device(ctx context.Context, tokenHash []byte, number phone.Number, now time.Time) (string, error)
	// OpenChallenge counts limits, then puts fresh into its slot or, where the
	// slot holds a live one, marks that one sent again; it queues the SMS unless
	// quiet. It answers a Limited, or TooSoon.
	OpenChallenge(ctx context.Context, o Opening) (Challenge, error)
	// TryOTP counts one try before it lets judge compare (see Try).
	TryOTP(ctx context.Context, t Try) (Tried, error)
	// ChangeNumber tries both codes and, where both are right, uses them up and
	// gives the coach the new number (see NumberChange).
	ChangeNumber(ctx context.Context, c NumberChange) (NumberChanged, error)

	// CloseAccount tries the code and, where it is right, uses it up and closes the
	// coach's account.
	CloseAccount(ctx context.Context, c Closing) (Tried, error)

	Session(ctx context.Context, id string) (*Session, error)
	MarkUsed(ctx context.Context, id string, generation int64, now time.Time) error
	// Rotate returns nil where the guard did not hold.
	Rotate(ctx context.Context, r Rotation) (*Session, error)
	// Filled returns Session.Filled of an account.
	Filled(ctx context.Context, accountID string) ([]string, error)
	// Revoke ends s and tells e, once.
	Revoke(ctx context.Context, s *Session, e event.Event) error
	EndSession(ctx context.Context, accountID, id string) (bool, error)
	EndAll(ctx context.Context, number phone.Number) error
	Sessions(ctx context.Context, accountID string, now time.Time, before string, limit int) ([]*Session, error)
	// Roles returns the roles that number holds now.
	Roles(ctx context.Context, number phone.Number) ([]actor.Role, error)
}

// Service signs people in and out.
type Service struct {
	Store    Store
	Keys     *Keys
	Tokens   *Tokens
	Settings Settings
	Now      func() time.Time
	NewID    func() string
	Rand     io.Reader
}

// Roles returns every role that the caller's number holds.
func (s *Service) Roles(ctx context.Context, by actor.Actor) ([]actor.Role, error) {
	return s.Store.Roles(ctx, by.Number)
}
