package worker

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// fallbackOf returns the fallback of the channel of a delivery, if the delivery may use it.
func (o *Outbox) fallbackOf(d message.Delivery) (message.Fallback, bool) {
	f, ok := o.Fallbacks[d.Channel]
	return f, ok && !d.Stays
}

// fallBack moves a message to the fallback of its channel.
func (o *Outbox) fallBack(ctx context.Context, deliveries []message.Delivery, why string) error {
	d := deliveries[0]
	to := o.Fallbacks[d.Channel].To
	o.Log.Info("a message leaves on another channel", "delivery", d.ID, "channel", d.Channel, "kind", d.Kind, "to_channel", to, "reason", why)
	if err := o.Store.FallBack(ctx, deliveries, to); err != nil {
		return err
	}
	o.Signal.Wake(message.Lane{Channel: to, Kind: d.Kind})
	return nil
}

// failed stores the result of a failed attempt: another attempt later, or the end.
func (o *Outbox) failed(ctx context.Context, deliveries []message.Delivery, err error) error {
	d := deliveries[0]
	f, ok := errors.AsType[*message.SendError](err)
	if !ok {
		f = &message.SendError{Reason: reasonOf(err)}
	}
	level := slog.LevelWarn
	if f.Gone { // a browser or an app that ended its subscription
		level = slog.LevelInfo
	}
	for _, each := range deliveries {
		o.Log.Log(ctx, level, "a message was not sent", append(attemptAttrs(each), "permanent", f.Permanent || f.Gone, "reason", f.Reason)...)
	}
	if f.Gone {
		return o.Store.DeliveryDropped(ctx, deliveries, message.ReasonNotWanted)
	}
	if other, ok := o.fallbackOf(d); ok && other.Now(f, d.Attempts) {
		return o.fallBack(ctx, deliveries, f.Reason)
	}
	if f.Permanent {
		return o.Store.DeliveryFailed(ctx, deliveries, message.ReasonRefused, f.Cause)
	}
	now := o.Now()
	if !now.Before(d.GivesUpAt) {
		return o.Store.DeliveryFailed(ctx, deliveries, message.ReasonGaveUp, f.Cause)
	}
	due := now.Add(max(f.Wait, backoff(d)))
	if f.Next {
		due = now
		defer o.Signal.Wake(d.Lane)
	}
	if due.After(d.GivesUpAt) {
		due = d.GivesUpAt // one last attempt, even if the provider asked for a longer wait
	}
	return o.Store.RetryDelivery(ctx, deliveries, due, message.ReasonRetrying)
}

// backoff returns the wait after an attempt of d. Jitter of a quarter spreads the attempts of messages. It
// follows from the id and the attempt, so that a simulation repeats it.
func backoff(d message.Delivery) time.Duration {
	wait := min(backoffMin<<min(d.Attempts-1, 20), backoffMax)
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, d.ID, d.Attempts) // never fails
	return wait*3/4 + wait/2*time.Duration(hash.Sum32()%1000)/1000
}
