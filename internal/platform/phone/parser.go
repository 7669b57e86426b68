package phone

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
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

type cacheKey struct{ region, ranges, text string }

// Parser parses numbers as people write them. It is safe for concurrent use.
type Parser struct {
	// DefaultRegion is the ISO 3166 country of numbers without a country code.
	// If it is empty, such numbers are invalid.
	DefaultRegion string
	// MobileRanges are the beginnings, such as +9155, of numbers that receive SMS whatever the library knows of them. The library
	// has no way to replace its data.
	MobileRanges []string
}

// Parse accepts every spelling of a mobile number that libphonenumber accepts: spaces,
// brackets, dashes, digits of other scripts, a national or international prefix, or a
// tel: URI; also with characters that show nothing, and as spreadsheets write numbers. It returns
// ErrInvalid for an invalid number, a number that cannot receive an SMS (such as a fixed line in a
// country with separate mobile numbers), and a number with an extension. Parsing the result again
// returns the same number.
func (p Parser) Parse(s string) (Number, error) {
	if len(s) > maxInput || !utf8.ValidString(s) {
		return "", ErrInvalid
	}
	s = strings.TrimRight(strings.TrimSpace(strings.ReplaceAll(Plain(s), "\t", " ")), ",;. ")
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", ErrInvalid
	}
	key := cacheKey{p.DefaultRegion, strings.Join(p.MobileRanges, ","), s}
	if n, ok := parsed.Get(key); ok {
		return n, nil
	}
	s = unspreadsheet(s)
	if exponentForm.MatchString(s) { // libphonenumber reads the letter as a 3
		return "", ErrInvalid
	}
	n, err := p.parse(s)
	for _, other := range p.otherForms(s) {
		if err != nil {
			n, err = p.parse(other)
		}
	}
	if err != nil {
		return "", err
	}
	parsed.Add(key, n)
	return n, nil
}

func (p Parser) parse(s string) (Number, error) {
	region := p.DefaultRegion
	if region == "" {
		region = phonenumbers.UNKNOWN_REGION
	}
	n, err := phonenumbers.Parse(s, region)
	if err != nil || n.GetExtension() != "" {
		return "", ErrInvalid
	}
	e164 := phonenumbers.Format(n, phonenumbers.E164)
	if len(e164) > len("+")+maxDigits || !receivesSMS(n) && !p.inMobileRange(n, e164) {
		return "", ErrInvalid
	}
	return Number(e164), nil
}

// inMobileRange reports whether a number begins as one of MobileRanges and is as long as a mobile number of its country.
func (p Parser) inMobileRange(n *phonenumbers.PhoneNumber, e164 string) bool {
	length := int32(len(phonenumbers.GetNationalSignificantNumber(n)))
	return slices.ContainsFunc(p.MobileRanges, func(start string) bool { return strings.HasPrefix(e164, start) }) &&
		slices.ContainsFunc(mobileRanges()[n.GetCountryCode()], func(r mobileRange) bool { return slices.Contains(r.lengths, length) })
}

// KnownRange reports whether MobileRanges may have a text: a plus, a country code and further digits.
func KnownRange(start string) bool {
	_, national := Number(start).split()
	return national != ""
}

// What programs and people write around a number.
var (
	quotedNumber  = regexp.MustCompile(`^=?"(.*)"$`)                         // ="9812345680" keeps zeros
	decimalNumber = regexp.MustCompile(`^(\+?\d{8,15})[.,]0+$`)              // 9812345680.0
	exactNumber   = regexp.MustCompile(`^(\d)[.,](\d+)[Ee]\+?0*(\d{1,2})$`)  // 9.812345681E9
	exponentForm  = regexp.MustCompile(`^\+?\d+([.,]\d+)?[Ee][-+]?\d{1,2}$`) // 9.87654321E+09 has lost digits
	trailingNote  = regexp.MustCompile(` *\([^()\d]*\)$`)                    // 98123 45680 (father)
)

// unspreadsheet returns a number as it was before a spreadsheet program changed its form.
func unspreadsheet(s string) string {
	s = trailingNote.ReplaceAllString(quotedNumber.ReplaceAllString(s, "$1"), "")
	s = decimalNumber.ReplaceAllString(s, "$1")
	if m := exactNumber.FindStringSubmatch(s); m != nil && strconv.Itoa(len(m[2])) == m[3] { // no digit is lost
		return m[1] + m[2]
	}
	return s
}

// otherForms returns other readings of a text that is no number: with a zero before its country code, as in
// 0919876543210 and +091 98765 43210, and with the 1 that Mexico has dropped.
func (p Parser) otherForms(s string) []string {
	digits := phonenumbers.NormalizeDigitsOnly(s)
	if len(digits) < 10 || len(digits) > maxDigits+2 || strings.ContainsFunc(s, unicode.IsLetter) {
		return nil
	}
	rest, code := strings.TrimLeft(digits, "0"), phonenumbers.GetCountryCodeForRegion(p.DefaultRegion)
	switch {
	case rest != digits && (strings.HasPrefix(s, "+") || code > 0 && strings.HasPrefix(rest, strconv.Itoa(code))):
		return []string{"+" + rest}
	case strings.HasPrefix(s, "+") && strings.HasPrefix(digits, "521") && len(digits) == 13:
		return []string{"+52" + digits[3:]}
	}
	return nil
}

// receivesSMS reports whether n can receive SMS, as far as is known. In countries without
// separate mobile numbers, as in North America, every number can.
func receivesSMS(n *phonenumbers.PhoneNumber) bool {
	switch phonenumbers.GetNumberType(n) {
	case phonenumbers.MOBILE, phonenumbers.FIXED_LINE_OR_MOBILE:
		return true
	case phonenumbers.UNKNOWN: // no valid number, or one of a new range
		return mayBeNew(n)
	default:
		return false
	}
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
