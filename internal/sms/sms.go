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

	"github.com/touchline/touchline/internal/notify"
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
	ID string
	// Attempt is how often the message was tried since it was queued, TotalAttempts since
	// it was created. Both include the current attempt.
	Attempt, TotalAttempts int

	To   phone.Number
	Text string
	Kind Kind
}

// ref names the current attempt through a provider.
func (m Message) ref(provider string) notify.MessageRef {
	return notify.MessageRef{MessageID: m.ID, Attempt: m.TotalAttempts, Provider: provider}
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

// Config is what New needs.
type Config struct {
	// Spec is "log", "http:<url>" or "kannel:<url of sendsms>".
	Spec string
	// User, Password and Sender are those of a provider that has them.
	User, Password, Sender string
	// ReceiptURL returns the address at which a provider reports what became of an attempt,
	// without a query.
	ReceiptURL func(notify.MessageRef) string
	// Terminal is where "log" prints.
	Terminal io.Writer
}

// New returns the Provider for c.Spec.
func New(c Config) (Provider, error) {
	kind, rest, _ := strings.Cut(c.Spec, ":")
	switch {
	case c.Spec == "log":
		return NewLog(c.Terminal), nil
	case kind == "http":
		return asProvider(NewHTTP(rest, sendTimeout))
	case kind == "kannel":
		return asProvider(NewKannel(rest, c, sendTimeout))
	default:
		// The error does not repeat the spec: it may contain a key.
		return nil, errors.New("unknown SMS provider; use log, http:<url> or kannel:<url>")
	}
}

// asProvider returns nil with an error: a Provider that holds a nil pointer is not nil.
func asProvider[P Provider](p P, err error) (Provider, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ReceiptReaders returns the readers of the providers in c that report receipts.
func ReceiptReaders(c Config) map[string]notify.ReceiptReader {
	readers := map[string]notify.ReceiptReader{}
	if strings.HasPrefix(c.Spec, "kannel:") {
		readers[kannel] = readKannelReceipt
	}
	return readers
}
