// Package input reads what coaches enter about players and about themselves. The API reads
// it from JSON and the pages from forms; both report every fault with its pointer.
package input

import (
	"regexp"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/wire"
)

// Reader reads what a coach enters, after decoding, and adds to the faults that decoding
// found. It ignores a field that has a fault already.
type Reader struct {
	Phones phone.Parser
	Now    time.Time
	Faults *wire.Faults
}

// hasFault reports whether the field at, or an object around it, has a fault already.
func (e Reader) hasFault(at string) bool {
	for !e.Faults.Has(at) {
		parent := strings.LastIndexByte(at, '/')
		if parent < 0 {
			return false
		}
		at = at[:parent]
	}
	return true
}

// Number reads a mobile number in any spelling.
func (e Reader) Number(at, text string) phone.Number {
	if text == "" || e.hasFault(at) {
		return ""
	}
	n, err := e.Phones.Parse(text)
	if err != nil {
		e.Faults.Add(at, "invalid_number", "This is "+err.Error()+".")
	}
	return n
}

var dateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// BirthDate reads YYYY-MM-DD. ok is false if no living person can have this birth date.
func (e Reader) BirthDate(at, text string) (date approval.Date, ok bool) {
	if e.hasFault(at) {
		return approval.Date{}, false
	}
	date, err := approval.ParseDate(text)
	switch {
	case err != nil && dateForm.MatchString(text):
		e.Faults.Add(at, "invalid_date", "This date does not exist.")
	case err != nil:
		e.Faults.Add(at, "invalid_date", "Write the date as YYYY-MM-DD.")
	default:
		e.Faults.Add(at, "invalid_date", approval.CheckBirthDate(date, e.Now))
	}
	return date, !e.Faults.Has(at)
}

// Email reads an e-mail address.
func (e Reader) Email(at, text string) string {
	if !e.hasFault(at) {
		e.Faults.Add(at, "invalid_email", approval.CheckEmail(text))
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
