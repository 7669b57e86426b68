package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store/storetest"
)

// outgoing returns a message of the given size for each delivery.
func outgoing(segments int, deliveries ...message.Delivery) []message.Outgoing {
	var messages []message.Outgoing
	for _, d := range deliveries {
		messages = append(messages, message.Outgoing{Deliveries: []message.Delivery{d}, Segments: segments})
	}
	return messages
}

// sendRequests claims, admits and completes every request that is due. It returns the
// numbers to which they went.
func (p *fixture) sendRequests(segments int) (sent []string) {
	p.Helper()
	for {
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), p.clock.Now().Add(time.Minute), 8)
		ok(p, err)
		if len(claimed) == 0 {
			return sent
		}
		slices.SortFunc(claimed, func(a, b message.Delivery) int { return strings.Compare(a.ID, b.ID) })
		admitted, err := p.db.Outbox.AdmitMessages(bg, outgoing(segments, claimed...))
		ok(p, err)
		for _, m := range admitted {
			ok(p, p.RenewLinks(bg, m.Deliveries))
			ok(p, p.db.Outbox.DeliverySent(bg, m.Deliveries))
			sent = append(sent, m.Deliveries[0].To)
		}
	}
}

// wantSent checks how many requests leave now.
func (p *fixture) wantSent(what string, segments, want int) {
	p.Helper()
	if sent := p.sendRequests(segments); len(sent) != want {
		p.Errorf("%s: %d messages sent, want %d: %v", what, len(sent), want, sent)
	}
}

// ask adds n players of a coach with different guardians, whose numbers start at first.
func (p *fixture) ask(by actor.Actor, first, n int) {
	p.Helper()
	for i := range n {
		p.add(by, fmt.Sprintf("Child %d", first+i), number(first+i), "")
	}
}

// newCoach registers a coach now; the coaches of the fixture are years old.
func (p *fixture) newCoach(n int) actor.Actor {
	p.Helper()
	by := p.coach(n)
	ok(p, run(p.db, `UPDATE coaches SET created_at = $2 WHERE id = $1`, by.AccountID, p.clock.Now().UnixMicro()))
	return by
}

// Beyond a limit the request stands and its message is held until the limit admits it.
func TestMessageLimits(t *testing.T) {
	t.Parallel()
	t.Run("per number", func(t *testing.T) {
		eachEngine(t, func(p *fixture) {
			one, two := p.coach(1), p.coach(9)
			for i := range 3 {
				p.add(one, fmt.Sprint("Child ", i), number(2), "")
			}
			p.wantSent("from one coach", 1, 2)
			for i := range 2 {
				p.add(two, fmt.Sprint("Child ", i), number(2), "")
			}
			p.wantSent("from another coach", 1, 1)
			p.clock.advance(day)
			p.wantSent("a day later", 1, 2)
		}, limited(message.Limits{PerNumberFromCoach: 2, PerNumber: 3}))
	})
	t.Run("segments", func(t *testing.T) {
		eachEngine(t, func(p *fixture) {
			p.ask(p.coach(1), 100, 5)
			p.wantSent("messages of two segments", 2, 2)
		}, limited(message.Limits{PerCoach: 5}))
	})
	t.Run("new coach", func(t *testing.T) {
		eachEngine(t, func(p *fixture) {
			c := p.newCoach(1)
			p.ask(c, 100, 20)
			p.wantSent("new coach", 1, 2)
			a := p.add(c, "Asha Rao", number(200), "")
			ok(p, p.decide(p.as(actor.Guardian, number(200)), a.ID, approval.Approve))
			ok(p, p.db.Outbox.WakeHeld(bg))
			p.wantSent("one approval", 1, 10)
			ok(p, run(p.db, `UPDATE coaches SET created_at = 1 WHERE id = $1`, c.AccountID))
			ok(p, p.db.Outbox.WakeHeld(bg))
			p.wantSent("established coach", 1, 9)
		}, limited(message.Limits{NewCoach: 2}))
	})
	t.Run("network", func(t *testing.T) {
		eachEngine(t, func(p *fixture) {
			for i := range 4 {
				c := p.newCoach(1 + i)
				c.Network = "192.0.2.1"
				p.ask(c, 100+10*i, 1)
			}
			other := p.newCoach(9)
			other.Network = "192.0.2.2"
			p.ask(other, 200, 1)
			p.wantSent("from one network", 1, 4)
		}, limited(message.Limits{PerAddress: 3}))
	})
	t.Run("block", func(t *testing.T) {
		eachEngine(t, func(p *fixture) {
			p.ask(p.newCoach(1), 100, 5)
			p.wantSent("to one block", 1, 3)
		}, limited(message.Limits{PerBlock: 3}))
	})
	t.Run("totals", func(t *testing.T) {
		eachEngine(t, func(p *fixture) {
			fresh, established := p.newCoach(1), p.coach(2)
			p.ask(fresh, 100, 10)
			p.wantSent("half of the hour for new coaches", 1, 2)
			p.ask(established, 200, 10)
			p.wantSent("the other half for the others", 1, 2)
			p.clock.advance(time.Hour)
			ok(p, p.db.Outbox.WakeHeld(bg))
			p.wantSent("the rest of the day", 1, 2)
		}, limited(message.Limits{TotalHour: 4, TotalDay: 6}))
	})
	t.Run("budget", func(t *testing.T) {
		eachEngine(t, func(p *fixture) {
			p.ask(p.coach(1), 100, 10)
			p.wantSent("80 % of the budget", 2, 2)
		}, limited(message.Limits{Budget: 10}), func(s *settings) {
			s.Outbox.SegmentPrice = func(message.Channel, phone.Number) int64 { return 2 }
		})
	})
}

