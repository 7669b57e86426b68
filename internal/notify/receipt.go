package notify

import (
	"context"
	"log/slog"
	"net/url"
	"slices"

	"github.com/touchline/touchline/internal/fault"
)

// SentState and DeliveredState are the other states of a delivery.
const (
	SentState      = "sent"
	DeliveredState = "delivered"
)

// Receipt is what a provider reports later about a message that it accepted.
type Receipt string

// The receipts.
const (
	// ReceiptDelivered: the message reached the phone.
	ReceiptDelivered Receipt = "delivered"
	// ReceiptUndeliverable: no message can reach the number.
	ReceiptUndeliverable Receipt = "undeliverable"
	// ReceiptUnreachable: the provider gave up, but a later message may arrive, for
	// example when the phone is on again.
	ReceiptUnreachable Receipt = "unreachable"
)

// DeliveryStatus is what a receipt depends on and changes.
type DeliveryStatus struct {
	State, Reason string
	// Leased is true while a worker sends the message.
	Leased bool
	// Attempts is how many there were since the delivery was queued.
	Attempts int
}

// After returns the status after a receipt, and whether it differs. Receipts may arrive
// repeatedly, in any order, and before the worker has stored that the provider accepted
// the message:
//
//	delivered      is final
//	undeliverable  replaces sent and unreachable
//	unreachable    replaces sent
//
// A message that was not sent since it was queued, or was dropped, changes by no receipt.
func (s DeliveryStatus) After(r Receipt) (DeliveryStatus, bool) {
	to, ok := map[Receipt]DeliveryStatus{
		ReceiptDelivered:     {State: DeliveredState},
		ReceiptUndeliverable: {State: FailedState, Reason: ReasonRefused},
		ReceiptUnreachable:   {State: FailedState, Reason: ReasonUnreachable},
	}[r]
	if !ok || s.Attempts == 0 || !s.accepts(r) {
		return s, false
	}
	to.Attempts = s.Attempts
	return to, true
}

func (s DeliveryStatus) accepts(r Receipt) bool {
	switch s.State {
	case QueuedState:
		// After an attempt without a response another one follows: a provider that gave up
		// does not end it.
		return s.Leased || r != ReceiptUnreachable
	case SentState:
		return s.Reason == ""
	case FailedState:
		return r == ReceiptDelivered && slices.Contains([]string{ReasonRefused, ReasonUnreachable, ReasonGaveUp}, s.Reason) ||
			r == ReceiptUndeliverable && s.Reason == ReasonUnreachable
	default:
		return false
	}
}

// ReceiptStore stores receipts; package store implements it.
type ReceiptStore interface {
	// StoreReceipt applies a receipt to the deliveries of the message with an id. It returns
	// how many changed.
	StoreReceipt(ctx context.Context, messageID string, r Receipt) (changed int, err error)
}

// Receipts receives what a provider reports of messages.
type Receipts struct {
	Store ReceiptStore
	// Valid reports whether secret is that of the message with the id.
	Valid func(messageID, secret string) bool
	// Parse returns the receipt in the parameters of a call, or false if the call says nothing
	// final, and what the network said, for the log.
	Parse func(url.Values) (r Receipt, networkSays string, final bool)
	Log   *slog.Logger
}

// Receive stores a receipt. Without the message's secret it returns token_invalid and
// changes nothing.
func (s *Receipts) Receive(ctx context.Context, messageID, secret string, parameters url.Values) error {
	if !s.Valid(messageID, secret) {
		return fault.New(fault.Unauthenticated, "token_invalid", "This is not the address for receipts of the message.")
	}
	r, networkSays, final := s.Parse(parameters)
	if !final {
		return nil
	}
	changed, err := s.Store.StoreReceipt(ctx, messageID, r)
	if err == nil && changed > 0 && r != ReceiptDelivered {
		s.Log.Warn("a message did not arrive", "delivery", messageID, "channel", SMS, "permanent", r == ReceiptUndeliverable, "network_says", networkSays)
	}
	return err
}
