package approval

import (
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The bounds of what a coach may enter, in characters; package api keeps to them.
const (
	MaxName         = 100
	MaxRelationship = 50
	MaxEmail        = 254 // RFC 5321, section 4.5.3.1
	MaxMedical      = 4000
	maxAge          = 120
)

// CheckBirthDate says what is wrong with d as a birth date, or "".
func CheckBirthDate(d Date, now time.Time) string {
	switch {
	case DateOf(now).Before(d):
		return "A birth date cannot lie in the future."
	case d.AgeOn(now) > maxAge:
		return "Nobody is as old as that."
	}
	return ""
}

// CheckEmail says what is wrong with s as an e-mail address, or "".
func CheckEmail(s string) string {
	if utf8.RuneCountInString(s) > MaxEmail {
		return "An e-mail address has at most 254 characters."
	}
	// What does not show has no place in one, nor has the address of a machine.
	hidden := strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == '[' })
	if a, err := mail.ParseAddress(s); err != nil || hidden || a.Address != s || !strings.Contains(s[strings.LastIndexByte(s, '@')+1:], ".") {
		return "This is not an e-mail address."
	}
	return ""
}
