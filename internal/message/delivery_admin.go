package message

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// QueuedState and FailedState are two of the states of a delivery.
const (
	QueuedState = "queued"
	FailedState = "failed"
)

// DeliveryRecord is a delivery as operators see it: without its text, its code and its link, and
// with its recipient masked.
type DeliveryRecord struct {
	ID string
	Lane
	// To is the number or address of the recipient; see MaskedTo.
	To     string
	State  string
	Reason string
	// Cause refines Reason, or is empty.
	Cause Cause
	// Attempts is how many there were; 0 if the message failed before the first one.
	Attempts  int
	CoachID   string // "" for an OTP
	CoachName string
	RequestID string // "" without a request
	CreatedAt time.Time
	UpdatedAt time.Time
	// Outdated is true if its request is closed, was sent again since, or goes to another
	// address now.
	Outdated bool
}

// MaskedTo returns the recipient as operators see it, or "" if it is neither a number nor an e-mail
// address: "+91…5678", "m…@example.org".
func (d DeliveryRecord) MaskedTo() string {
	if local, domain, found := strings.Cut(d.To, "@"); found {
		_, size := utf8.DecodeRuneInString(local)
		return local[:size] + "…@" + domain
	}
	if strings.HasPrefix(d.To, "+") {
		return phone.Number(d.To).Mask()
	}
	return ""
}

// CanRetry reports whether CheckRetry returns nil.
func (d DeliveryRecord) CanRetry() bool { return d.CheckRetry() == nil }

// CheckRetry returns why the message cannot be sent again, or nil. A message can be sent again
// if a provider did not accept or did not deliver it, while its request is open, was not sent
// again since, and still goes to this address.
func (d DeliveryRecord) CheckRetry() error {
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

// FailedDeliverySearch selects failed deliveries: all, or a coach's.
type FailedDeliverySearch struct {
	CoachID string
	After   FailedDeliveryCursor
}

// NumberDeliverySearch selects the deliveries to a number, in any state.
type NumberDeliverySearch struct {
	Number phone.Number
	// After is the id of the last delivery of the previous page; "" starts with the newest.
	After string
}

// FailedDeliveryCursor is a position in the list of failed deliveries.
type FailedDeliveryCursor struct {
	At time.Time
	ID string
}
