// Package fault holds the error type that a caller can act on. Every other error is
// internal: the HTTP middleware logs it once and does not show it.
//
// It does not depend on HTTP: package problem maps a Kind to a status and writes the
// problem document (RFC 9457).
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind classifies an Error and determines its HTTP status.
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
	PreconditionFailed
	PreconditionRequired
	RangeNotSatisfiable
	TooMany
	Unavailable
)

// Error is safe to show: Code is stable and for programs, Message is for people.
// Neither contains a full number, an OTP or a token.
type Error struct {
	Kind    Kind
	Code    string
	Message string

	// Fields are all validation errors of an Invalid request.
	Fields []Field
	// RetryAfter is the time to wait before a retry; 0 if a retry does not help.
	RetryAfter time.Duration
	// Extra has more members of the problem document, such as player_id.
	Extra map[string]any

	cause error
}

// Field is one validation error: a JSON pointer (RFC 6901), a stable code, and a
// sentence for people.
type Field struct {
	Pointer string
	Code    string
	Detail  string
}

// New returns an Error with a formatted message.
func New(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error returns the text for the log, with the cause.
func (e *Error) Error() string {
	if e.cause != nil && e.Kind == Unavailable {
		return e.Code + ": " + e.cause.Error() // the message says nothing to operators
	}
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause, for the log.
func (e *Error) Unwrap() error { return e.cause }

// Because returns a copy of e with a cause, which is logged and never shown.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// After returns a copy of e with RetryAfter.
func (e *Error) After(wait time.Duration) *Error {
	c := *e
	c.RetryAfter = wait
	return &c
}

// With returns a copy of e with one more member of the problem document.
func (e *Error) With(name string, value any) *Error {
	c := *e
	c.Extra = make(map[string]any, len(e.Extra)+1)
	for k, v := range e.Extra {
		c.Extra[k] = v
	}
	c.Extra[name] = value
	return &c
}

// Validation returns a validation_failed with all fields, or nil if there are none.
func Validation(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	return &Error{
		Kind:    Invalid,
		Code:    "validation_failed",
		Message: "Some values cannot be accepted. The list errors names each of them.",
		Fields:  fields,
	}
}

// SessionEnded returns session_revoked: the caller's session has ended, also during the request.
func SessionEnded() *Error {
	return New(Unauthenticated, "session_revoked", "This session has ended. Sign in again.")
}

// Missing returns not_found. Use it for an absent object and for an object of another
// account alike, so that a caller cannot tell which objects exist.
func Missing() *Error {
	return New(NotFound, "not_found", "There is nothing here that you may see.")
}

// Down returns unavailable: a dependency of the service does not respond.
func Down(cause error) *Error {
	return New(Unavailable, "unavailable", "The service does not work at the moment. Your request was done completely or not at all. Try again in a few seconds.").
		Because(cause).After(2 * time.Second)
}

// Overloaded returns overloaded: a limit of the process refuses the request, which did
// nothing. The message says what to do next.
func Overloaded(message string) *Error {
	return New(Unavailable, "overloaded", "%s", message).After(2 * time.Second)
}

// ErrDraining is the cause of an unavailable that is part of a planned shutdown: the log has
// it at debug, not as a warning.
var ErrDraining = errors.New("the replica shuts down")

// Wrap adds what was being done to an error; nil stays nil.
func Wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// KindOf returns the kind of err, Internal if err is not an *Error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// CodeOf returns the code of err, "" if err is not an *Error.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// IsMissing reports whether err is not_found.
func IsMissing(err error) bool { return KindOf(err) == NotFound }
