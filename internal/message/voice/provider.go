package voice

import (
	"context"
	"errors"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Provider is a Transport that calls the service during a call: first when the person answers, then after
// each prompt that has keys. What is said is in its response alone, so that no code is in a URL, in the
// request for the call, or in a log.
type Provider interface {
	Transport
	// Name is the provider in the addresses of calls and receipts.
	Name() string
	// ReadStep returns the step in a call of the provider. ok is false if the call is not from the provider.
	ReadStep(call message.ProviderCall) (s Step, ok bool)
	// Render returns the response with p. address is the address of the step.
	Render(p Prompt, address string) (mediaType string, body []byte, err error)
	// ReadReceipt is a message.ReceiptReader.
	ReadReceipt(call message.ProviderCall) (r message.Report, final, ok bool)
}

// Step is a step of a call: State of the prompt that was spoken, and the key that was pressed. Both are
// empty when the person answers.
type Step struct{ State, Key string }

// The names of providers.
const (
	twilioVoice = "twilio_voice"
	httpVoice   = "http_voice"
)

// Config is the configuration for New.
type Config struct {
	// Account is of the kind http or twilio.
	Account sms.Account
	// CallURL and ReceiptURL return the addresses, without a query, for the steps and the receipts of an attempt.
	CallURL, ReceiptURL func(message.MessageRef) string
	// Accepted stores the provider's id of a call.
	Accepted func(ctx context.Context, deliveryID, providerID string) error
}

// New returns the Provider of c.
func New(c Config) (Provider, error) {
	switch c.Account.Kind {
	case "twilio":
		return newTwilio(c)
	case "http":
		return newHTTP(c)
	}
	return nil, errors.New("unknown provider of calls; use http or twilio")
}

// Calls answers the steps of calls.
type Calls struct {
	Provider Provider
	// Valid reports whether secret is the secret of ref.
	Valid func(ref, secret string) bool
	// Answer takes a step of the call of a delivery, as an Answerer.
	Answer func(ctx context.Context, deliveryID string, s Step) (Prompt, error)
	// Record stores that a key was pressed.
	Record func(ctx context.Context, attempt message.MessageRef, r message.Report) error
}

// errForged refuses a call that is not from the provider.
func errForged() error {
	return fault.New(fault.Unauthenticated, "token_invalid", "This is not the address for the steps of the call.")
}

// Check returns token_invalid unless secret belongs to ref. It needs no body.
func (c *Calls) Check(ref, secret string) error {
	attempt, known := message.ParseMessageRef(ref)
	if !c.Valid(ref, secret) || !known || attempt.Provider != c.Provider.Name() {
		return errForged()
	}
	return nil
}

// Receive takes a step and returns the provider's form of what the call says next. Unless secret belongs to
// ref and the call is from the provider, it returns token_invalid and changes nothing. Calls may be repeated
// and may come in any order: only what is possible now changes something.
//
// A pressed key is the only proof that a person and no mailbox listens, so it makes the delivery delivered.
func (c *Calls) Receive(ctx context.Context, ref, secret string, call message.ProviderCall) (mediaType string, body []byte, err error) {
	if err := c.Check(ref, secret); err != nil {
		return "", nil, err
	}
	attempt, _ := message.ParseMessageRef(ref)
	step, ok := c.Provider.ReadStep(call)
	if !ok {
		return "", nil, errForged()
	}
	if step.State == "" || !isKey(step.Key) {
		step.Key = ""
	}
	p, err := c.Answer(ctx, attempt.MessageID, step)
	if err != nil {
		return "", nil, err
	}
	if step.Key != "" {
		if err := c.Record(ctx, attempt, Completed.Report(attempt)); err != nil {
			return "", nil, err
		}
	}
	return c.Provider.Render(p, withoutQuery(call.URL))
}

// isKey reports whether key is one key of a phone.
func isKey(key string) bool {
	return len(key) == 1 && (key[0] >= '0' && key[0] <= '9' || key == "*" || key == "#")
}

// ended returns the report of a call that ended with a status. Both providers use Twilio's words
// (https://www.twilio.com/docs/voice/api/call-resource#call-status-values). A connection says nothing about
// who answered, so a call that is completed without a key failed; after a key the delivery stays delivered.
// sip is the response code of the network, or 0.
func ended(status string, sip int) (r message.Report, final bool) {
	switch status {
	case "completed":
		r = NoKey.Report(message.MessageRef{})
	case "no-answer", "canceled":
		r = NoAnswer.Report(message.MessageRef{})
	case "busy":
		r = Busy.Report(message.MessageRef{})
	case "failed":
		r = Failed.Report(message.MessageRef{})
		if sip >= 500 || sip == 408 || sip == 480 {
			r.Receipt, r.Cause = message.ReceiptUnreachable, message.CauseNetwork
		}
	default: // queued, initiated, ringing, in-progress
		return message.Report{}, false
	}
	r.NetworkSays = status
	return r, true
}
