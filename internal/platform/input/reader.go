// Package input reads what people enter: numbers, addresses, days and profiles. The API reads it from JSON and the
// pages from forms; both report every fault with its pointer.
package input

import (
	"net/mail"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"

	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Reader reads and checks values after decoding. It adds their faults to the faults of the
// decoding, and ignores a field that has one already.
type Reader struct {
	Phones phone.Parser
	Now    time.Time
	Faults *wire.Faults
}

// HasFault reports whether the field at, or an object around it, has a fault already.
func (r Reader) HasFault(at string) bool {
	for !r.Faults.Has(at) {
		parent := strings.LastIndexByte(at, '/')
		if parent < 0 {
			return false
		}
		at = at[:parent]
	}
	return true
}

// Number reads a mobile number in any spelling.
func (r Reader) Number(at, text string) phone.Number {
	if text == "" || r.HasFault(at) {
		return ""
	}
	n, err := r.Phones.Parse(text)
	if err != nil {
		r.Faults.Add(at, "invalid_number", "This is "+err.Error()+".")
	}
	return n
}

// Email reads an e-mail address.
func (r Reader) Email(at, text string) string {
	if !r.HasFault(at) {
		r.Faults.Add(at, "invalid_email", CheckEmail(text))
	}
	return text
}

// PatchText returns the new text of a merge patch: nil keeps the old one and a pointer to
// "" clears it (RFC 7396).
func PatchText[T ~string](o wire.Opt[string], read func(text string) T) *T {
	if !o.Set {
		return nil
	}
	var value T
	if !o.Null {
		value = read(o.Value)
	}
	return &value
}

// The bounds of RFC 5321, section 4.5.3.1, in bytes, and of RFC 1035, section 2.3.4.
const (
	maxEmail = 254
	maxLocal = 64
)

// CheckEmail returns the text of the fault in s, or "".
func CheckEmail(s string) string {
	if len(s) > maxEmail {
		return "An e-mail address has at most 254 characters."
	}
	// Refuse invisible characters and address literals such as name@[192.0.2.1].
	hidden := strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == '[' })
	at := strings.LastIndexByte(s, '@')
	if a, err := mail.ParseAddress(s); err != nil || hidden || a.Address != s || at > maxLocal || !isMailDomain(s[at+1:]) {
		return "This is not an e-mail address."
	}
	return ""
}

// mailDomains converts domains to A-labels and refuses those that the DNS cannot have.
var mailDomains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true))

// isMailDomain reports whether a domain of two labels or more can be in the DNS, also an internationalised one such as bücher.example.
func isMailDomain(domain string) bool {
	ascii, err := mailDomains.ToASCII(domain)
	return err == nil && !strings.HasSuffix(ascii, ".") && strings.Contains(ascii, ".")
}
