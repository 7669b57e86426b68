package worker

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
)

// maxPlaces is how many deliveries this process sends beside those that it
// claims. A slow gateway fills them; what comes then waits to be claimed.
const maxPlaces = 2 * claimBatch

// Place is a place for one delivery that is queued for this process: it is
// claimed by the transaction that queues it.
type Place struct {
	outbox *Outbox
	lease  string
	used   atomic.Bool
}

// Reserve returns a place, nil where there is none: all are taken, or Run does
// not run. Send or Free must follow.
func (o *Outbox) Reserve() *Place {
	o.once.Do(o.init)
	select {
	case <-o.places:
		return &Place{outbox: o, lease: o.NewID()}
	default:
		return nil
	}
}

// open offers the places.
func (o *Outbox) open() {
	o.once.Do(o.init)
	for range maxPlaces {
		o.places <- struct{}{}
	}
}

// shut waits until every place is back, so that what is under way is finished,
// and offers none any more.
func (o *Outbox) shut() {
	for range maxPlaces {
		<-o.places
	}
}

// Lease is the claim, and how long it holds.
func (p *Place) Lease() (lease string, lasts time.Duration) { return p.lease, leaseFor }

// Send delivers d, which was queued under the place's lease, without waiting for
// it; c is its challenge where nothing else has to be asked.
func (p *Place) Send(d notify.Delivery, c *auth.Challenge) {
	if p.used.Swap(true) {
		return
	}
	go func() {
		defer p.outbox.back()
		p.outbox.finish(context.Background(), d, c)
	}()
}

// Free gives the place back unless something was sent with it.
func (p *Place) Free() {
	if !p.used.Swap(true) {
		p.outbox.back()
	}
}

func (o *Outbox) back() { o.places <- struct{}{} }
