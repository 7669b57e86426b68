package worker

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// maxRounds ends Outbox.Once if deliveries become due without end.
const maxRounds = 1000

// Once does the work that is due now and returns when it is done, one job after the other. It is for simulations, which
// move the clock by hours: with Run they would wait for a tick of each second. It leaves out jobs whose period is
// longer than longest.
func (w *Worker) Once(ctx context.Context, longest time.Duration) {
	c := w.config
	log := func(name string, err error) {
		if err != nil {
			c.Log.Warn("a background job failed and will run again", "job", name, "error", err)
		}
	}
	for more, err := true, error(nil); more && err == nil; {
		err = Recovered(func() (err error) {
			more, err = c.Expand.Next(ctx)
			return err
		})
		log("expand messages", err)
	}
	for _, j := range c.Jobs {
		if j.Every <= longest {
			log(j.Name, Recovered(func() error { return j.Run(ctx) }))
		}
	}
	c.Outbox.Once(ctx)
	if c.Webhooks != nil {
		c.Webhooks.Once(ctx)
	}
}

// Once sends the deliveries that are due now, one after the other, so that the same work ends in the same state. It returns when none is due.
func (o *Outbox) Once(ctx context.Context) {
	sent := &completions{save: o.Store.DeliverySent}
	warn := func(err error) {
		if err != nil {
			o.Log.Warn("poll the outbox", "error", err)
		}
	}
	warn(Recovered(func() error { return o.Store.WakeHeld(ctx) }))
	for range maxRounds {
		var due []message.Lane
		warn(Recovered(func() (err error) {
			due, err = o.Store.LanesDue(ctx, o.Signal.Lanes(), o.Now())
			return err
		}))
		if len(due) == 0 {
			return
		}
		for _, lane := range due {
			until := o.Now().Add(leaseDuration)
			claimed := o.claim(ctx, lane, until)
			warn(Recovered(func() error { return o.sendBatch(ctx, lane, claimed, until, sent, inOrder) }))
		}
	}
}
