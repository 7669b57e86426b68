package auth

import (
	"context"
	"io"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
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
	// OTPByVoice says that OTPs can be spoken by a call, too.
	OTPByVoice bool
	// OTPByChat says that OTPs can be sent by WhatsApp, too.
	OTPByChat bool
	// Brand is the name of the service in the text with which people ask for a code.
	Brand string
	// WhatsAppNumber is the number of the service to which people write for a code, or empty.
	WhatsAppNumber phone.Number
	// SMSNumber is the number to which people send an SMS for a code, or empty. It may be a short code.
	SMSNumber string
	// WhatsAppLog says that no person has WhatsAppNumber: in development /dev/phones plays the persons.
	WhatsAppLog bool
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

// How long rows are kept after they have expired.
const (
	ChallengesKept = 24 * time.Hour
	SessionsKept   = 30 * 24 * time.Hour
	// FormerNumbersKept is how long a coach who has given up a number must not name it as a contact.
	FormerNumbersKept = 365 * 24 * time.Hour
)

// Expired are the rows of sign-in that the sweep deletes.
var Expired = []store.Expired{
	{What: "challenges", Query: `DELETE FROM otp_challenges WHERE (mobile_number, role, device_id) IN (SELECT mobile_number, role, device_id FROM otp_challenges WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`, Kept: ChallengesKept},
	{What: "sends", Query: `DELETE FROM otp_sends WHERE challenge_id IN (SELECT challenge_id FROM otp_sends WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`, Kept: FraudWindow},
	{What: "failures", Query: `DELETE FROM otp_failures WHERE who IN (SELECT who FROM otp_failures WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "limits", Query: `DELETE FROM limits WHERE key IN (SELECT key FROM limits WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "occurrences", Query: `DELETE FROM limit_occurrences WHERE (key, number) IN (SELECT key, number FROM limit_occurrences WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "minutes of limits", Query: `DELETE FROM limit_minutes WHERE (key, minute, shard) IN (SELECT key, minute, shard FROM limit_minutes WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`},
	{What: "devices", Query: `DELETE FROM devices WHERE id IN (SELECT id FROM devices WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "challenges of passkeys", Query: `DELETE FROM passkey_challenges WHERE id IN (SELECT id FROM passkey_challenges WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`},
	{What: "confirmed addresses", Query: `DELETE FROM confirmed_addresses WHERE (mobile_number, role) IN (SELECT mobile_number, role FROM confirmed_addresses WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "devices of coaches", Query: `DELETE FROM coach_devices WHERE (token_hash, coach_id) IN (SELECT token_hash, coach_id FROM coach_devices WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "stops of coaches who left", Query: `DELETE FROM stopped_coaches WHERE (mobile_number, coach_id) IN (SELECT st.mobile_number, st.coach_id FROM former_numbers f JOIN stopped_coaches st ON st.coach_id = f.account_id WHERE f.closed = TRUE AND f.left_at < $1 ORDER BY f.left_at LIMIT $2)`, Kept: FormerNumbersKept},
	{What: "former numbers", Query: `DELETE FROM former_numbers WHERE (account_id, number_hash) IN (SELECT account_id, number_hash FROM former_numbers WHERE left_at < $1 ORDER BY left_at LIMIT $2) AND left_at < $1`, Kept: FormerNumbersKept},
	{What: "sessions", Query: `DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`, Kept: SessionsKept},
}
