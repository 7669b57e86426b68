package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// A completed copy is deleted after a week; a queued one is kept.
func TestCopiesAreSwept(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		for i, name := range []string{"Asha", "Bela"} {
			a := p.add(c, name, number(2+i), "")
			ok(p, p.decide(p.as(actor.Guardian, number(2+i)), a.ID, approval.Approve))
			ok(p, p.Remove(bg, c, a.ID))
		}
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.NotificationCopy), "lease", p.clock.Now().Add(time.Minute), 1)
		if err != nil || len(claimed) != 1 || claimed[0].CoachID != c.AccountID || claimed[0].To != string(number(2)) {
			p.Fatalf("claimed %+v, %v; want one copy to the first guardian", claimed, err)
		}
		admitted, err := p.db.Outbox.AdmitMessages(bg, outgoing(1, claimed...))
		if err != nil || len(admitted) != 1 {
			p.Fatalf("AdmitMessages = %v, %v; want one message", admitted, err)
		}
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{claimed[0]}))
		// A copy that waits stays until its account is erased.
		for _, step := range []struct {
			after time.Duration
			left  int
		}{{6 * day, 2}, {2 * day, 1}, {20 * day, 1}, {80 * day, 0}} {
			p.clock.advance(step.after)
			_, err := p.db.Sweep(bg, p.clock.Now())
			ok(p, err)
			if n := p.count(`SELECT count(*) FROM deliveries WHERE kind = 'notice'`); n != step.left {
				p.Errorf("%s later: %d copies, want %d", step.after, n, step.left)
			}
		}
	})
}
