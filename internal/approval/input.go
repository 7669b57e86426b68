package approval

import (
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of text fields in characters, which package api checks.
const (
	MaxName         = 100
	MaxRelationship = 50
	MaxEmail        = 254 // RFC 5321, section 4.5.3.1
	maxAge          = 120
)

// CheckBirthDate returns the text of the fault in d, or "".
func CheckBirthDate(d Date, now time.Time) string {
	switch {
	case DateOf(now).Before(d):
		return "A birth date cannot lie in the future."
	case d.AgeOn(now) > maxAge:
		return "This birth date is more than 120 years ago."
	}
	return ""
}

// CheckEmail returns the text of the fault in s, or "".
func CheckEmail(s string) string {
	if utf8.RuneCountInString(s) > MaxEmail {
		return "An e-mail address has at most 254 characters."
	}
	// Refuse invisible characters and address literals such as name@[192.0.2.1].
	hidden := strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == '[' })
	if a, err := mail.ParseAddress(s); err != nil || hidden || a.Address != s || !strings.Contains(s[strings.LastIndexByte(s, '@')+1:], ".") {
		return "This is not an e-mail address."
	}
	return ""
}
