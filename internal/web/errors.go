package web

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/wire"
)

// refused reports an error that the page shows: the refusal of a limit is a security event.
func (p *Pages) refused(r *Request, err error) {
	if p.Refused != nil {
		p.Refused(r.Context(), httpx.InfoFrom(r.Context()), err)
	}
}

// ErrorText describes an error and its remedy, in the language of the page. The
// catalogue has a text "fault.<code>" for each error that a page can meet.
func (p *Pages) ErrorText(r *Request, err error) string {
	v := p.NewView(r, "failure.title")
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return v.MustT("fault.internal")
	}
	pairs := []any{"Wait", v.Wait(f.RetryAfter)}
	for name, value := range f.Extra {
		pairs = append(pairs, name, value)
	}
	if _, ends := f.Extra["ends_at"]; ends && f.Code == "message_limit" {
		return v.MustT("fault.message_limit.wait", pairs...)
	}
	if isBlocked(f) {
		return v.MustT("fault.otp_attempts_exceeded.number", pairs...)
	}
	if left, ok := f.Extra["attempts_left"].(int); ok {
		if left == 0 {
			return v.MustT("fault.otp_incorrect.last")
		}
		pairs = append(pairs, "Count", left)
	}
	text, err := v.T("fault."+f.Code, pairs...)
	if err != nil {
		return f.Message
	}
	return text
}

// AddError puts err next to a field. The page of a limit is 429.
func (p *Pages) AddError(r *Request, f *Form, field string, err error) {
	f.Add(field, p.ErrorText(r, err))
	p.LimitedBy(r, f, err)
}

// LimitedBy makes the page 429 if err is a limit.
func (p *Pages) LimitedBy(r *Request, f *Form, err error) {
	p.refused(r, err)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.TooMany {
		f.wait = max(f.wait, e.RetryAfter, time.Second)
		f.Blocked = f.Blocked || isBlocked(e)
	}
}

// isBlocked reports whether too many wrong codes block the number.
func isBlocked(e *fault.Error) bool {
	return e.Code == "otp_attempts_exceeded" && e.Extra["limit"] == "otp_wrong_per_day"
}

// withFaults returns the page of a form as 200, or as 422 if the form has faults, or as 429
// with Retry-After if a limit is one of them.
func (resp Response) withFaults(f *Form) Response {
	switch {
	case f.wait > 0:
		resp.Status = http.StatusTooManyRequests
		resp.Header = http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(f.wait.Seconds())))}}
	case len(f.Faults) > 0:
		resp.Status = http.StatusUnprocessableEntity
	}
	return resp
}

// Wait returns a waiting time that people read, rounded up: "2 minutes".
func (v *Texts) Wait(d time.Duration) string {
	switch {
	case d <= 0:
		return v.MustT("time.soon")
	case d < 2*time.Minute:
		return v.MustT("time.seconds", "Count", int(math.Ceil(d.Seconds())))
	case d < 2*time.Hour:
		return v.MustT("time.minutes", "Count", int(math.Ceil(d.Minutes())))
	}
	return v.MustT("time.hours", "Count", int(math.Ceil(d.Hours())))
}

// AddFaults puts the faults of a validation error next to the fields of a form. fields
// maps JSON pointers to field names. It returns false if err is another error.
func (p *Pages) AddFaults(r *Request, f *Form, err error, fields map[string]string) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Invalid {
		return false
	}
	if len(e.Fields) == 0 {
		f.Add("", p.ErrorText(r, err))
	}
	for _, field := range e.Fields {
		name, known := fields[field.Pointer]
		if !known {
			name = strings.ReplaceAll(strings.Trim(field.Pointer, "/"), "/", "_")
		}
		code := field.Code
		if (code == "too_short" || code == "invalid_characters") && strings.TrimSpace(wire.Visible(f.Value(name), false)) == "" {
			code = "required"
		}
		if field.Pointer == "/file" && code == "required" {
			code = "no_file"
		}
		text, err := p.NewView(r, "failure.title").T("invalid." + code)
		if err != nil {
			text = field.Detail
		}
		f.Add(name, text)
	}
	return true
}
