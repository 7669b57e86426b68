package phone

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/nyaruka/phonenumbers"
)

// ErrInvalid is what Parse returns for all that is no mobile number. Its text may
// be shown to whoever typed it, and repeats nothing of it.
var ErrInvalid = errors.New("not a mobile number that can receive an SMS; write it with its country code, as in +91 98765 43210")

// maxInput bounds what is looked at, in bytes: the longest number in full-width
// digits with punctuation between them all is shorter, and nothing longer reaches
// the regular expressions.
const maxInput = 128

// maxDigits is the longest E.164 number (ITU-T E.164, section 6).
const maxDigits = 15

// parsed caches valid numbers: a caller usually sends the same text several times
// (request an OTP, verify it, sign in), and parsing takes 24 µs.
var parsed, _ = lru.New[cacheKey, Number](2048) // fails only for a size below 1

type cacheKey struct{ region, text string }

// Parser reads numbers as people write them. It is safe for concurrent use.
type Parser struct {
	// DefaultRegion is the ISO 3166 country of numbers without a country code.
	// Empty, such numbers are refused.
	DefaultRegion string
}

// Parse reads any spelling of a mobile number that libphonenumber reads: with
// spaces, brackets, dashes, full-width or other scripts' digits, a national or
// international prefix, or as a tel: URI. It returns ErrInvalid for what is no
// valid number, cannot receive an SMS (such as a fixed line where mobile numbers
// can be told apart), or has an extension. The answer re-parses to itself.
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

// receivesSMS says whether n is valid and of a type that gets SMS. Where a
// country does not tell fixed from mobile, as in North America, it may.
func receivesSMS(n *phonenumbers.PhoneNumber) bool {
	switch phonenumbers.GetNumberType(n) { // UNKNOWN where n is not valid
	case phonenumbers.MOBILE, phonenumbers.FIXED_LINE_OR_MOBILE:
		return true
	default:
		return false
	}
}

// invisible says whether r is space or a mark without a shape, such as the
// direction marks that address books put around a number that is copied.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
}

// ASCIIDigit turns a decimal digit of any script into its ASCII one, and leaves
// other characters alone: libphonenumber knows full-width and Arabic digits only.
// Each run of digits in Unicode begins with its zero.
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

// KnownRegion says whether region is an ISO 3166 country that has numbers.
func KnownRegion(region string) bool {
	return phonenumbers.GetSupportedRegions()[region]
}
