package phone

import (
	"cmp"
	"log/slog"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Number is a mobile number in E.164, such as +919876543210. Use a Parser for input.
type Number string

// hidden replaces the digits that Mask hides. Its length is constant, so that it does
// not reveal how many there are.
const hidden = "••••••"

// Mask returns the number for logs: the country code and at most the last four digits,
// as in +91••••••3210. At least six digits stay hidden, or all if there are fewer.
func (n Number) Mask() string {
	code, national := n.split()
	if code == "" {
		return hidden
	}
	shown := min(4, max(0, len(national)-6))
	return "+" + code + hidden + national[len(national)-shown:]
}

// Ending returns the last four digits for people who know the number, as in •••• 3210. It
// shows none if fewer than six digits would stay hidden.
func (n Number) Ending() string {
	code, national := n.split()
	if code == "" {
		return "••••"
	}
	shown := min(4, max(0, len(national)-6))
	return strings.TrimSpace("•••• " + national[len(national)-shown:])
}

// LogValue masks the number in logs.
func (n Number) LogValue() slog.Value { return slog.StringValue(n.Mask()) }

// Region returns the ISO 3166 country of the number, also for countries that share a
// code (+1, +7, +44, …). It returns "001" for a network without a country, and "" if n is
// invalid. A number of a range that libphonenumber does not know yet is in the main country of its code.
func (n Number) Region() string {
	code, _ := n.split()
	if code == "" {
		return ""
	}
	cc, err := strconv.Atoi(code)
	if err != nil {
		return ""
	}
	if regions := phonenumbers.GetRegionCodesForCountryCode(cc); len(regions) == 1 {
		return regions[0] // most countries share their code with no other: no need to parse
	}
	parsed, err := phonenumbers.Parse(string(n), phonenumbers.UNKNOWN_REGION)
	if err != nil {
		return ""
	}
	return cmp.Or(phonenumbers.GetRegionCodeForNumber(parsed), phonenumbers.GetRegionCodeForCountryCode(cc))
}

// Format returns the number for people, grouped as usual in its country, with the
// country code: +91 98765 43210.
func (n Number) Format() string {
	parsed, err := phonenumbers.Parse(string(n), phonenumbers.UNKNOWN_REGION)
	if err != nil {
		return string(n)
	}
	return phonenumbers.Format(parsed, phonenumbers.INTERNATIONAL)
}

// split returns the country code and the national digits, both empty if n is not E.164.
// No country code is a prefix of another, so the first known code is correct.
func (n Number) split() (code, national string) {
	digits, ok := strings.CutPrefix(string(n), "+")
	if !ok || len(digits) > maxDigits || strings.ContainsFunc(digits, notDigit) {
		return "", ""
	}
	for length := 1; length <= phonenumbers.MAX_LENGTH_COUNTRY_CODE && length < len(digits); length++ {
		cc, err := strconv.Atoi(digits[:length])
		if err == nil && cc != 0 && len(phonenumbers.GetRegionCodesForCountryCode(cc)) > 0 {
			return digits[:length], digits[length:]
		}
	}
	return "", ""
}

func notDigit(r rune) bool { return r < '0' || r > '9' }
