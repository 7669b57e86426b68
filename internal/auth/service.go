package auth

import (
	"context"
	"io"
	"time"

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

// Service signs accounts in and out.
type Service struct {
	Store SQL
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
