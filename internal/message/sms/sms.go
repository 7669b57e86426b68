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

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
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
	// Template is the template of Text, for providers that send templates only.
	Template message.Text
}

// ref names the current attempt through a provider.
func (m Message) ref(provider string) message.MessageRef {
	return message.MessageRef{MessageID: m.ID, Attempt: m.TotalAttempts, Provider: provider}
}

// Provider sends messages. Send makes one attempt and returns nil if the provider
// accepted the message (which does not mean that it arrived), a *message.SendError, or
// the context's error. No error contains the text, the number or a credential. A
// Provider is safe for concurrent use.
type Provider interface {
	Send(ctx context.Context, m Message) error
}

// sendTimeout bounds one attempt.
const sendTimeout = 10 * time.Second

// Config is the configuration for New.
type Config struct {
	// Specs are the providers in the order in which they are tried: "log", "http:<url>",
	// "kannel:<url of sendsms>", "twilio" or "msg91". A URL after "twilio:" or "msg91:"
	// replaces the URL of the provider's API.
	Specs []string
	// User, Password and Sender are for Kannel.
	User, Password, Sender string
	Twilio                 TwilioAccount
	MSG91                  MSG91Account
	// Rates limits the messages a second of a provider, by name. A provider without an entry
	// has no limit.
	Rates map[string]float64
	// ReceiptURL returns the address, without a query, to which a provider sends the receipt
	// of an attempt. ReceiptSecret returns the last part of the address.
	ReceiptURL, ReceiptSecret func(message.MessageRef) string
	// ReplySecret is the last part of the address for replies to Kannel; empty receives none.
	ReplySecret string
	// Terminal is where "log" prints.
	Terminal io.Writer
	// Observe is called with the outcome of each attempt: sent, failed or refused. It may be nil.
	Observe func(provider, outcome string)
}

// New returns a Provider that sends through the providers of c.Specs.
func New(c Config) (Provider, error) {
	if len(c.Specs) == 1 && c.Specs[0] == "log" {
		return NewLog(c.Terminal), nil
	}
	var providers []namedProvider
	for _, spec := range c.Specs {
		p, err := newProvider(spec, c)
		if err != nil {
			return nil, err
		}
		providers = append(providers, p)
	}
	if len(providers) == 0 {
		return nil, errUnknown
	}
	return newFailover(providers, c), nil
}

// errUnknown does not repeat the spec: it may contain a key.
var errUnknown = errors.New("unknown SMS provider; use log, http:<url>, kannel:<url>, twilio or msg91")

// The names of providers, in settings and in the addresses of receipts.
const (
	httpGateway = "http"
	kannel      = "kannel"
	twilio      = "twilio"
	msg91       = "msg91"
)

// namedProvider is a Provider with its name.
type namedProvider struct {
	Provider
	name string
}

func newProvider(spec string, c Config) (named namedProvider, err error) {
	kind, rest, _ := strings.Cut(spec, ":")
	named.name = kind
	switch kind {
	case httpGateway:
		named.Provider, err = asProvider(NewHTTP(rest, sendTimeout))
	case kannel:
		named.Provider, err = asProvider(NewKannel(rest, c, sendTimeout))
	case twilio:
		named.Provider, err = asProvider(NewTwilio(rest, c, sendTimeout))
	case msg91:
		named.Provider, err = asProvider(NewMSG91(rest, c, sendTimeout))
	default:
		err = errUnknown
	}
	return named, err
}

// asProvider returns nil with an error: a Provider that holds a nil pointer is not nil.
func asProvider[P Provider](p P, err error) (Provider, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// AccountReaders returns the readers of the providers in c that report receipts at one address
// for all messages.
func AccountReaders(c Config) map[string]func(message.ProviderCall) ([]message.AccountReport, bool) {
	readers := map[string]func(message.ProviderCall) ([]message.AccountReport, bool){}
	for _, spec := range c.Specs {
		if kind, _, _ := strings.Cut(spec, ":"); kind == msg91 {
			readers[msg91] = readMSG91
		}
	}
	return readers
}

// ReceiptReaders returns the readers of the providers in c that report receipts for each
// message at its address.
func ReceiptReaders(c Config) map[string]message.ReceiptReader {
	readers := map[string]message.ReceiptReader{}
	for _, spec := range c.Specs {
		switch kind, _, _ := strings.Cut(spec, ":"); kind {
		case kannel:
			readers[kannel] = readKannelReceipt
		case twilio:
			readers[twilio] = c.Twilio.readReceipt
		}
	}
	return readers
}
