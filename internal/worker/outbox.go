package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/telemetry"
)

const (
	// claimBatch is how many deliveries one claim takes, and claimOTPs how many OTPs. They are
	// sent concurrently; a batch ends with its slowest message. The transactions for a batch
	// take longer than a fast gateway, so a larger batch drains a full outbox faster.
	claimBatch = 32
	claimOTPs  = 8
	// otpBatches is how many batches of OTPs are sent at the same time. A person waits for
	// each, also when the gateway takes a second for a message.
	otpBatches = 4
	// leaseDuration is longer than a batch may take. After it another worker may claim
	// the deliveries again.
	leaseDuration = time.Minute
	// The wait between attempts doubles from backoffMin to backoffMax.
	backoffMin = time.Second
	backoffMax = 5 * time.Minute
)

// Store has the deliveries. See message.Store.
type Store interface {
	LanesDue(ctx context.Context, lanes []message.Lane, now time.Time) ([]message.Lane, error)
	ClaimDeliveries(ctx context.Context, lane message.Lane, lease string, until time.Time, n int) ([]message.Delivery, error)
	GatherRequests(ctx context.Context, claimed []message.Delivery, until time.Time) ([][]message.Delivery, error)
	AdmitMessages(ctx context.Context, messages []message.Outgoing) ([]message.Outgoing, error)
	MarkSending(ctx context.Context, messages []message.Outgoing) ([]message.Outgoing, error)
	WakeHeld(ctx context.Context) error
	DeliverySent(ctx context.Context, accepted []message.Delivery) error
	DeliverySuppressed(ctx context.Context, deliveries []message.Delivery) error
	AwaitStatus(ctx context.Context, deliveries []message.Delivery, until time.Time) error
	FallBack(ctx context.Context, deliveries []message.Delivery, to message.Channel) error
	RetryDelivery(ctx context.Context, deliveries []message.Delivery, due time.Time, reason string) error
	PostponeDelivery(ctx context.Context, deliveries []message.Delivery, until time.Time, reason string) error
	DeliveryDropped(ctx context.Context, deliveries []message.Delivery, reason string) error
	DeliveryFailed(ctx context.Context, deliveries []message.Delivery, reason string, cause message.Cause) error
}

// Contents has what deliveries say. Features implement it.
type Contents interface {
	LiveChallenge(ctx context.Context, d message.Delivery, maxAttempts int) (c auth.Challenge, holdsRole, live bool, err error)
	RequestDetails(ctx context.Context, d message.Delivery) (message.RequestDetails, message.Recipient, bool, error)
	NotificationCopy(ctx context.Context, d message.Delivery) (message.Copy, message.Recipient, bool, error)
	TeamMessage(ctx context.Context, d message.Delivery) (m message.TeamMessage, to message.Recipient, dropReason string, err error)
	RenewLinks(ctx context.Context, leaving []message.Delivery) error
}

// Sender sends the messages of one channel. It is safe for concurrent use.
type Sender interface {
	// Send makes one attempt. It returns nil if the provider accepted the message. It
	// returns a *message.SendError to say if and when to try again; any other error is
	// temporary.
	Send(ctx context.Context, m message.Message) error
	// Segments returns how much the message limits count for a message; 0 exempts it.
	Segments(m message.Message) int
	// Suppressed reports whether nothing is sent to an address, such as a test number.
	// A suppressed delivery counts as sent.
	Suppressed(to string) bool
}

// OutboxConfig is the configuration for NewOutbox. All fields but Fallbacks and Tracer are required.
type OutboxConfig struct {
	Store    Store
	Contents Contents
	Senders  map[message.Channel]Sender
	// Fallbacks has an entry for each channel whose messages leave on another one if it cannot
	// deliver them.
	Fallbacks map[message.Channel]message.Fallback
	// Signal wakes the lanes. Its channels are the channels of Senders.
	Signal *message.QueueSignal
	// OpenCode decrypts the code of a challenge.
	OpenCode func(challengeID string, sealed []byte) (string, error)
	// LinkToken returns the token in the link of a delivery.
	LinkToken func(deliveryID string) string
	// TrainingURL returns the link with which the recipient of a copy answers, or "".
	TrainingURL func(context.Context, message.Copy) (string, error)
	// PublicURL is the base of links.
	PublicURL string
	// Brand is the name of the service in messages.
	Brand string
	// AppHash identifies the Android app in OTPs, or is empty.
	AppHash string
	// OTPAttempts is the number of wrong attempts after which an OTP no longer works.
	OTPAttempts int
	// CountOTPs counts the costs of OTPs, except those by mail. Their number is limited when they are requested.
	CountOTPs bool

	Now       func() time.Time
	NewTicker NewTicker
	NewID     func() string
	Log       *slog.Logger
	// Tracer makes a span for each attempt; nil makes none.
	Tracer *telemetry.Tracer
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
	poll, stopPoll := o.NewTicker(PollEvery)
	defer stopPoll()
	wake, stopWake := o.NewTicker(wakeHeldEvery)
	defer stopWake()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
			if err := Recovered(func() error { return o.Store.WakeHeld(ctx) }); err != nil {
				o.Log.Warn("wake held deliveries", "error", err)
			}
			continue
		case <-poll:
		}
		var due []message.Lane
		err := Recovered(func() (err error) {
			due, err = o.Store.LanesDue(ctx, o.Signal.Lanes(), o.Now())
			return err
		})
		if err != nil && ctx.Err() == nil { // not during a shutdown
			o.Log.Warn("poll the outbox", "error", err)
		}
		for _, lane := range due {
			o.Signal.Wake(lane)
		}
	}
}

