package api

import (
	"regexp"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/wire"
)

// contactReader reads what a coach enters about people, after decoding, and adds to the
// faults that decoding found. It ignores a field that has a fault already.
type contactReader struct {
	server *Server
	now    time.Time
	faults *wire.Faults
}

func (s *Server) contactReader(f *wire.Faults) contactReader { return contactReader{s, s.Now(), f} }

// hasFault reports whether the field at, or an object around it, has a fault already.
func (e contactReader) hasFault(at string) bool {
	for !e.faults.Has(at) {
		parent := strings.LastIndexByte(at, '/')
		if parent < 0 {
			return false
		}
		at = at[:parent]
	}
	return true
}

// number reads a mobile number in any spelling.
func (e contactReader) number(at, text string) phone.Number {
	if e.hasFault(at) {
		return ""
	}
	return e.server.number(text, at, e.faults)
}

var dateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// birthDate reads YYYY-MM-DD. ok is false if no living person can have this birth date.
func (e contactReader) birthDate(at, text string) (date approval.Date, ok bool) {
	if e.hasFault(at) {
		return approval.Date{}, false
	}
	date, err := approval.ParseDate(text)
	switch {
	case err != nil && dateForm.MatchString(text):
		e.faults.Add(at, "invalid_date", "This date does not exist.")
	case err != nil:
		e.faults.Add(at, "invalid_date", "Write the date as YYYY-MM-DD.")
	default:
		e.faults.Add(at, "invalid_date", approval.CheckBirthDate(date, e.now))
	}
	return date, !e.faults.Has(at)
}

// email reads an e-mail address.
func (e contactReader) email(at, text string) string {
	if !e.hasFault(at) {
		e.faults.Add(at, "invalid_email", approval.CheckEmail(text))
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
