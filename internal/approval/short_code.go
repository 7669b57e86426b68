package approval

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	// shortCodeLetters are the letters of a short code. They omit I, L, O and Q, which
	// people confuse with other letters and digits.
	shortCodeLetters = "ABCDEFGHJKMNPRSTUVWXYZ"
	shortCodeLength  = 6
)

// shortCodeReusedAfter is how long after the end of its request a short code is not given
// to another request.
const shortCodeReusedAfter = 365 * 24 * time.Hour

// NewShortCode returns six uniformly distributed letters. random nil means crypto/rand.
func NewShortCode(random io.Reader) (string, error) {
	if random == nil {
		random = rand.Reader
	}
	code := make([]byte, shortCodeLength)
	for i := range code {
		n, err := rand.Int(random, big.NewInt(int64(len(shortCodeLetters))))
		if err != nil {
			return "", fmt.Errorf("generate short code: %w", err)
		}
		code[i] = shortCodeLetters[n.Int64()]
	}
	return string(code), nil
}

// ParseShortCode reads a short code as a person types or pastes it, in any case: see input.Code. It returns false for a text that cannot be a short code.
func ParseShortCode(typed string) (string, bool) {
	code := strings.ToUpper(input.Code(typed))
	return code, len(code) == shortCodeLength && strings.Trim(code, shortCodeLetters) == ""
}

// The wrong pairs of short code and number in any hour, and for whom they count.
const (
	wrongPairsWindow     = time.Hour
	WrongPairsPerNetwork = 10
	WrongPairsPerNumber  = 5
)

// ShortCodePair is a pair of short code and number that a person typed.
type ShortCodePair struct {
	Code   string
	Number phone.Number
	// Network is the network of the request: an IPv4 address or an IPv6 /64.
	Network string
}

// PairLimit limits the wrong pairs in a wrongPairsWindow.
type PairLimit struct {
	Name, Key string
	Max       int
}

// Limits returns the limits that p counts against if it is wrong.
func (p ShortCodePair) Limits() []PairLimit {
	return []PairLimit{
		{"short_code_pairs_per_address_hour", "short_code/network/" + p.Network, WrongPairsPerNetwork},
		{"short_code_pairs_per_number_hour", "short_code/number/" + string(p.Number), WrongPairsPerNumber},
	}
}

// wrongPairsExceeded is the error of a pair after too many wrong ones.
type wrongPairsExceeded struct {
	Limit string
	Wait  time.Duration
}

// Error implements error.
func (wrongPairsExceeded) Error() string { return "too many wrong pairs of short code and number" }

// FindByShortCode returns the open request to this number with the short code that a person
// typed (see ParseShortCode), or the zero LinkState. The caller's response must not show which
// of the two it was. After too many wrong pairs a right pair is refused like a wrong one: error
// rate_limited.
func (s *Service) FindByShortCode(ctx context.Context, typed string, number phone.Number, network string) (LinkState, error) {
	now := s.Now()
	code, ok := ParseShortCode(typed)
	if !ok {
		code = "" // the code of no request; it counts as a wrong pair
	}
	state, err := s.findByShortCode(ctx, ShortCodePair{Code: code, Number: number, Network: network}, now)
	if exceeded, ok := errors.AsType[wrongPairsExceeded](err); ok {
		return LinkState{}, fault.New(fault.TooMany, "rate_limited", "Too many wrong codes were tried. Wait, then try again.").
			With("limit", exceeded.Limit).With("ends_at", now.Add(exceeded.Wait)).After(exceeded.Wait)
	}
	return state, err
}
