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
	// claimBatch is how many deliveries one claim takes. They are sent concurrently.
	claimBatch = 8
	// leaseDuration is longer than a batch may take. After it another worker may claim
	// the deliveries again.
	leaseDuration = time.Minute
	// The wait between attempts doubles from backoffMin to backoffMax.
	backoffMin = time.Second
	backoffMax = 5 * time.Minute
)

// Store is the part of package store that the outbox uses. See there.
type Store interface {
	LanesDue(ctx context.Context, lanes []notify.Lane, now time.Time) ([]notify.Lane, error)
	ClaimDeliveries(ctx context.Context, lane notify.Lane, lease string, until time.Time, n int) ([]notify.Delivery, error)
	LiveChallenge(ctx context.Context, d notify.Delivery, maxAttempts int) (auth.Challenge, bool, error)
	RequestDetails(ctx context.Context, requestID string) (notify.RequestDetails, bool, error)
	NotificationCopy(ctx context.Context, d notify.Delivery) (notify.Copy, bool, error)
	AdmitHeld(ctx context.Context, d notify.Delivery) (bool, error)
	DeliverySent(ctx context.Context, d notify.Delivery) error
	DeliverySuppressed(ctx context.Context, d notify.Delivery) error
	RetryDelivery(ctx context.Context, d notify.Delivery, due time.Time, reason string) error
	DeliveryDropped(ctx context.Context, d notify.Delivery, reason string) error
	DeliveryFailed(ctx context.Context, d notify.Delivery, reason string) error
}

// Sender sends the messages of one channel. It is safe for concurrent use.
type Sender interface {
	// Send makes one attempt. It returns nil if the provider accepted the message. It
	// returns a *notify.SendError to say if and when to try again; any other error is
	// temporary.
	Send(ctx context.Context, m notify.Message) error
	// Suppressed reports whether nothing is sent to an address, such as a test number.
	// A suppressed delivery counts as sent.
	Suppressed(to string) bool
}

// OutboxConfig is what NewOutbox needs. All fields are required.
type OutboxConfig struct {
	Store   Store
	Senders map[notify.Channel]Sender
	// Signal wakes the lanes. Its channels are those of Senders.
	Signal *notify.QueueSignal
	// OpenCode decrypts the code of a challenge.
	OpenCode func(challengeID string, sealed []byte) (string, error)
	// LinkToken returns the token in the link of a delivery.
	LinkToken func(deliveryID string) string
	// PublicURL is the base of links.
	PublicURL string
	// OTPAttempts is the number of wrong attempts after which an OTP no longer works.
	OTPAttempts int

	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger
}

// Outbox sends queued deliveries. It has one lane per channel and kind; each lane
// claims a batch, renders the messages, sends them, and stores the results.
type Outbox struct{ OutboxConfig }

// NewOutbox returns an Outbox. Run starts it.
func NewOutbox(c OutboxConfig) *Outbox { return &Outbox{c} }

// Run sends deliveries until ctx ends and the claimed ones are finished.
func (o *Outbox) Run(ctx context.Context) {
	var wait sync.WaitGroup
	for _, lane := range o.Signal.Lanes() {
		wait.Go(func() { o.runLane(ctx, lane) })
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
		var due []notify.Lane
		err := recovered(func() (err error) {
			due, err = o.Store.LanesDue(ctx, o.Signal.Lanes(), o.Now())
			return err
		})
		if err != nil {
			o.Log.Warn("poll the outbox", "error", err)
		}
		for _, lane := range due {
			o.Signal.Wake(lane)
		}
	}
}

// runLane sends batches when the lane is woken, until none is due.
func (o *Outbox) runLane(ctx context.Context, lane notify.Lane) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.Signal.Woken(lane):
		}
		for ctx.Err() == nil {
			n := 0
			err := recovered(func() (err error) {
				n, err = o.sendBatch(ctx, lane)
				return err
			})
			if err != nil {
				o.Log.Warn("send a batch of deliveries", "channel", lane.Channel, "kind", lane.Kind, "error", err)
			}
			if err != nil || n < claimBatch {
				break
			}
		}
	}
}

