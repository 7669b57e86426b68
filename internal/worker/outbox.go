package worker

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

const (
	// claimBatch is how many deliveries of a kind one look takes; so many are
	// sent at a time, and a slow gateway delays no other kind.
	claimBatch = 8
	// leaseFor is longer than a batch may take; then another worker may have it.
	leaseFor = time.Minute
	// The wait after a failed attempt doubles from first to most.
	backoffFirst = time.Second
	backoffMost  = 5 * time.Minute
)

// Store is what the outbox needs of package store, which documents it.
type Store interface {
	DeliveriesDue(ctx context.Context, now time.Time) (bool, error)
	ClaimDeliveries(ctx context.Context, kind notify.Kind, lease string, until time.Time, n int) ([]notify.Delivery, error)
	LiveChallenge(ctx context.Context, d notify.Delivery, maxTries int) (auth.Challenge, bool, error)
	AskedBy(ctx context.Context, requestID string) (notify.Asked, bool, error)
	Notice(ctx context.Context, d notify.Delivery) (notify.Notice, bool, error)
	AdmitHeld(ctx context.Context, d notify.Delivery) (bool, error)
	DeliverySent(ctx context.Context, d notify.Delivery) error
	DeliverySpared(ctx context.Context, d notify.Delivery) error
	DeliveryLater(ctx context.Context, d notify.Delivery, due time.Time, reason string) error
	DeliveryDropped(ctx context.Context, d notify.Delivery, reason string) error
	DeliveryFailed(ctx context.Context, d notify.Delivery, reason string) error
}

// Message is one SMS, ready to go. Its ID is the delivery's: a gateway that sees
// it twice may drop the second.
type Message struct {
	ID   string
	To   string
	Text string
	// OTP says that it carries a code.
	OTP bool
}

// Failure is an attempt that did not succeed. Anything else that Send returns
// is taken for a Failure without more to say.
type Failure struct {
	// Refused is for good: the gateway will never take this message.
	Refused bool
	// Wait is how long the gateway asked to be left alone; zero for our own pace.
	Wait time.Duration
	// Reason is for the log and the delivery, without numbers or texts.
	Reason string
}

// Error says why.
func (f *Failure) Error() string { return f.Reason }

// Outbox sends what is queued: claims it, makes its text, hands it to the
// gateway, and writes down what became of it.
type Outbox struct {
	Store Store
	// Send hands one message to the gateway.
	Send func(ctx context.Context, m Message) error
	// Code opens the code of a challenge; Link makes the token of a delivery's link.
	Code func(challengeID string, sealed []byte) (string, error)
	Link func(deliveryID string) string
	// PublicURL is where links lead.
	PublicURL string
	OTPTries  int
	// TestNumber says whether n is configured for app-store review and gets no SMS;
	// nil is no to all.
	TestNumber func(n phone.Number) bool

	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger

	once  sync.Once
	bells map[notify.Kind]chan struct{} // see bell
}

// Wake has the outbox look at once for deliveries of a kind. It never blocks.
func (o *Outbox) Wake(kind notify.Kind) {
	select {
	case o.bell(kind) <- struct{}{}:
	default:
	}
}

// bell wakes the lane of a kind.
func (o *Outbox) bell(kind notify.Kind) chan struct{} {
	o.once.Do(o.init)
	return o.bells[kind]
}

func (o *Outbox) init() {
	o.bells = make(map[notify.Kind]chan struct{}, len(notify.Kinds))
	for _, kind := range notify.Kinds {
		o.bells[kind] = make(chan struct{}, 1)
	}
}

// Run sends until ctx ends; attempts under way are finished.
func (o *Outbox) Run(ctx context.Context) {
	var wait sync.WaitGroup
	for _, kind := range notify.Kinds {
		wait.Go(func() { o.lane(ctx, kind, o.bell(kind)) })
	}
	defer wait.Wait()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
		var due bool
		err := contained(func() (err error) {
			due, err = o.Store.DeliveriesDue(ctx, o.Now())
			return err
		})
		if err != nil {
			o.Log.Warn("cannot look into the outbox", "error", err)
		}
		if !due {
			continue
		}
		for _, kind := range notify.Kinds {
			o.Wake(kind)
		}
	}
}

