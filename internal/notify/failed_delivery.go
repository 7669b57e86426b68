package notify

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// QueuedState and FailedState are two of the states of a delivery.
const (
	QueuedState = "queued"
	FailedState = "failed"
)

// FailedDelivery is a delivery that has failed, for operators. It names no recipient.
type FailedDelivery struct {
	ID string
	Lane
	State  string
	Reason string
	// Cause refines Reason, or is empty.
	Cause Cause
	// Attempts is how many there were; 0 if the message failed before the first one.
	Attempts  int
	CoachID   string // "" for an OTP
	RequestID string // "" without a request
	CreatedAt time.Time
	UpdatedAt time.Time
	// Outdated is true if its request is closed, was sent again since, or goes to another
	// address now.
	Outdated bool
}

// CanRetry reports whether CheckRetry returns nil.
func (d FailedDelivery) CanRetry() bool { return d.CheckRetry() == nil }

// CheckRetry returns why the message cannot be sent again, or nil. A message can be sent again
// if a provider did not accept or did not deliver it, while its request is open, was not sent
// again since, and still goes to this address.
func (d FailedDelivery) CheckRetry() error {
	switch {
	case d.State != FailedState:
		return fault.New(fault.Conflict, "invalid_transition", "This message has not failed.").With("state", d.State)
	case d.Kind == OTP:
		return fault.New(fault.Conflict, "invalid_transition", "A code is not sent again. The person can ask for a new one.").With("state", d.State)
	case d.Reason != ReasonRefused && d.Reason != ReasonGaveUp && d.Reason != ReasonUnreachable:
		return fault.New(fault.Conflict, "invalid_transition", "This message was not sent, reason %s. Sending it again would not change that.", d.Reason).With("state", d.State)
	case d.Outdated:
		return fault.New(fault.Conflict, "request_superseded", "The request of this message is closed, was sent again, or goes to another address now.")
	}
	return nil
}

// FailedDeliverySearch selects failed deliveries: all, or those of a coach.
type FailedDeliverySearch struct {
	CoachID string
	After   FailedDeliveryCursor
}

// FailedDeliveryCursor is a position in the list of failed deliveries.
type FailedDeliveryCursor struct {
	At time.Time
	ID string
}

// DeliveryAdminStore stores deliveries; package store implements it. Each method writes
// the operator's audit log entry in its transaction.
type DeliveryAdminStore interface {
	// FailedDeliveries returns deliveries that failed, the latest failure first, without
	// dropped ones: those of closed requests, and those that the recipient stopped.
	FailedDeliveries(ctx context.Context, by actor.Operator, s FailedDeliverySearch, limit int) ([]FailedDelivery, error)
	// RetryFailed loads a delivery, lets check refuse, and queues it for MessageLifetime.
	// Without such a delivery it returns not_found. check may run more than once.
	RetryFailed(ctx context.Context, by actor.Operator, id string, check func(FailedDelivery) error) (FailedDelivery, error)
	// MessageCosts returns the costs of messages, the newest day first.
	MessageCosts(ctx context.Context, by actor.Operator, s MessageCostSearch, limit int) ([]MessageCost, error)
}

// DeliveryAdmin lets operators list failed deliveries and send them again, for example
// after an outage of a provider.
type DeliveryAdmin struct{ Store DeliveryAdminStore }

// Failed returns failed deliveries, the latest failure first, and audits the access.
func (a *DeliveryAdmin) Failed(ctx context.Context, by actor.Operator, s FailedDeliverySearch, limit int) ([]FailedDelivery, error) {
	return a.Store.FailedDeliveries(ctx, by, s, limit)
}

// Retry sends a failed delivery again, with the same id, so that a provider that did accept
// it can drop the duplicate. The message limits do not count it again, unless it shared a
// message with others.
func (a *DeliveryAdmin) Retry(ctx context.Context, by actor.Operator, id string) (FailedDelivery, error) {
	return a.Store.RetryFailed(ctx, by, id, FailedDelivery.CheckRetry)
}
