package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// Deliveries of a channel that the service no longer has fail after their lifetime, and
// the coach is told. Those of other channels stay, and those that a replica has claimed.
func TestFailRemovedChannels(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		var requests []string
		for i, channel := range []string{"fax", "fax", "sms"} {
			id := p.add(c, "Asha Rao", number(10+i), "").Party(actor.Guardian).Request.ID
			ok(p, run(p.db, `UPDATE deliveries SET channel = $2 WHERE request_id = $1 AND channel = 'sms'`, id, channel))
			requests = append(requests, id)
			c = p.coach(2 + i)
		}
		fail := func(want int) {
			p.Helper()
			if n, err := p.db.Outbox.FailRemovedChannels(bg, []message.Channel{message.SMS}, 10); err != nil || n != want {
				p.Errorf("FailRemovedChannels = %d, %v; want %d", n, err, want)
			}
		}
		state := func(id string) (state string) {
			p.Helper()
			ok(p, p.sql.QueryRow(bg, `SELECT state || ' ' || coalesce(reason, '') FROM deliveries WHERE request_id = $1 AND channel <> 'in_app'`, id).Scan(&state))
			return state
		}
		p.clock.advance(day - time.Second)
		fail(0)
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: "fax", Kind: message.Request}, "lease", p.clock.Now().Add(time.Minute), 1)
		if err != nil || len(claimed) != 1 {
			p.Fatalf("claimed %v, %v", claimed, err)
		}
		p.clock.advance(time.Second)
		fail(1)
		p.clock.advance(time.Minute) // the claim ends
		fail(1)
		fail(0)
		if got := []string{state(requests[0]), state(requests[1]), state(requests[2])}; !slices.Equal(got, []string{"failed channel_unavailable", "failed channel_unavailable", "queued "}) {
			p.Errorf("states = %q", got)
		}
		if n := p.count(`SELECT count(*) FROM requests WHERE delivery_failed`); n != 2 {
			p.Errorf("%d requests are marked, want 2", n)
		}
		if n := p.count(`SELECT count(*) FROM notifications WHERE type = 'delivery_failed'`); n != 2 {
			p.Errorf("%d notifications, want 2", n)
		}
	})
}

// Each channel on which a sending fails notifies the coach.
func TestEachFailedChannelNotifies(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.add(c, "Asha Rao", number(2), "")
		ok(p, run(p.db, `
			INSERT INTO deliveries (id, kind, channel, state, recipient, role, coach_id, request_id, attempts, due_at, gives_up_at, created_at, updated_at)
			SELECT 'fax', kind, 'fax', state, recipient, role, coach_id, request_id, attempts, due_at, gives_up_at, created_at, updated_at
			FROM deliveries WHERE channel = 'sms'`))
		for _, channel := range []message.Channel{"fax", message.SMS} {
			claimed, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: channel, Kind: message.Request}, "lease", p.clock.Now().Add(time.Minute), 1)
			if err != nil || len(claimed) != 1 {
				p.Fatalf("claimed %v, %v", claimed, err)
			}
			ok(p, p.db.Outbox.DeliveryFailed(bg, claimed, message.ReasonRefused, ""))
		}
		if got := p.tray(c.AccountID); !slices.Equal(got, []string{"delivery_failed", "delivery_failed"}) {
			p.Errorf("notifications = %q, want two of delivery_failed", got)
		}
	})
}