// sendBatch claims and sends up to claimBatch deliveries. It returns how many.
func (o *Outbox) sendBatch(ctx context.Context, lane notify.Lane) (int, error) {
	claimed, err := o.Store.ClaimDeliveries(ctx, lane, o.NewID(), o.Now().Add(leaseDuration), claimBatch)
	if err != nil {
		return 0, err
	}
	// A shutdown does not abort deliveries that are claimed.
	detached := context.WithoutCancel(ctx)
	var wait sync.WaitGroup
	for _, d := range claimed {
		wait.Go(func() {
			if err := recovered(func() error { return o.deliver(detached, d) }); err != nil {
				// The delivery stays claimed until its lease ends, then it is tried again.
				o.Log.Warn("deliver", "delivery", d.ID, "channel", d.Channel, "kind", d.Kind, "error", err)
			}
		})
	}
	wait.Wait()
	return len(claimed), nil
}

// deliver makes one attempt and stores its result.
func (o *Outbox) deliver(ctx context.Context, d notify.Delivery) error {
	m, dropReason, err := o.message(ctx, d)
	if err != nil {
		return err
	}
	if dropReason != "" {
		return o.Store.DeliveryDropped(ctx, d, dropReason)
	}
	sender := o.Senders[d.Channel]
	if sender.Suppressed(d.To) {
		return o.Store.DeliverySuppressed(ctx, d)
	}
	if d.Held { // admitted here, so that a dropped delivery does not use up a limit
		admitted, err := o.Store.AdmitHeld(ctx, d)
		if err != nil || !admitted {
			return err
		}
	}
	if err := sender.Send(ctx, m); err != nil {
		return o.failed(ctx, d, err)
	}
	return o.Store.DeliverySent(ctx, d)
}

// failed stores the result of a failed attempt: another attempt later, or the end.
func (o *Outbox) failed(ctx context.Context, d notify.Delivery, err error) error {
	f, ok := errors.AsType[*notify.SendError](err)
	if !ok {
		f = &notify.SendError{Reason: "unreachable"}
	}
	o.Log.Warn("a message was not sent", "delivery", d.ID, "channel", d.Channel, "kind", d.Kind,
		"to", phone.Number(d.To), // logged masked; an address that is no number is hidden entirely
		"attempt", d.Attempts, "permanent", f.Permanent, "reason", f.Reason)
	if f.Permanent {
		return o.Store.DeliveryFailed(ctx, d, "refused")
	}
	now := o.Now()
	if !now.Before(d.GivesUpAt) {
		return o.Store.DeliveryFailed(ctx, d, notify.ReasonGaveUp)
	}
	due := now.Add(max(f.Wait, backoff(d.Attempts)))
	if due.After(d.GivesUpAt) {
		due = d.GivesUpAt // one last attempt, even if the provider asked for a longer wait
	}
	return o.Store.RetryDelivery(ctx, d, due, "retrying")
}

// message renders d from the current state. dropReason is set if there is nothing to
// send any more.
func (o *Outbox) message(ctx context.Context, d notify.Delivery) (m notify.Message, dropReason string, err error) {
	m = notify.Message{ID: d.ID, To: d.To, Kind: d.Kind}
	switch d.Kind {
	case notify.OTP:
		c, live, err := o.Store.LiveChallenge(ctx, d, o.OTPAttempts)
		if err != nil || !live {
			return m, notify.ReasonNotWanted, err
		}
		m.Code, err = o.OpenCode(c.ID, c.Code)
		m.ValidFor = c.EndsAt.Sub(o.Now())
		return m, "", err
	case notify.NotificationCopy:
		found := false
		m.Copy, found, err = o.Store.NotificationCopy(ctx, d)
		if err != nil || !found || !m.Copy.Needed() {
			return m, notify.ReasonNotWanted, err
		}
		return m, "", nil
	}
	open := false
	m.Request, open, err = o.Store.RequestDetails(ctx, d.RequestID)
	if err != nil || !open {
		return m, notify.ReasonRequestClosed, err
	}
	m.Link = o.PublicURL + "/a/" + o.LinkToken(d.ID)
	return m, "", nil
}

// backoff returns the wait after the nth attempt. Jitter of a quarter spreads the
// attempts of replicas and messages.
func backoff(n int) time.Duration {
	wait := min(backoffMin<<min(n-1, 20), backoffMax)
	return wait*3/4 + rand.N(wait/2)
}
