package api

import (
	"regexp"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/wire"
)

// entry reads what a coach enters about people, past what decode has checked,
// and adds to the faults that decode found. A place that has a fault already is
// not looked at again.
type entry struct {
	server *Server
	now    time.Time
	faults *wire.Faults
}

func (s *Server) entry(f *wire.Faults) entry { return entry{s, s.Now(), f} }

// hasFault says whether at, or something that it lies in, has a fault already.
func (e entry) hasFault(at string) bool {
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
func (e entry) number(at, text string) phone.Number {
	if e.hasFault(at) {
		return ""
	}
	return e.server.number(text, at, e.faults)
}

var dateForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// birthDate reads YYYY-MM-DD and says whether it is a day on which somebody who
// lives may have been born.
func (e entry) birthDate(at, text string) (approval.Date, bool) {
	if e.hasFault(at) {
		return approval.Date{}, false
	}
	born, err := approval.ParseDate(text)
	switch {
	case err != nil && dateForm.MatchString(text):
		e.faults.Add(at, "invalid_date", "This date does not exist.")
	case err != nil:
		e.faults.Add(at, "invalid_date", "Write the date as YYYY-MM-DD.")
	default:
		e.faults.Add(at, "invalid_date", approval.CheckBirthDate(born, e.now))
	}
	return born, !e.faults.Has(at)
}

// email reads an e-mail address.
func (e entry) email(at, text string) string {
	if !e.hasFault(at) {
		e.faults.Add(at, "invalid_email", approval.CheckEmail(text))
	}
	return text
}

// patchText is what a merge patch does to a text that may be cleared: nil leaves
// it, a pointer to "" clears it (RFC 7396).
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

// unchanged takes a text as decode has checked it.
func unchanged(text string) string { return text }
