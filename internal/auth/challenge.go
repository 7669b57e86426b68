package auth

import (
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/phone"
)

// Slot is where a challenge stands: there is one for each number, role and
// proven device; the empty DeviceID is the slot that all other devices share.
type Slot struct {
	Number   phone.Number
	Role     actor.Role
	DeviceID string
}

// Challenge is one OTP that was asked for.
type Challenge struct {
	Slot
	ID string
	// Code is sealed under the challenge's ID.
	Code   []byte
	Tries  int
	SentAt time.Time
	EndsAt time.Time
}

// newCode returns n decimal digits, uniform, from random.
func newCode(random io.Reader, n int) (string, error) {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	v, err := rand.Int(random, limit)
	if err != nil {
		return "", fmt.Errorf("draw an OTP: %w", err)
	}
	return fmt.Sprintf("%0*d", n, v), nil
}

// Code opens the code of a challenge, for the message that carries it.
func (s *Service) Code(challengeID string, sealed []byte) (string, error) {
	code, err := s.Keys.Vault.Open(ForOTP, sealed, challengeID)
	return string(code), err
}

// Limit is a bound on how often something may happen, kept in the database for
// all replicas: at most Max in any window of the length Per.
type Limit struct {
	// Name is what the problem document calls it.
	Name string
	Key  string
	Max  int
	Per  time.Duration
	// Numbered limits keep each occurrence under its own number, so that Max may
	// differ from one occurrence to the next, and 0 only counts.
	Numbered bool
}

// Limited says which limit refused, and when it lets one through again.
type Limited struct {
	Name string
	Wait time.Duration
}

// Error makes Limited an error for the store to return.
func (l Limited) Error() string { return "limit " + l.Name + " is reached" }

func errSends(l Limited, now time.Time) error {
	return fault.New(fault.TooMany, "otp_send_limit", "Too many codes were asked for. Wait, then ask for a new OTP.").
		With("limit", l.Name).With("ends_at", now.Add(l.Wait)).After(l.Wait)
}

func errDestination() *fault.Error {
	return fault.New(fault.Forbidden, "destination_blocked", "Codes cannot be sent to numbers of this country.")
}

func errOTPExpired() *fault.Error {
	return fault.New(fault.Gone, "otp_expired", "There is no code to check: it has expired, it was used, or none was asked for. Ask for a new OTP.")
}

func errOTPIncorrect(left int) *fault.Error {
	return fault.New(fault.Invalid, "otp_incorrect", "This is not the code that was sent. Try again, or ask for a new OTP.").
		With("attempts_left", left)
}

func errAttempts(limit string, wait time.Duration, now time.Time) *fault.Error {
	return fault.New(fault.TooMany, "otp_attempts_exceeded", "Too many wrong codes were tried. Wait, then ask for a new OTP.").
		With("limit", limit).With("ends_at", now.Add(wait)).After(wait)
}
