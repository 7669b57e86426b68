package message

import (
	"context"
	"math"
	"slices"
)

// SentState and DeliveredState are the other states of a delivery.
const (
	SentState      = "sent"
	DeliveredState = "delivered"
)

// Receipt is the later result of a message that a provider accepted.
type Receipt string

// The receipts.
const (
	// ReceiptSent: the provider has sent the message, which it only accepted before.
	ReceiptSent Receipt = "sent"
	// ReceiptDelivered: the message reached the phone.
	ReceiptDelivered Receipt = "delivered"
	// ReceiptRead: the recipient read the message, which therefore reached the phone.
	ReceiptRead Receipt = "read"
	// ReceiptUndeliverable: no message can reach the number.
	ReceiptUndeliverable Receipt = "undeliverable"
	// ReceiptUnreachable: the provider gave up, but a later message may arrive, for
	// example when the phone is on again.
	ReceiptUnreachable Receipt = "unreachable"
)

// Report is a receipt of one attempt to send a message.
type Report struct {
	MessageID string
	// Attempt is Delivery.TotalAttempts of the attempt, or NewestAttempt.
	Attempt int
	Receipt Receipt
	// Cause says why the message was not delivered, or is empty.
	Cause Cause
	// NetworkSays is the reason given by the provider or the network, for the log. It contains no
	// number and no text of the message.
	NetworkSays string
	// ProviderID is WhatsApp's id of the message. It names the message if MessageID is empty.
	ProviderID string
	// UserID is WhatsApp's id of the recipient for this account, or empty; see Reply.UserID.
	UserID string
}

// NewestAttempt is the attempt of a report that names none.
const NewestAttempt = math.MaxInt

// DeliveryStatus is the part of a delivery that a receipt depends on and changes.
type DeliveryStatus struct {
	State, Reason string
	Cause         Cause
	// Leased is true while a worker sends the message.
	Leased bool
	// Attempts is how many there were since the delivery was queued, TotalAttempts since it
	// was created.
	Attempts, TotalAttempts int
}

// After returns the status after a report, and whether it differs. Reports may arrive
// repeatedly, in any order, and before the worker has stored that the provider accepted
// the message:
//
//	sent           ends the wait for it, also if the response to its attempt was lost
//	delivered      is final
//	read           is delivered, too
//	undeliverable  replaces sent and unreachable
//	unreachable    replaces sent
//
// A failure counts for its own attempt alone: another attempt may have succeeded. But while
// attempts go on, undeliverable ends them, because it is about the number. A message that
// was not sent since it was queued, or was dropped, changes by no report.
func (s DeliveryStatus) After(r Report) (DeliveryStatus, bool) {
	if r.Attempt == NewestAttempt {
		r.Attempt = s.TotalAttempts
	}
	to, ok := map[Receipt]DeliveryStatus{
		ReceiptSent:          {State: SentState},
		ReceiptDelivered:     {State: DeliveredState},
		ReceiptRead:          {State: DeliveredState},
		ReceiptUndeliverable: {State: FailedState, Reason: ReasonRefused, Cause: r.Cause},
		ReceiptUnreachable:   {State: FailedState, Reason: ReasonUnreachable, Cause: r.Cause},
	}[r.Receipt]
	if !ok || s.Attempts == 0 || r.Attempt < 1 || r.Attempt > s.TotalAttempts || !s.accepts(r) {
		return s, false
	}
	to.Attempts, to.TotalAttempts = s.Attempts, s.TotalAttempts
	return to, true
}

func (s DeliveryStatus) accepts(r Report) bool {
	delivered, newest := r.Receipt == ReceiptDelivered || r.Receipt == ReceiptRead, r.Attempt == s.TotalAttempts
	if r.Receipt == ReceiptSent {
		return s.State == QueuedState && newest && (s.Leased || s.Reason == ReasonAwaitingStatus || s.Reason == ReasonRetrying)
	}
	switch s.State {
	case QueuedState:
		// An operator may have queued it again after the attempt of the report.
		sinceQueued := r.Attempt > s.TotalAttempts-s.Attempts
		return delivered || s.Leased && newest || r.Receipt == ReceiptUndeliverable && sinceQueued
	case SentState:
		return s.Reason == "" && (delivered || newest)
	case FailedState:
		return delivered && slices.Contains([]string{ReasonRefused, ReasonUnreachable, ReasonGaveUp}, s.Reason) ||
			r.Receipt == ReceiptUndeliverable && s.Reason == ReasonUnreachable && newest
	default:
		return false
	}
}

// ReceiptStore stores receipts. Store implements it.
type ReceiptStore interface {
	// StoreReceipt applies a report to the deliveries of its message. It returns how many
	// changed.
	StoreReceipt(ctx context.Context, r Report) (changed int, err error)
}
