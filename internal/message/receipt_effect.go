package message

import (
	"slices"
	"time"
)

// ReceiptTarget is a delivery that a receipt may change.
type ReceiptTarget struct {
	Delivery
	// Status is the state of the delivery. Its attempts are the attempts of the message that carried the
	// delivery, which Targets sets.
	Status DeliveryStatus
}

// Targets returns the deliveries that a report is about. found are the delivery with the
// report's MessageID, which is the first one of the message, and those that it gathered.
//
// The attempts of a message are counted in its first delivery. If an operator has sent the first
// one again, alone, only its earlier attempts are attempts of the others:
//
//	attempt 1       first, second, third   a receipt of it is about all three
//	first is sent again
//	attempt 2       first                  a receipt of it is about the first one
func (r Report) Targets(found []ReceiptTarget) []ReceiptTarget {
	i := slices.IndexFunc(found, func(d ReceiptTarget) bool { return d.ID == r.MessageID })
	if i < 0 {
		return nil
	}
	first := found[i]
	attempts, total := first.Attempts, first.TotalAttempts
	if first.GatheredBy != first.ID {
		earlier := total - attempts
		if first.GatheredBy != "" || r.Attempt > earlier {
			return []ReceiptTarget{first}
		}
		attempts, total = earlier, earlier
	}
	targets := slices.Clone(found)
	for j := range targets {
		if j != i {
			targets[j].Status.Attempts, targets[j].Status.TotalAttempts = attempts, total
		}
	}
	return targets
}

// ReceiptEffect is the effect of a report on a delivery.
type ReceiptEffect struct {
	// FallBack is the channel that sends the delivery now, or empty. Status counts without one.
	FallBack Channel
	// GivesUpAt is when the attempts on the channel FallBack end.
	GivesUpAt time.Time
	// Status is the new status of the delivery.
	Status DeliveryStatus
	// FailsRequest is true if the request of the delivery failed on its channel, and
	// ReachesRequest if it did not fail after all.
	FailsRequest, ReachesRequest bool
}

// Effect returns the effect of a report, and whether it has any. A failure on a
// channel with a fallback starts the attempts there. A delivery that could arrive later
// (ReceiptUnreachable) does not fail its request.
func (d ReceiptTarget) Effect(r Report, fallbacks map[Channel]Channel, now time.Time) (ReceiptEffect, bool) {
	after, differs := d.Status.After(r)
	if !differs {
		return ReceiptEffect{}, false
	}
	if to, ok := fallbacks[d.Channel]; ok && !d.Stays && after.State == FailedState {
		e := ReceiptEffect{FallBack: to, GivesUpAt: now.Add(MessageLifetime)}
		if d.Kind == OTP {
			e.GivesUpAt = d.GivesUpAt // when the OTP ends
		}
		return e, true
	}
	return ReceiptEffect{
		Status:         after,
		FailsRequest:   d.Kind == Request && after.Reason == ReasonRefused,
		ReachesRequest: d.Kind == Request && after.State == DeliveredState && d.Status.State == FailedState,
	}, true
}