// Held messages leave oldest first, and no younger message overtakes them.
func TestHeldMessagesLeaveInOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.ask(c, 100, 5)
		p.wantSent("first", 1, 2)
		p.clock.advance(day - time.Second)
		p.ask(c, 110, 1)
		p.clock.advance(time.Second)
		want := []string{string(number(102)), string(number(103))}
		if sent := p.sendRequests(1); !slices.Equal(sent, want) {
			p.Errorf("sent %v, want the oldest %v", sent, want)
		}
		p.clock.advance(day)
		want = []string{string(number(104)), string(number(110))}
		if sent := p.sendRequests(1); !slices.Equal(sent, want) {
			p.Errorf("sent %v, want %v", sent, want)
		}
	}, limited(message.Limits{PerCoach: 2}))
}

// A message does not overtake an older one that waits for the same limit, also if a
// worker claims it alone, before the older one is due.
func TestMessageWaitsBehindOlderOneOfAnotherClaim(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.ask(c, 100, 2)
		p.wantSent("up to the limit", 1, 2)
		p.ask(c, 110, 1)
		p.wantSent("beyond the limit", 1, 0)
		p.clock.advance(day - time.Second)
		p.ask(c, 120, 1)
		p.clock.advance(time.Second) // the limit admits two messages again
		if first := p.sendOne(); first != "" {
			p.Errorf("%s left before %s, which waits for the same limit", first, number(110))
		}
		// The worker wakes the younger message when the older one leaves.
		for _, want := range []string{string(number(110)), string(number(120)), ""} {
			if got := p.sendOne(); got != want {
				p.Errorf("sent to %q, want %q", got, want)
			}
		}
	}, limited(message.Limits{PerCoach: 2}))
}

// sendOne claims the request that is due first, and sends it if the limits admit it. It
// returns its number, or "".
func (p *fixture) sendOne() string {
	p.Helper()
	claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), p.clock.Now().Add(time.Minute), 1)
	ok(p, err)
	admitted, err := p.db.Outbox.AdmitMessages(bg, outgoing(1, claimed...))
	ok(p, err)
	for _, m := range admitted {
		ok(p, p.db.Outbox.DeliverySent(bg, m.Deliveries))
		return m.Deliveries[0].To
	}
	return ""
}

// A closed request no longer waits: its held delivery ends at once.
func TestHeldMessageOfClosedRequest(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.ask(c, 100, 1)
		p.wantSent("first", 1, 1)
		cancelled := p.add(c, "Asha Rao", number(2), "")
		p.ask(c, 110, 1)
		p.wantSent("beyond the limit", 1, 0)
		id := cancelled.Party(actor.Guardian).Request.ID
		_, err := p.Cancel(bg, c, id)
		ok(p, err)
		if got := p.deliveries(c, id); !slices.Contains(got, "sms failed request_closed") {
			p.Errorf("deliveries = %q, want sms failed request_closed", got)
		}
		p.clock.advance(day)
		ok(p, p.db.Outbox.WakeHeld(bg))
		if sent := p.sendRequests(1); !slices.Equal(sent, []string{string(number(110))}) {
			p.Errorf("sent %v, want %s", sent, number(110))
		}
	}, limited(message.Limits{PerCoach: 1}))
}