// batchesOf returns how many batches of a lane are sent at the same time.
func batchesOf(lane message.Lane) int {
	if lane.Kind == message.OTP {
		return otpBatches
	}
	return 1
}

// sizeOf returns how many deliveries a claim of a lane takes.
func sizeOf(lane message.Lane) int {
	if lane.Kind == message.OTP {
		return claimOTPs
	}
	return claimBatch
}

// runLane claims a batch each time the lane is woken, and sends it while it claims the
// next ones. One claim at a time takes what was queued during the one before, so that a busy
// lane takes few statements. It returns when the claimed batches are finished.
func (o *Outbox) runLane(ctx context.Context, lane message.Lane) {
	var batches sync.WaitGroup
	defer batches.Wait()
	running := make(chan struct{}, batchesOf(lane))
	sent := &completions{save: o.Store.DeliverySent}
	// A shutdown does not abort deliveries that are claimed. After an error they stay
	// claimed until their lease ends.
	detached := context.WithoutCancel(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case running <- struct{}{}:
		}
		select {
		case <-ctx.Done():
			return
		case <-o.Signal.Woken(lane):
		}
		if ctx.Err() != nil {
			return
		}
		until := o.Now().Add(leaseDuration)
		claimed := o.claim(ctx, lane, until)
		batches.Go(func() {
			defer func() { <-running }()
			if err := Recovered(func() error { return o.sendBatch(detached, lane, claimed, until, sent, concurrently) }); err != nil {
				o.Log.Warn("send a batch of deliveries", "channel", lane.Channel, "kind", lane.Kind, "error", err)
			}
		})
	}
}

// claim claims up to sizeOf deliveries. After a full batch it wakes the lane at once, because
// more may be due.
func (o *Outbox) claim(ctx context.Context, lane message.Lane, until time.Time) (claimed []message.Delivery) {
	err := Recovered(func() (err error) {
		claimed, err = o.Store.ClaimDeliveries(ctx, lane, o.NewID(), until, sizeOf(lane))
		return err
	})
	if err != nil {
		o.Log.Warn("claim a batch of deliveries", "channel", lane.Channel, "kind", lane.Kind, "error", err)
	}
	if len(claimed) == sizeOf(lane) {
		o.Signal.Wake(lane)
	}
	return claimed
}

// sendBatch sends claimed deliveries and stores the results. forAll calls a function for each message.
func (o *Outbox) sendBatch(ctx context.Context, lane message.Lane, claimed []message.Delivery, until time.Time, sent *completions, forAll forAll) error {
	messages, err := o.group(ctx, lane, claimed, until)
	if err != nil {
		return err
	}
	ready := make([]*message.Outgoing, len(messages))
	forAll(len(messages), func(i int) {
		o.logged(messages[i][0], func() (err error) {
			ready[i], err = o.prepare(ctx, messages[i])
			return err
		})
	})
	admitted, err := o.admit(ctx, ready)
	if err == nil {
		admitted, err = o.markSending(ctx, admitted)
	}
	if err != nil {
		return err
	}
	var leaving []message.Delivery
	for _, m := range admitted {
		leaving = append(leaving, m.Deliveries...)
	}
	if err := o.Contents.RenewLinks(ctx, leaving); err != nil {
		return err
	}
	forAll(len(admitted), func(i int) {
		m := admitted[i]
		o.logged(m.Deliveries[0], func() error { return o.send(ctx, m, sent) })
	})
	return nil
}

// group groups claimed deliveries into messages. Only requests gather; each other delivery
// is a message.
func (o *Outbox) group(ctx context.Context, lane message.Lane, claimed []message.Delivery, until time.Time) ([][]message.Delivery, error) {
	if lane.Kind == message.Request && len(claimed) > 0 {
		return o.Store.GatherRequests(ctx, claimed, until)
	}
	var messages [][]message.Delivery
	for _, d := range claimed {
		messages = append(messages, []message.Delivery{d})
	}
	return messages, nil
}

// forAll calls work with 0 to n-1.
type forAll func(n int, work func(i int))

func concurrently(n int, work func(i int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { work(i) })
	}
	wait.Wait()
}

func inOrder(n int, work func(i int)) {
	for i := range n {
		work(i)
	}
}

// logged runs work on a delivery and logs its error. The delivery stays claimed until
// its lease ends, then it is tried again.
func (o *Outbox) logged(d message.Delivery, work func() error) {
	if err := Recovered(work); err != nil {
		o.Log.Warn("deliver", "delivery", d.ID, "channel", d.Channel, "kind", d.Kind, "error", err)
	}
}
