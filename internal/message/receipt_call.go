package message

import (
	"context"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
)

// MessageRef names one attempt to send a message through one provider. The address for its
// receipts contains it.
type MessageRef struct {
	MessageID string
	Attempt   int
	Provider  string
}

// String returns the form that ParseMessageRef parses.
func (r MessageRef) String() string {
	return r.MessageID + "." + strconv.Itoa(r.Attempt) + "." + r.Provider
}

// ParseMessageRef parses a MessageRef. It accepts only what String returns.
func ParseMessageRef(s string) (r MessageRef, ok bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return r, false
	}
	attempt, err := strconv.Atoi(parts[1])
	r = MessageRef{MessageID: parts[0], Attempt: attempt, Provider: parts[2]}
	return r, err == nil && r.String() == s
}

// ProviderCall is an HTTP request of a provider.
type ProviderCall struct {
	// URL is the address that the provider called.
	URL string
	// Query and Form are the parameters in the URL and in the body.
	Query, Form url.Values
	Body        []byte
	// Header returns a header of the request.
	Header func(name string) string
}

// ReceiptReader returns the report in a call of a provider, about the message to which its
// address belongs. final is false if the call says nothing final. ok is false if the call
// is not from the provider.
type ReceiptReader func(ProviderCall) (r Report, final, ok bool)

// AccountReport is a report that a provider sends to its address for all messages.
type AccountReport struct {
	Ref MessageRef
	// Secret is sent by the provider as the secret of Ref. It may be wrong.
	Secret string
	Report Report
	// Final is false if the report says nothing final.
	Final bool
}

// Receipts stores what providers report about messages.
type Receipts struct {
	Store ReceiptStore
	// Valid reports whether secret is the secret of ref.
	Valid func(ref, secret string) bool
	// Readers has an entry for each provider that calls an address of the message, and
	// AccountReaders for each that calls one address for all messages. signed is true if the
	// provider has signed the call; then the reports need no secrets.
	Readers        map[string]ReceiptReader
	AccountReaders map[string]func(ProviderCall) (reports []AccountReport, signed bool)
	// Count counts the receipts that changed a delivery; nil counts none.
	Count func(provider string, r Receipt)
	Log   *slog.Logger
}

// errForged refuses a call that is not from the provider.
func errForged() error {
	return fault.New(fault.Unauthenticated, "token_invalid", "This is not the address for receipts of the message.")
}

// Check returns token_invalid unless secret belongs to ref. It needs no body.
func (s *Receipts) Check(ref, secret string) error {
	message, known := ParseMessageRef(ref)
	if !s.Valid(ref, secret) || !known || s.Readers[message.Provider] == nil {
		return errForged()
	}
	return nil
}

// CheckProvider returns not_found unless the provider calls one address for all messages. It
// needs no body.
func (s *Receipts) CheckProvider(provider string) error {
	if s.AccountReaders[provider] == nil {
		return fault.Missing()
	}
	return nil
}

// Receive stores a receipt. Unless secret belongs to ref and the call is from the provider,
// it returns token_invalid and changes nothing.
func (s *Receipts) Receive(ctx context.Context, ref, secret string, call ProviderCall) error {
	if err := s.Check(ref, secret); err != nil {
		return err
	}
	message, _ := ParseMessageRef(ref)
	report, final, ok := s.Readers[message.Provider](call)
	if !ok {
		return errForged()
	}
	if !final {
		return nil
	}
	return s.Record(ctx, message, report)
}

// ReceiveAll stores the reports in a call of a provider. It ignores reports about messages of other
// systems. A report that cannot be stored keeps none of the others back. If the call is not signed and no report has the secret of its message, it returns
// token_invalid and changes nothing.
func (s *Receipts) ReceiveAll(ctx context.Context, provider string, call ProviderCall) error {
	if err := s.CheckProvider(provider); err != nil {
		return err
	}
	reports, signed := s.AccountReaders[provider](call)
	genuine := signed
	var failed []error
	for _, r := range reports {
		if r.Ref.Provider != provider || !signed && !s.Valid(r.Ref.String(), r.Secret) {
			continue
		}
		genuine = true
		if !r.Final {
			continue
		}
		if err := s.Record(ctx, r.Ref, r.Report); err != nil {
			failed = append(failed, err)
		}
	}
	if !genuine {
		return errForged()
	}
	return repeatLater(failed)
}

// Record stores a report about an attempt.
func (s *Receipts) Record(ctx context.Context, ref MessageRef, r Report) error {
	r.MessageID, r.Attempt = ref.MessageID, ref.Attempt
	changed, err := storeReport(ctx, s.Store, s.Log, ref.Provider, r)
	if err == nil && changed > 0 && s.Count != nil {
		s.Count(ref.Provider, r.Receipt)
	}
	return err
}

// storeReport stores a report of a provider and logs a failure.
func storeReport(ctx context.Context, store ReceiptStore, log *slog.Logger, provider string, r Report) (changed int, err error) {
	changed, err = store.StoreReceipt(ctx, r)
	if err == nil && changed > 0 && r.Receipt != ReceiptDelivered && r.Receipt != ReceiptRead && r.Receipt != ReceiptSent {
		log.Warn("a message did not arrive", "delivery", r.MessageID, "provider", provider, "permanent", r.Receipt == ReceiptUndeliverable,
			"cause", string(r.Cause), "network_says", r.NetworkSays)
	}
	return changed, err
}
