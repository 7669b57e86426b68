package worker

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/notify"
)

// prepare renders a message. It returns nil if nothing leaves now. Deliveries without
// anything to send are completed, so that they do not use up a limit, and those in quiet
// hours wait.
func (o *Outbox) prepare(ctx context.Context, message []notify.Delivery) (*notify.Outgoing, error) {
	out := &notify.Outgoing{}
	var dropped []notify.Delivery
	var wait time.Time
	reason, refused := "", false
	if message[0].AwaitsStatus {
		return nil, o.fallBack(ctx, message, "no status")
	}
	for _, d := range message {
		r, err := o.render(ctx, d)
		switch {
		case err != nil:
			return nil, err
		case r.dropReason != "":
			dropped, reason = append(dropped, d), r.dropReason
			continue
		case len(out.Deliveries) == 0:
			out.Message, wait, refused = r.message, r.wait, r.refused // a message has one recipient
		default:
			out.Message.More = append(out.Message.More, notify.Question{RequestDetails: r.message.Request, Link: r.message.Link})
		}
		out.Deliveries = append(out.Deliveries, d)
	}
	if len(out.Deliveries) > 0 && message[0].Counted {
		// The message may have left in an earlier attempt, so its deliveries end together.
		out.Deliveries, dropped = message, nil
		first := message[0]
		out.Message.ID, out.Message.Attempt, out.Message.TotalAttempts = first.ID, first.Attempts, first.TotalAttempts
	}
	if len(dropped) > 0 {
		if err := o.drop(ctx, dropped, reason); err != nil {
			return nil, err
		}
	}
	if len(out.Deliveries) == 0 {
		return nil, nil
	}
	if refused {
		return nil, o.fallBack(ctx, out.Deliveries, "the recipient chose other channels")
	}
	if d := out.Deliveries[0]; o.Senders[d.Channel].Suppressed(d.To) {
		return nil, o.Store.DeliverySuppressed(ctx, out.Deliveries)
	}
	if !wait.IsZero() {
		return nil, o.Store.PostponeDelivery(ctx, out.Deliveries, wait, notify.ReasonQuietHours)
	}
	return out, nil
}

// drop completes deliveries that are not sent. A request to an address whose holder wants no
// mail has failed, so that its coach is told.
func (o *Outbox) drop(ctx context.Context, dropped []notify.Delivery, reason string) error {
	if reason == notify.ReasonAddressStopped {
		return o.Store.DeliveryFailed(ctx, dropped, reason, "")
	}
	return o.Store.DeliveryDropped(ctx, dropped, reason)
}

// admit returns those of the messages that may be sent now. Messages that were counted in
// an earlier attempt are not counted again.
func (o *Outbox) admit(ctx context.Context, ready []*notify.Outgoing) ([]notify.Outgoing, error) {
	var admitted, uncounted []notify.Outgoing
	for _, m := range ready {
		switch {
		case m == nil:
		case m.Message.Kind == notify.OTP && !o.CountOTPs, m.Deliveries[0].Counted:
			admitted = append(admitted, *m)
		default:
			if m.Segments = o.Senders[m.Deliveries[0].Channel].Segments(m.Message); m.Segments == 0 {
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
	slices.SortFunc(uncounted, func(a, b notify.Outgoing) int { return cmp.Compare(a.Deliveries[0].ID, b.Deliveries[0].ID) })
	counted, err := o.Store.AdmitMessages(ctx, uncounted)
	return append(admitted, counted...), err
}

// send makes one attempt and stores its result.
func (o *Outbox) send(ctx context.Context, m notify.Outgoing, sent *completions) error {
	if err := o.Senders[m.Deliveries[0].Channel].Send(ctx, m.Message); err != nil {
		return o.failed(ctx, m.Deliveries, err)
	}
	if f, ok := o.Fallbacks[m.Deliveries[0].Channel]; ok {
		return o.Store.AwaitStatus(ctx, m.Deliveries, o.Now().Add(f.After))
	}
	return sent.store(ctx, m.Deliveries)
}
