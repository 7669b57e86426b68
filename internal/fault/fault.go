// Package fault holds the one error type that a caller can act on. Whatever is
// not a *fault.Error is internal: logged once at the edge, never shown.
//
// The package knows codes and kinds, not HTTP: package problem maps a Kind to
// its status and writes the problem document (RFC 9457).
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of refusal an Error is, and thereby its HTTP status.
type Kind int

// The kinds, in the order in which a request is checked.
const (
	Internal Kind = iota
	MethodNotAllowed
	Unauthenticated
	Forbidden
	TooLarge
	UnsupportedMedia
	NotAcceptable
	Malformed
	NotFound
	Invalid
	Gone
	Conflict
	TooMany
	Unavailable
)

// Error is safe to show: Code is stable and for programs, Message is for
// people. Neither ever holds a full number, an OTP or a token.
type Error struct {
	Kind    Kind
	Code    string
	Message string

	// Fields are all the faults of an Invalid request.
	Fields []Field
	// RetryAfter is how long to wait; zero where waiting does not help.
	RetryAfter time.Duration
	// Extra members of the problem document, such as player_id.
	Extra map[string]any

	cause error
}

// Field is one fault of a request: a JSON pointer (RFC 6901), a stable code,
// and a sentence for people.
type Field struct {
	Pointer string
	Code    string
	Detail  string
}

// New returns an Error with a formatted message.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.cause != nil && e.Kind == Unavailable {
		return e.Code + ": " + e.cause.Error() // the message is for callers, this for operators
	}
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns what lies below, for the log.
func (e *Error) Unwrap() error { return e.cause }

// Because returns e with the cause that the log shall name; it is never shown.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// After returns e with the wait after which a retry may succeed.
func (e *Error) After(wait time.Duration) *Error {
	c := *e
	c.RetryAfter = wait
	return &c
}

// With returns e with one more member for the problem document.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Extra = make(map[string]any, len(e.Extra)+1)
	for k, v := range e.Extra {
		c.Extra[k] = v
	}
	c.Extra[name] = value
	return &c
}

// Validation is a validation_failed that names every fault found. It returns nil
// where there is none, so that it can end a validation.
func Validation(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{
		Kind:    Invalid,
		Code:    "validation_failed",
		Message: "Some of what was sent cannot be accepted; each fault is listed in errors.",
		Fields:  fields,
	}
}

// Missing is the one answer for what is absent and for what is not the
// caller's: the two must not be told apart.
func Missing() *Error {
	return New(NotFound, "not_found", "There is nothing here that you may see.")
}

// Down says that something the service needs is away for the moment.
func Down(cause error) *Error {
	return New(Unavailable, "unavailable", "The service cannot answer at the moment. Nothing was left half done; ask again shortly.").
		Because(cause).After(2 * time.Second)
}

// KindOf returns the kind of err; Internal where it is no *Error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// CodeOf returns the code of err, or "" where it is no *Error.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
