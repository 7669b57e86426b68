// Package sms sends SMS. Each Provider has a file; OutboxSender connects one to the
// outbox. A provider makes one attempt and reports the result. Retries, texts and
// limits belong to packages worker, notify and store.
package sms

import (
	"context"
	"errors"
	"io"
	"slices"
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
	// Accounts are tried in this order.
	Accounts []Account
	// MSG91Templates are the registered templates, by name and language: "otp_coach.en".
	MSG91Templates map[string]MSG91Template
	// ReceiptURL returns the address, without a query, to which a provider sends the receipt
	// of an attempt. ReceiptSecret returns the last part of the address.
	ReceiptURL, ReceiptSecret func(message.MessageRef) string
	// Terminal is where "log" prints. Received, unless it is nil, is called with what it printed.
	Terminal io.Writer
	Received func(Message)
	// Observe is called with the outcome of each attempt: sent, failed or refused. It may be nil.
	Observe func(provider, outcome string)
}

// Account is an account at a provider.
type Account struct {
	// Kind is log, http, kannel, twilio or msg91.
	Kind string
	// URL is the address of the gateway, of Kannel's sendsms, or of the provider's API. Only an http gateway's
	// contains user and password.
	URL string
	// User is the account SID of Twilio or the auth key of MSG91; Password is the auth token of Twilio.
	User, Password string
	// Sender is a number, a name, the SID of a messaging service of Twilio, or the header of MSG91.
	Sender string
	// EntityID is registered in India, for MSG91.
	EntityID string
	// ReplySecret is the last part of the address for replies to Kannel; empty receives none.
	ReplySecret string
	// Rate limits the messages a second; 0 is no limit.
	Rate float64
}

// SendsRegistered reports whether numbers of India get the texts that are registered there: Twilio passes them on as they are, and
// MSG91 fills in its templates. A gateway of http and Kannel know their routes, and may fill in templates themselves.
func (c Config) SendsRegistered() bool {
	return slices.ContainsFunc(c.Accounts, func(a Account) bool { return a.Kind == "twilio" || a.Kind == "msg91" })
}

// New returns a Provider that sends through c.Accounts.
func New(c Config) (Provider, error) {
	if len(c.Accounts) == 1 && c.Accounts[0].Kind == "log" {
		return &Log{out: c.Terminal, received: c.Received}, nil
	}
	var providers []namedProvider
	for _, a := range c.Accounts {
		p, err := newProvider(a, c)
		if err != nil {
			return nil, err
		}
		providers = append(providers, p)
	}
	if len(providers) == 0 {
		return nil, errUnknown
	}
	return newFailover(providers, c.Observe), nil
}

var errUnknown = errors.New("unknown SMS provider; use log, http, kannel, twilio or msg91")

// The names of providers, in settings and in the addresses of receipts.
const (
	httpGateway = "http"
	kannel      = "kannel"
	twilio      = "twilio"
	msg91       = "msg91"
)

// namedProvider is a Provider with its name and its rate.
type namedProvider struct {
	Provider
	name string
	rate float64
}

func newProvider(a Account, c Config) (named namedProvider, err error) {
	named.name, named.rate = a.Kind, a.Rate
	switch a.Kind {
	case httpGateway:
		named.Provider, err = asProvider(NewHTTP(a.URL, sendTimeout))
	case kannel:
		named.Provider, err = asProvider(NewKannel(a, c, sendTimeout))
	case twilio:
		named.Provider, err = asProvider(NewTwilio(a, c, sendTimeout))
	case msg91:
		named.Provider, err = asProvider(NewMSG91(a, c, sendTimeout))
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
	for _, a := range c.Accounts {
		if a.Kind == msg91 {
			readers[msg91] = readMSG91
		}
	}
	return readers
}

// ReceiptReaders returns the readers of the providers in c that report receipts for each
// message at its address.
func ReceiptReaders(c Config) map[string]message.ReceiptReader {
	readers := map[string]message.ReceiptReader{}
	for _, a := range c.Accounts {
		switch a.Kind {
		case kannel:
			readers[kannel] = readKannelReceipt
		case twilio:
			readers[twilio] = c.readTwilioReceipt
		}
	}
	return readers
}
