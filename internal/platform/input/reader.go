// Package input reads what people enter: players and profiles. The API reads it from JSON and the
// pages from forms; both report every fault with its pointer.
package input

import (
	"regexp"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/wire"
)

// Reader reads and checks values after decoding. It adds their faults to those of the
// decoding, and ignores a field that has one already.
type Reader struct {
	Phones phone.Parser
	Now    time.Time
	Faults *wire.Faults
}

// hasFault reports whether the field at, or an object around it, has a fault already.
func (r Reader) hasFault(at string) bool {
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
	if text == "" || r.hasFault(at) {
		return ""
	}
	n, err := r.Phones.Parse(text)
	if err != nil {
		r.Faults.Add(at, "invalid_number", "This is "+err.Error()+".")
	}
	return n
}

var dateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// BirthDate reads YYYY-MM-DD. ok is false if the field has a fault.
func (r Reader) BirthDate(at, text string) (date approval.Date, ok bool) {
	if r.hasFault(at) {
		return approval.Date{}, false
	}
	date, err := approval.ParseDate(text)
	switch {
	case err != nil && dateForm.MatchString(text):
		r.Faults.Add(at, "invalid_date", "This date does not exist.")
	case err != nil:
		r.Faults.Add(at, "invalid_date", "Write the date as YYYY-MM-DD.")
	default:
		r.Faults.Add(at, "invalid_date", approval.CheckBirthDate(date, r.Now))
	}
	return date, !r.Faults.Has(at)
}

// Email reads an e-mail address.
func (r Reader) Email(at, text string) string {
	if !r.hasFault(at) {
		r.Faults.Add(at, "invalid_email", approval.CheckEmail(text))
	}
	return text
}

// patchText returns the new text of a merge patch: nil keeps the old one and a pointer to
// "" clears it (RFC 7396).
func patchText[T ~string](o wire.Opt[string], read func(text string) T) *T {
	if !o.Set {
		return nil
	}
	var value T
	if !o.Null {
		value = read(o.Value)
	}
	return &value
}

func unchanged(text string) string { return text }
