package phone

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/nyaruka/phonenumbers"
)

// ErrInvalid is the error of Parse for every invalid input. Its text may be shown to the
// user, and does not repeat the input.
var ErrInvalid = errors.New("not a mobile number that can receive an SMS; write it with its country code, as in +91 98765 43210")

// maxInput is the maximum length of the input, in bytes. The longest number in full-width
// digits with punctuation is shorter. It keeps long input from the regular expressions.
const maxInput = 128

// maxDigits is the longest E.164 number (ITU-T E.164, section 6).
const maxDigits = 15

// parsed caches valid numbers: a caller usually sends the same text several times
// (request an OTP, verify it, sign in), and parsing takes 24 µs.
var parsed, _ = lru.New[cacheKey, Number](2048) // fails only for a size below 1

type cacheKey struct{ region, text string }

// Parser parses numbers as people write them. It is safe for concurrent use.
type Parser struct {
	// DefaultRegion is the ISO 3166 country of numbers without a country code.
	// If it is empty, such numbers are invalid.
	DefaultRegion string
}

// Parse accepts every spelling of a mobile number that libphonenumber accepts: spaces,
// brackets, dashes, digits of other scripts, a national or international prefix, or a
// tel: URI. It returns ErrInvalid for an invalid number, a number that cannot receive an
// SMS (such as a fixed line in a country with separate mobile numbers), and a number with
// an extension. Parsing the result again returns the same number.
func (p Parser) Parse(s string) (Number, error) {
	if len(s) > maxInput || !utf8.ValidString(s) {
		return "", ErrInvalid
	}
	s = strings.Map(ASCIIDigit, strings.TrimFunc(s, invisible))
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", ErrInvalid
	}
	region := p.DefaultRegion
	if region == "" {
		region = phonenumbers.UNKNOWN_REGION
	}
	key := cacheKey{region, s}
	if n, ok := parsed.Get(key); ok {
		return n, nil
	}
	n, err := phonenumbers.Parse(s, region)
	if err != nil || n.GetExtension() != "" || !receivesSMS(n) {
		return "", ErrInvalid
	}
	e164 := phonenumbers.Format(n, phonenumbers.E164)
	if len(e164) > len("+")+maxDigits {
		return "", ErrInvalid
	}
	parsed.Add(key, Number(e164))
	return Number(e164), nil
}

// receivesSMS reports whether n is valid and can receive SMS. In countries without
// separate mobile numbers, as in North America, every number can.
func receivesSMS(n *phonenumbers.PhoneNumber) bool {
	switch phonenumbers.GetNumberType(n) { // UNKNOWN if n is invalid
	case phonenumbers.MOBILE, phonenumbers.FIXED_LINE_OR_MOBILE:
		return true
	default:
		return false
	}
}

// invisible reports whether r is a space or a format character, such as the direction
// marks that address books put around a copied number.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
}

// ASCIIDigit converts a decimal digit of any script to ASCII and returns other characters
// unchanged: libphonenumber supports full-width and Arabic digits only. Each range of
// digits in Unicode begins with zero.
func ASCIIDigit(r rune) rune {
	if r < 0x80 || !unicode.Is(unicode.Nd, r) {
		return r
	}
	for _, run := range unicode.Nd.R16 {
		if lo := rune(run.Lo); lo <= r && r <= rune(run.Hi) {
			return '0' + (r-lo)%10
		}
	}
	for _, run := range unicode.Nd.R32 {
		if lo := rune(run.Lo); lo <= r && r <= rune(run.Hi) {
			return '0' + (r-lo)%10
		}
	}
	return r
}

// KnownRegion reports whether region is an ISO 3166 country with phone numbers.
func KnownRegion(region string) bool {
	return phonenumbers.GetSupportedRegions()[region]
}
