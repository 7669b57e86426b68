package auth

import (
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
)

// ChallengeKey identifies a challenge: each number, role and known device has at
// most one. All unknown devices share the one with an empty DeviceID.
type ChallengeKey struct {
	Number   phone.Number
	Role     actor.Role
	DeviceID string
}

// Challenge is one OTP that a caller requested.
type Challenge struct {
	ChallengeKey
	ID string
	// Code is encrypted and bound to ID.
	Code     []byte
	Attempts int
	SentAt   time.Time
	EndsAt   time.Time
	// AskedWith is the browser and device that asked last, or empty.
	AskedWith string
	// Language is the choice of the number's owner, or empty, and Address is the confirmed address
	// to which the code goes, or empty. Only LiveChallenge loads them.
	Language, Address string
}

// newCode returns n uniformly distributed decimal digits.
func newCode(random io.Reader, n int) (string, error) {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	v, err := rand.Int(random, limit)
	if err != nil {
		return "", fmt.Errorf("generate OTP: %w", err)
	}
	return fmt.Sprintf("%0*d", n, v), nil
}

// Code decrypts the code of a challenge, for its SMS.
func (s *Service) Code(challengeID string, sealed []byte) (string, error) {
	code, err := s.Keys.Vault.For(vault.ForOTP).Open(sealed, challengeID)
	return string(code), err
}

func errSendLimit(l LimitExceeded, now time.Time) error {
	return fault.New(fault.TooMany, "otp_send_limit", "Too many codes were asked for. Wait, then ask for a new OTP.").
		With("limit", l.Name).With("ends_at", now.Add(l.Wait)).After(l.Wait)
}

func errDestination() *fault.Error {
	return fault.New(fault.Forbidden, "destination_blocked", "Codes cannot be sent to numbers of this country.")
}

func errFraudSuspected() *fault.Error {
	return fault.New(fault.Forbidden, "destination_blocked", "Codes cannot be sent to new numbers like this one now. Try again in an hour.")
}

func errOTPExpired() *fault.Error {
	return fault.New(fault.Gone, "otp_expired", "There is no code to check. It has expired, it was used, or none was asked for. Ask for a new OTP.")
}

func errOTPIncorrect(left int) *fault.Error {
	return fault.New(fault.Invalid, "otp_incorrect", "This is not the code that was sent. Try again, or ask for a new OTP.").
		With("attempts_left", left)
}

func errAttemptsExceeded(limit string, wait time.Duration, now time.Time) *fault.Error {
	return fault.New(fault.TooMany, "otp_attempts_exceeded", "Too many wrong codes were tried. Wait, then ask for a new OTP.").
		With("limit", limit).With("ends_at", now.Add(wait)).After(wait)
}
