package phone

import (
	"log/slog"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// Number is a mobile number in E.164, such as +919876543210. Only a Parser makes
// one out of what a stranger typed.
type Number string

// hidden stands for the digits that Mask leaves out. It is always as long, so
// that it does not tell how many there are.
const hidden = "••••••"

// Mask returns the number for logs: the country code and at most the last four
// digits, as in +91••••••3210, fewer of a short number. At least six digits, or
// all where there are no more, stay hidden.
func (n Number) Mask() string {
	code, national := n.split()
	if code == "" {
		return hidden
	}
	shown := min(4, max(0, len(national)-6))
	return "+" + code + hidden + national[len(national)-shown:]
}

// LogValue masks the number wherever slog writes it.
func (n Number) LogValue() slog.Value { return slog.StringValue(n.Mask()) }

// Region returns the ISO 3166 country of the number, also where countries share a
// code (+1, +7, +44, …), "001" for a network of no country, and "" where n is no
// number.
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
		return regions[0] // most countries: no need to parse again
	}
	parsed, err := phonenumbers.Parse(string(n), phonenumbers.UNKNOWN_REGION)
	if err != nil {
		return ""
	}
	return phonenumbers.GetRegionCodeForNumber(parsed)
}

// Format returns the number for people, grouped as its country does, with the
// country code: +91 98765 43210.
func (n Number) Format() string {
	parsed, err := phonenumbers.Parse(string(n), phonenumbers.UNKNOWN_REGION)
	if err != nil {
		return string(n)
	}
	return phonenumbers.Format(parsed, phonenumbers.INTERNATIONAL)
}

// split returns country code and national digits, both empty where n is not in
// E.164. No code begins another, so the first that is known is the one.
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
