package approval

import (
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	// shortCodeLetters are the letters of a short code. They omit I, L, O and Q, which
	// people confuse with other letters and digits.
	shortCodeLetters = "ABCDEFGHJKMNPRSTUVWXYZ"
	shortCodeLength  = 6
)

// ShortCodeReusedAfter is how long after the end of its request a short code is not given
// to another request.
const ShortCodeReusedAfter = 365 * 24 * time.Hour

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

// ParseShortCode reads a short code in any case, from what input.Code returns. It returns false for a text that cannot
// be a short code.
func ParseShortCode(typed string) (string, bool) {
	code := strings.ToUpper(typed)
	return code, len(code) == shortCodeLength && strings.Trim(code, shortCodeLetters) == ""
}

// The wrong pairs of short code and number in any hour, and for whom they count.
const (
	WrongPairsWindow     = time.Hour
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

// PairLimit limits the wrong pairs in a WrongPairsWindow.
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
