// Package sms sends SMS. Each Provider has a file; OutboxSender connects one to the
// outbox. A provider makes one attempt and reports the result. Retries, texts and
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

// Provider sends messages. Send makes one attempt and returns nil if the provider
// accepted the message (which does not mean that it arrived), a *notify.SendError, or
// the context's error. No error contains the text, the number or a credential. A
// Provider is safe for concurrent use.
type Provider interface {
	Send(ctx context.Context, m Message) error
}

// sendTimeout bounds one attempt.
const sendTimeout = 10 * time.Second

// New returns the Provider for spec: "log", which prints to out, or "http:<url>".
func New(spec string, out io.Writer) (Provider, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch {
	case spec == "log":
		return NewLog(out), nil
	case kind == "http":
		h, err := NewHTTP(rest, sendTimeout)
		if err != nil {
			return nil, err // returning h would make a non-nil Provider that holds a nil *HTTP
		}
		return h, nil
	default:
		// The error does not repeat spec: it may contain a key.
		return nil, errors.New("unknown SMS provider; use log or http:<url>")
	}
}
