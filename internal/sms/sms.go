// Package sms hands messages to whoever carries them: one Sender, and one file for
// each provider. It sends once and says how that went. When to try again, what a
// message says and who may get one is others' business.
package sms

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/phone"
)

// Kind tells a gateway what it carries, as many send codes by a faster route.
type Kind string

// The kinds.
const (
	OTP  Kind = "otp"
	Text Kind = "message"
)

// Message is one SMS. Its ID is the same in every try, so that a gateway can drop
// what it has sent already.
type Message struct {
	ID   string
	To   phone.Number
	Text string
	Kind Kind
}

// Sender sends. A nil error says that the message was accepted, not that it has
// arrived. Any other is a *Failure, or the context's where that ended; no error
// repeats text, number or credentials. It is safe for concurrent use.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// limit is how long a gateway may take to answer.
const limit = 10 * time.Second

// New returns the Sender that spec names: log, which prints to out, or
// http:<url>.
func New(spec string, out io.Writer) (Sender, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch {
	case spec == "log":
		return NewLog(out), nil
	case kind == "http":
		h, err := NewHTTP(rest, limit)
		if err != nil {
			return nil, err // not a nil *HTTP in a Sender that is not nil
		}
		return h, nil
	default:
		// spec is not repeated: it may hold a key.
		return nil, errors.New("this SMS provider is not built yet; known are log and http:<url>")
	}
}
