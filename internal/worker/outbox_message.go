package worker

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// prepare renders a message and returns it if it leaves now, else nil. Deliveries without
// anything to send are completed, so that they do not use up a limit, and those in quiet
// hours wait.
func (o *Outbox) prepare(ctx context.Context, deliveries []message.Delivery) (*message.Outgoing, error) {
	if deliveries[0].AwaitsStatus {
		return nil, o.fallBack(ctx, deliveries, "no status")
	}
	c, err := o.compose(ctx, deliveries)
	if err != nil {
		return nil, err
	}
	for reason, dropped := range c.dropped {
		if err := o.drop(ctx, dropped, reason); err != nil {
			return nil, err
		}
	}
	if len(c.out.Deliveries) == 0 {
		return nil, nil
	}
	first := c.out.Deliveries[0]
	switch {
	case c.refused:
		return nil, o.fallBack(ctx, c.out.Deliveries, "the recipient chose other channels")
	case o.Senders[first.Channel].Suppressed(first.To):
		return nil, o.Store.DeliverySuppressed(ctx, c.out.Deliveries)
	case !c.waitUntil.IsZero():
		return nil, o.Store.PostponeDelivery(ctx, c.out.Deliveries, c.waitUntil, message.ReasonQuietHours)
	}
	return &c.out, nil
}

// composed is a rendered message for one recipient.
type composed struct {
	out message.Outgoing
	// waitUntil and refused are as in rendered.
	waitUntil time.Time
	refused   bool
	// dropped are the deliveries without anything to send, by the reason.
	dropped map[string][]message.Delivery
}

// compose renders the deliveries of a message and makes one message of them. The first one
// that has something to send carries the others.
func (o *Outbox) compose(ctx context.Context, deliveries []message.Delivery) (c composed, err error) {
	c.dropped = map[string][]message.Delivery{}
	for _, d := range deliveries {
		r, err := o.render(ctx, d)
		switch {
		case err != nil:
			return c, err
		case r.dropReason != "":
			c.dropped[r.dropReason] = append(c.dropped[r.dropReason], d)
			continue
		case len(c.out.Deliveries) == 0:
			c.out.Message, c.waitUntil, c.refused = r.message, r.waitUntil, r.refused // a message has one recipient
		default:
			c.out.Message.More = append(c.out.Message.More, message.Question{RequestDetails: r.message.Request, Link: r.message.Link})
		}
		c.out.Deliveries = append(c.out.Deliveries, d)
	}
	if len(c.out.Deliveries) > 0 && deliveries[0].Counted {
		// The message may have left in an earlier attempt, so its deliveries end together.
		c.out.Deliveries, c.dropped = deliveries, nil
		first := deliveries[0]
		c.out.Message.ID, c.out.Message.Attempt, c.out.Message.TotalAttempts = first.ID, first.Attempts, first.TotalAttempts
	}
	return c, nil
}

// drop completes deliveries that are not sent. A request to an address whose holder wants no
// mail has failed, so that its coach is told.
func (o *Outbox) drop(ctx context.Context, dropped []message.Delivery, reason string) error {
	if reason == message.ReasonAddressStopped {
		return o.Store.DeliveryFailed(ctx, dropped, reason, "")
	}
	return o.Store.DeliveryDropped(ctx, dropped, reason)
}

// admit returns the messages that may be sent now. Messages that were counted in
// an earlier attempt are not counted again.
func (o *Outbox) admit(ctx context.Context, ready []*message.Outgoing) ([]message.Outgoing, error) {
	var admitted, uncounted []message.Outgoing
	for _, m := range ready {
		switch {
		case m == nil:
		case m.Message.Kind == message.OTP && (!o.CountOTPs || m.Deliveries[0].Channel == message.Email), m.Deliveries[0].Counted:
			admitted = append(admitted, *m)
		default:
			m.Segments = o.Senders[m.Deliveries[0].Channel].Segments(m.Message)
			if m.Segments == 0 {
				admitted = append(admitted, *m)
				continue
			}
			uncounted = append(uncounted, *m)
		}
	}
	if len(uncounted) == 0 {
		return admitted, nil
	}
	// Oldest first: the identifiers rise with time.
	slices.SortFunc(uncounted, func(a, b message.Outgoing) int { return cmp.Compare(a.Deliveries[0].ID, b.Deliveries[0].ID) })
	counted, err := o.Store.AdmitMessages(ctx, uncounted)
	return append(admitted, counted...), err
}

// markSending returns the messages that still may leave. It marks messages of app services: the
// approval of their recipients may have ended since they were rendered.
func (o *Outbox) markSending(ctx context.Context, admitted []message.Outgoing) ([]message.Outgoing, error) {
	var others, ofServices []message.Outgoing
	for _, m := range admitted {
		if m.Message.Kind == message.NotificationCopy && slices.Contains(message.OfServices, m.Message.Copy.Type) {
			ofServices = append(ofServices, m)
		} else {
			others = append(others, m)
		}
	}
	if len(ofServices) == 0 {
		return others, nil
	}
	marked, err := o.Store.MarkSending(ctx, ofServices)
	return append(others, marked...), err
}

// send makes one attempt and stores its result. A call that is late is rendered again, which decides when it rings.
func (o *Outbox) send(ctx context.Context, m message.Outgoing, sent *completions) error {
	if before := m.Message.LeavesBefore; !before.IsZero() && !o.Now().Before(before) {
		return o.Store.PostponeDelivery(ctx, m.Deliveries, o.Now(), message.ReasonQuietHours)
	}
	ctx, end := o.Tracer.Attempt(ctx, attemptOf(m.Deliveries))
	if err := o.Senders[m.Deliveries[0].Channel].Send(ctx, m.Message); err != nil {
		defer end("failed", reasonOf(err))
		return o.failed(ctx, m.Deliveries, err)
	}
	defer end("sent", "")
	for _, d := range m.Deliveries {
		o.Log.Info("a message was sent", attemptAttrs(d)...)
	}
	if f, ok := o.fallbackOf(m.Deliveries[0]); ok {
		return o.Store.AwaitStatus(ctx, m.Deliveries, o.Now().Add(f.After))
	}
	return sent.store(ctx, m.Deliveries)
}