// The time that a message is held counts neither to its lifetime nor to the validity of
// its link, and the pending list shows that it waits.
func TestHeldTimeDoesNotCount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.add(c, "Asha Rao", number(2), "")
		p.wantSent("first", 1, 1)
		held := p.add(c, "Bela Rao", number(2), "").Party(actor.Guardian).Request.ID
		p.wantSent("beyond the limit", 1, 0)
		blocked := map[string]string{}
		items, err := p.Pending(bg, c, approval.Page{Limit: 10})
		ok(p, err)
		for _, i := range items {
			if i.Party == actor.Guardian {
				blocked[i.StudentName] = i.BlockedBy()
			}
		}
		if blocked["Asha Rao"] != "" || blocked["Bela Rao"] != "message_limit" {
			p.Errorf("blocked_by = %v, want message_limit for Bela Rao", blocked)
		}
		p.clock.advance(3 * day)
		p.wantSent("later", 1, 1)
		now := p.clock.Now()
		if n := p.count(`SELECT count(*) FROM deliveries WHERE request_id = $1 AND gives_up_at = $2`, held, now.Add(day).UnixMicro()); n != 1 {
			p.Error("the lifetime does not start when the message leaves")
		}
		if n := p.count(`SELECT count(*) FROM request_links WHERE request_id = $1 AND ends_at = $2`, held, now.Add(14*day).UnixMicro()); n != 1 {
			p.Error("the link's validity does not start when the message leaves")
		}
		if n := p.count(`SELECT count(*) FROM requests WHERE id = $1 AND last_sent_at = $2`, held, now.UnixMicro()); n != 1 {
			p.Error("last_sent_at is not when the message left")
		}
	}, limited(message.Limits{PerNumber: 1}))
}

// Workers that count at the same time never exceed a limit.
func TestConcurrentAdmissions(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		for i := range 4 {
			c := p.coach(1 + i)
			p.ask(c, 100+20*i, 8)
		}
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), "lease", p.clock.Now().Add(time.Minute), 100)
		ok(p, err)
		var mu sync.Mutex
		admitted := 0
		for _, err := range concurrently(len(claimed), func(i int) error {
			got, err := p.db.Outbox.AdmitMessages(bg, outgoing(1, claimed[i]))
			mu.Lock()
			defer mu.Unlock()
			admitted += len(got)
			return err
		}) {
			ok(p, err)
		}
		if admitted != 10 {
			p.Errorf("%d messages were admitted, want 10", admitted)
		}
	}, limited(message.Limits{TotalHour: 10, PerCoach: 5}))
}

// A message does not overtake an older one that waits for the same limit, even if another
// claim takes the older one.
func TestHeldMessagesLeaveInOrderAcrossClaims(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.ask(c, 100, 2)
		p.wantSent("first", 1, 1)
		p.clock.advance(day)
		ok(p, run(p.db, `UPDATE deliveries SET due_at = $1 WHERE held_by IS NOT NULL`, p.clock.Now().Add(time.Hour).UnixMicro()))
		p.ask(c, 110, 1)
		p.wantSent("a younger message alone", 1, 0)
		ok(p, p.db.Outbox.WakeHeld(bg))
		if sent := p.sendRequests(1); !slices.Equal(sent, []string{string(number(101))}) {
			p.Errorf("sent %v, want the older %s", sent, number(101))
		}
	}, limited(message.Limits{PerCoach: 1}))
}

// A replica whose clock is behind counts with the others.
func TestMessageCountsOfReplicasWithDifferentClocks(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.ask(c, 100, 2)
		p.clock.advance(10 * time.Minute)
		p.wantSent("from a replica whose clock is ahead", 1, 2)
		p.clock.advance(-10 * time.Minute)
		p.ask(c, 110, 4)
		p.wantSent("from a replica whose clock is behind", 1, 1)
		p.clock.advance(day + 10*time.Minute - time.Second)
		ok(p, p.db.Outbox.WakeHeld(bg))
		p.wantSent("before the messages leave the window", 1, 0)
		p.clock.advance(time.Second)
		ok(p, p.db.Outbox.WakeHeld(bg))
		p.wantSent("a day later", 1, 3)
	}, limited(message.Limits{PerCoach: 3}))
}

// The round trips of an admission do not grow with the messages, which one transaction
// counts.
func TestRoundTripsOfAdmission(t *testing.T) {
	t.Parallel()
	address, trips := countTrips(t, storetest.Postgres(t))
	p := newFixture(t, address, limited(message.Limits{PerCoach: 200, PerNumber: 20, TotalHour: 100, TotalDay: 200}))
	p.ask(p.newCoach(1), 100, 17)
	admit := func(n int) int64 {
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), "lease", p.clock.Now().Add(time.Minute), n)
		ok(p, err)
		before := trips.Load()
		admitted, err := p.db.Outbox.AdmitMessages(bg, outgoing(1, claimed...))
		ok(p, err)
		if len(admitted) != n {
			p.Fatalf("%d messages admitted, want %d", len(admitted), n)
		}
		return trips.Load() - before
	}
	admit(8) // statements are prepared
	admit(1)
	if one, eight := admit(1), admit(7); one != eight || one > 7 {
		p.Errorf("%d round trips for one message, %d for seven, want at most 7 for both", one, eight)
	}
}
