// Package sms sends SMS through a provider. Each provider is a Sender in a file of
// its own. A Sender makes one attempt and reports the result; retries, texts and
// limits belong to packages worker, notify and store.
package sms

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/phone"
)

// Kind tells the gateway what a message is: many gateways send OTPs by a faster
// route.
type Kind string

// The kinds.
const (
	OTP  Kind = "otp"
	Text Kind = "message"
)

// Message is one SMS. Its ID is the same in every attempt, so that a gateway can drop
// duplicates.
type Message struct {
	ID   string
	To   phone.Number
	Text string
	Kind Kind
}

// Sender makes one attempt to send a message. It returns nil if the gateway accepted
// the message, which does not mean that it arrived; a *Failure; or the context's
// error. No error contains the text, the number or a credential. A Sender is safe for
// concurrent use.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// sendTimeout bounds one attempt.
const sendTimeout = 10 * time.Second

// New returns the Sender for spec: "log", which prints to out, or "http:<url>".
func New(spec string, out io.Writer) (Sender, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch {
	case spec == "log":
		return NewLog(out), nil
	case kind == "http":
		h, err := NewHTTP(rest, sendTimeout)
		if err != nil {
			return nil, err // returning h would make a non-nil Sender that holds a nil *HTTP
		}
		return h, nil
	default:
		// The error does not repeat spec: it may contain a key.
		return nil, errors.New("unknown SMS provider; use log or http:<url>")
	}
}