// lane sends one kind, so that messages to a slow gateway keep no code waiting.
func (o *Outbox) lane(ctx context.Context, kind notify.Kind, bell <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-bell:
		}
		for ctx.Err() == nil {
			n := 0
			err := contained(func() (err error) {
				n, err = o.batch(ctx, kind)
				return err
			})
			if err != nil {
				o.Log.Warn("cannot work off the outbox", "kind", kind, "error", err)
			}
			if err != nil || n < claimBatch {
				break
			}
		}
	}
}

// batch claims and sends up to claimBatch deliveries and returns how many.
func (o *Outbox) batch(ctx context.Context, kind notify.Kind) (int, error) {
	claimed, err := o.Store.ClaimDeliveries(ctx, kind, o.NewID(), o.Now().Add(leaseFor), claimBatch)
	if err != nil {
		return 0, err
	}
	// What is claimed is finished, also while the service stops.
	detached := context.WithoutCancel(ctx)
	var wait sync.WaitGroup
	for _, d := range claimed {
		wait.Go(func() { o.finish(detached, d) })
	}
	wait.Wait()
	return len(claimed), nil
}

// finish delivers, and leaves what fails to the end of its lease.
func (o *Outbox) finish(ctx context.Context, d notify.Delivery) {
	if err := contained(func() error { return o.deliver(ctx, d) }); err != nil {
		o.Log.Warn("cannot finish a delivery; it will be tried again", "delivery", d.ID, "kind", d.Kind, "error", err)
	}
}

// deliver takes one delivery as far as it will go.
func (o *Outbox) deliver(ctx context.Context, d notify.Delivery) error {
	text, gone, err := o.text(ctx, d)
	if err != nil {
		return err
	}
	if gone != "" {
		return o.Store.DeliveryDropped(ctx, d, gone)
	}
	if o.TestNumber != nil && o.TestNumber(d.To) { // it has become one since this was queued
		return o.Store.DeliverySpared(ctx, d)
	}
	if d.Held { // only now: what is dropped must not use up a cap
		admitted, err := o.Store.AdmitHeld(ctx, d)
		if err != nil || !admitted {
			return err
		}
	}
	err = o.Send(ctx, Message{ID: d.ID, To: string(d.To), Text: text, OTP: d.Kind == notify.OTP})
	if err == nil {
		return o.Store.DeliverySent(ctx, d)
	}
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		f = &Failure{Reason: "unreachable"}
	}
	o.Log.Warn("an SMS was not taken", "delivery", d.ID, "kind", d.Kind, "to", d.To.Mask(), "attempt", d.Attempts, "refused", f.Refused, "reason", f.Reason)
	if f.Refused {
		return o.Store.DeliveryFailed(ctx, d, "refused")
	}
	now := o.Now()
	if !now.Before(d.GivesUpAt) {
		return o.Store.DeliveryFailed(ctx, d, "gave_up")
	}
	due := now.Add(max(f.Wait, backoff(d.Attempts)))
	if due.After(d.GivesUpAt) {
		due = d.GivesUpAt // the last attempt, however long the gateway asked for
	}
	return o.Store.DeliveryLater(ctx, d, due, "retrying")
}

// text makes the words of a delivery from what stands now, or says why there is
// nothing to send any more.
func (o *Outbox) text(ctx context.Context, d notify.Delivery) (text, gone string, err error) {
	switch d.Kind {
	case notify.OTP:
		c, live, err := o.Store.LiveChallenge(ctx, d, o.OTPTries)
		if err != nil || !live {
			return "", "not_wanted", err
		}
		code, err := o.Code(c.ID, c.Code)
		if err != nil {
			return "", "", err
		}
		return notify.OTPText(code, c.EndsAt.Sub(o.Now())), "", nil
	case notify.Notices:
		n, found, err := o.Store.Notice(ctx, d)
		if err != nil || !found || !n.Wanted() {
			return "", "not_wanted", err
		}
		return n.Text, "", nil
	}
	asked, open, err := o.Store.AskedBy(ctx, d.RequestID)
	if err != nil || !open {
		return "", "request_closed", err
	}
	link := o.PublicURL + "/a/" + o.Link(d.ID)
	return notify.RequestText(asked.Party, asked.CoachName, asked.StudentName, link, d.Kind == notify.Reminder), "", nil
}

// backoff is the wait after the nth attempt, with jitter so that replicas and
// messages do not come back all at once.
func backoff(n int) time.Duration {
	wait := min(backoffFirst<<min(n-1, 20), backoffMost)
	return wait*3/4 + rand.N(wait/2)
}
