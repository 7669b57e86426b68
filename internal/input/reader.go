// Package input reads what people enter: numbers, addresses, days and profiles. The API reads it from JSON and the
// pages from forms; both report every fault with its pointer.
package input

import (
	"net/mail"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/language"
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

// Email reads an e-mail address. It returns the address as ReadEmail does.
func (r Reader) Email(at, text string) string {
	address, wrong := ReadEmail(text)
	if !r.HasFault(at) {
		r.Faults.Add(at, "invalid_email", wrong)
	}
	return address
}

// Language reads the code of a language that is offered, or "".
func (r Reader) Language(at, code string) string {
	if code != "" && !r.HasFault(at) {
		CheckLanguage(at, code, r.Faults)
	}
	return code
}

// CheckLanguage adds a fault if a language is not offered.
func CheckLanguage(at, code string, f *wire.Faults) {
	if !language.IsOffered(code) {
		f.Add(at, "invalid_value", "This must be one of "+strings.Join(language.Offered(), ", ")+".")
	}
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

// ReadEmail returns an address in the form of RFC 5321, and the text of its fault, or "". It drops spaces around it
// and characters that show nothing, which copying adds. A part before the @ with quotation marks that it does not need loses them; one such as
// "meera..rao", which Japanese networks gave out, gets them. Letters of full width and other forms become plain ones (NFKC), and a domain
// has one spelling: small letters, and its own script in place of A-labels.
func ReadEmail(s string) (address, wrong string) {
	s = strings.TrimSpace(wire.Visible(norm.NFKC.String(s), false))
	const tooLong = "An e-mail address has at most 254 characters."
	if len(s) > maxEmail {
		return s, tooLong
	}
	a, err := mail.ParseAddress(s)
	if at := strings.LastIndexByte(s, '@'); err != nil && at > 0 && dotted.MatchString(s[:at]) {
		a, err = mail.ParseAddress(`"` + s[:at] + `"` + s[at:])
	}
	const notAnAddress = "This is not an e-mail address."
	if err != nil {
		return s, notAnAddress
	}
	canonical := strings.TrimSuffix(strings.TrimPrefix((&mail.Address{Address: a.Address}).String(), "<"), ">")
	at := strings.LastIndexByte(canonical, '@')
	local := canonical[:at]
	domain, isDomain := mailDomain(canonical[at+1:])
	quoted := strings.HasPrefix(local, `"`)
	// Refuse a name, a comment, characters that cannot be printed, and address literals such as name@[192.0.2.1].
	other := a.Address != s && !quoted && !strings.HasPrefix(s, `"`)
	hidden := strings.ContainsFunc(s+canonical, func(r rune) bool { return !unicode.IsPrint(r) })
	if other || a.Name != "" || hidden || quoted && !ascii(local) || len(local) > maxLocal || !isDomain {
		return s, notAnAddress
	}
	if canonical = local + "@" + domain; len(canonical) > maxEmail {
		return s, tooLong
	}
	return canonical, ""
}

// dotted is a part before the @ that has dots where RFC 5321 allows none.
var dotted = regexp.MustCompile(`^[A-Za-z0-9._+-]+$`)

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// mailDomains converts domains to A-labels and refuses those that the DNS cannot have.
var mailDomains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.VerifyDNSLength(true))

// mailDomain returns the one spelling of a domain, in its own script: bücher.example. It reports whether the domain has two labels or more
// and can be in the DNS: an IP address cannot, which ends with a number (RFC 3696, section 2).
func mailDomain(domain string) (string, bool) {
	aLabels, err := mailDomains.ToASCII(domain)
	last := aLabels[strings.LastIndexByte(aLabels, '.')+1:]
	if err != nil || len(last) == len(aLabels) || strings.Trim(last, "0123456789") == "" {
		return domain, false
	}
	domain, err = mailDomains.ToUnicode(aLabels)
	return domain, err == nil
}
