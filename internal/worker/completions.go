package worker

import (
	"context"
	"slices"
	"sync"

	"github.com/touchline/touchline/internal/message"
)

// completions stores that the messages of a lane were accepted. While one statement runs,
// further messages wait and then share the next one, so that a lane takes few statements:
//
//	message 1 is accepted: a statement for it begins
//	messages 2 to 32 are accepted meanwhile: one statement for all of them follows
type completions struct {
	save func(ctx context.Context, deliveries []message.Delivery) error

	mu      sync.Mutex
	waiting []completion
	saving  bool
}

type completion struct {
	deliveries []message.Delivery
	done       chan error
}

// store returns when the deliveries of a message are stored.
func (c *completions) store(ctx context.Context, deliveries []message.Delivery) error {
	own := completion{deliveries, make(chan error, 1)}
	c.mu.Lock()
	c.waiting = append(c.waiting, own)
	if !c.saving {
		c.saving = true
		c.saveWaiting(ctx)
		c.saving = false
	}
	c.mu.Unlock()
	return <-own.done
}

// saveWaiting saves what waits until nothing does. It is called and returns with c.mu locked.
func (c *completions) saveWaiting(ctx context.Context) {
	for len(c.waiting) > 0 {
		batch := c.waiting
		c.waiting = nil
		c.mu.Unlock()
		var all []message.Delivery
		for _, one := range batch {
			all = slices.Concat(all, one.deliveries)
		}
		err := Recovered(func() error { return c.save(ctx, all) })
		for _, one := range batch {
			one.done <- err
		}
		c.mu.Lock()
	}
}
