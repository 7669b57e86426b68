package store_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// gathering makes further questions wait for two minutes.
func gathering(s *settings) { s.Outbox.GatherFor = 2 * time.Minute }

// claimMessages claims, gathers and admits the requests that are due.
func (p *fixture) claimMessages() []message.Outgoing {
	p.Helper()
	until := p.clock.Now().Add(time.Minute)
	claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), until, 8)
	ok(p, err)
	if len(claimed) == 0 {
		return nil
	}
	groups, err := p.db.Outbox.GatherRequests(bg, claimed, until)
	ok(p, err)
	var messages []message.Outgoing
	for _, group := range groups {
		if group[0].Counted {
			p.Errorf("delivery %s is counted", group[0].ID)
		}
		messages = append(messages, message.Outgoing{Deliveries: group, Segments: 1})
	}
	slices.SortFunc(messages, func(a, b message.Outgoing) int { return strings.Compare(a.Deliveries[0].ID, b.Deliveries[0].ID) })
	admitted, err := p.db.Outbox.AdmitMessages(bg, messages)
	ok(p, err)
	return admitted
}

// students returns the students that a message names.
func (p *fixture) students(deliveries []message.Delivery) string {
	p.Helper()
	var names []string
	for _, d := range deliveries {
		r, _, _, err := p.RequestDetails(bg, d)
		ok(p, err)
		names = append(names, r.StudentName)
	}
	return strings.Join(names, "+")
}

// wantMessages sends the messages that are due and checks their students.
func (p *fixture) wantMessages(when string, want ...string) {
	p.Helper()
	var got []string
	for _, m := range p.claimMessages() {
		got = append(got, p.students(m.Deliveries))
		ok(p, p.db.Outbox.DeliverySent(bg, m.Deliveries))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		p.Errorf("messages %s: %s", when, diff)
	}
}

// The first question of a coach to a number leaves at once. Further ones within two
// minutes leave together after them.
func TestGatherRequests(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		one, two := p.coach(1), p.coach(2)
		p.add(one, "Asha", number(9), "")
		p.add(one, "Other number", number(8), "")
		p.wantMessages("at once", "Asha", "Other number")
		p.clock.advance(time.Minute)
		bela := p.add(one, "Bela", number(9), "").Party(actor.Guardian).Request.ID
		p.add(two, "Other coach", number(9), "")
		p.wantMessages("after a minute", "Other coach")
		if got := p.deliveries(one, bela); !slices.Contains(got, "sms queued gathering") {
			p.Errorf("deliveries = %q, want sms queued gathering", got)
		}
		p.add(one, "Chetan", number(9), "")
		p.add(one, "Divya", number(9), "")
		p.wantMessages("after a minute, again")
		p.clock.advance(time.Minute)
		p.wantMessages("after two minutes", "Bela+Chetan+Divya")
		if got := p.deliveries(one, bela); !slices.Contains(got, "sms sent") {
			p.Errorf("deliveries = %q, want sms sent", got)
		}
		p.add(one, "Esha", number(9), "")
		p.wantMessages("in the next window", "Esha")
		if n := p.count(`SELECT CAST(sum(size) AS BIGINT) FROM message_counts WHERE counter = $1`, "number/"+string(number(9))); n != 4 {
			p.Errorf("%d segments were counted, want 4", n)
		}
	}, gathering)
}

// Of questions that are due at once, the oldest leaves.
func TestGatherAfterOutage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		for _, name := range []string{"Asha", "Bela", "Chetan"} {
			p.add(c, name, number(9), "")
		}
		p.wantMessages("at once", "Asha")
		p.clock.advance(2 * time.Minute)
		p.wantMessages("after two minutes", "Bela+Chetan")
	}, gathering)
}

// A question that is closed while it waits is not asked.
func TestGatheringRequestIsCancelled(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.add(c, "Asha", number(9), "")
		bela := p.add(c, "Bela", number(9), "").Party(actor.Guardian).Request.ID
		p.add(c, "Chetan", number(9), "")
		p.wantMessages("at once", "Asha")
		_, err := p.Cancel(bg, c, bela)
		ok(p, err)
		if got := p.deliveries(c, bela); !slices.Contains(got, "sms failed request_closed") {
			p.Errorf("deliveries = %q, want sms failed request_closed", got)
		}
		p.clock.advance(2 * time.Minute)
		p.wantMessages("after two minutes", "Chetan")
	}, gathering)
}

// A question that was closed while it waited never left. One that follows it, after a
// correction of the name or a cancellation, does not wait 48 h for it.
func TestGatheringRequestIsReplaced(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.add(c, "Asha", number(9), "")
		bela, chetan := p.add(c, "Bela", number(9), ""), p.add(c, "Chetan", number(9), "")
		p.wantMessages("at once", "Asha")
		_, err := p.Edit(bg, c, bela.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Bella")}})
		ok(p, err)
		_, err = p.Cancel(bg, c, chetan.Party(actor.Guardian).Request.ID)
		ok(p, err)
		r, _, err := p.send(c, chetan.ID, actor.Guardian)
		ok(p, err)
		if got := p.deliveries(c, r.ID); slices.Contains(got, "sms queued held") {
			p.Errorf("deliveries = %q, want none that is held", got)
		}
		p.wantMessages("within two minutes")
		p.clock.advance(2 * time.Minute)
		p.wantMessages("after two minutes", "Bella+Chetan")
	}, gathering, func(s *settings) { s.Rules.ResendAfter = 48 * time.Hour })
}

// A message with several questions is retried with the same id and questions, and its
// deliveries end together.
func TestGatheredMessageIsRetried(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		var requests []string
		for _, name := range []string{"Asha", "Bela", "Chetan"} {
			requests = append(requests, p.add(c, name, number(9), "").Party(actor.Guardian).Request.ID)
		}
		p.wantMessages("at once", "Asha")
		p.clock.advance(2 * time.Minute)
		first := p.claimMessages()
		if len(first) != 1 || p.students(first[0].Deliveries) != "Bela+Chetan" {
			p.Fatalf("claimed %v, want one message for Bela and Chetan", first)
		}
		carrier := first[0].Deliveries[0].ID
		ok(p, p.db.Outbox.RetryDelivery(bg, first[0].Deliveries, p.clock.Now().Add(time.Second), message.ReasonRetrying))
		p.add(c, "Divya", number(9), "")
		p.clock.advance(time.Second)
		again := p.claimAll(1) // one delivery of each claim
		if len(again) != 2 || p.students(again[0]) != "Divya" || p.students(again[1]) != "Bela+Chetan" || again[1][0].ID != carrier {
			p.Fatalf("claimed %v, want Divya, and the same message for Bela and Chetan", again)
		}
		ok(p, p.db.Outbox.DeliveryFailed(bg, again[1], message.ReasonRefused, ""))
		for _, id := range requests[1:] {
			if got := p.deliveries(c, id); !slices.Contains(got, "sms failed refused") {
				p.Errorf("deliveries = %q, want sms failed refused", got)
			}
			if n := p.count(`SELECT count(*) FROM requests WHERE id = $1 AND delivery_failed`, id); n != 1 {
				p.Errorf("request %s is not marked", id)
			}
		}
		ok(p, p.db.Outbox.DeliverySent(bg, first[0].Deliveries)) // a worker that lost its claim changes nothing
		if got := p.deliveries(c, requests[1]); !slices.Contains(got, "sms failed refused") {
			p.Errorf("deliveries = %q after a lost claim, want sms failed refused", got)
		}
	}, gathering)
}

// TestGatheredMessageEndsWhileClaimed completes a message after a worker has claimed it again, as
// a receipt of the first attempt or the closure of the coach's account does. No group is left.
func TestGatheredMessageEndsWhileClaimed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		for _, name := range []string{"Asha", "Bela", "Chetan"} {
			p.add(c, name, number(9), "")
		}
		p.wantMessages("at once", "Asha")
		p.clock.advance(2 * time.Minute)
		for _, m := range p.claimMessages() {
			ok(p, p.db.Outbox.RetryDelivery(bg, m.Deliveries, p.clock.Now(), message.ReasonRetrying))
		}
		until := p.clock.Now().Add(time.Minute)
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), until, 8)
		ok(p, err)
		if len(claimed) != 2 {
			p.Fatalf("claimed %d deliveries, want 2", len(claimed))
		}
		ok(p, run(p.db, `UPDATE deliveries SET state = 'delivered', lease = NULL WHERE state = 'queued'`))
		groups, err := p.db.Outbox.GatherRequests(bg, claimed, until)
		ok(p, err)
		if len(groups) > 0 {
			p.Errorf("got groups %v, want none", groups)
		}
	}, gathering)
}

// claimAll claims n deliveries at a time, until none is due, and groups each claim.
func (p *fixture) claimAll(n int) (groups [][]message.Delivery) {
	p.Helper()
	for {
		until := p.clock.Now().Add(time.Minute)
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), until, n)
		ok(p, err)
		if len(claimed) == 0 {
			return groups
		}
		found, err := p.db.Outbox.GatherRequests(bg, claimed, until)
		ok(p, err)
		groups = append(groups, found...)
	}
}

// A message beyond a limit is held. Its questions leave as single messages later.
func TestGatheredMessageIsHeld(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		for _, name := range []string{"Asha", "Bela", "Chetan"} {
			p.add(c, name, number(9), "")
		}
		p.wantMessages("at once", "Asha")
		p.clock.advance(2 * time.Minute)
		p.wantMessages("beyond the limit")
		if n := p.count(`SELECT count(*) FROM deliveries WHERE state = 'queued' AND reason = 'held'`); n != 2 {
			p.Errorf("%d deliveries are held, want 2", n)
		}
		p.clock.advance(day)
		p.wantMessages("a day later", "Bela")
		p.clock.advance(day)
		p.wantMessages("two days later", "Chetan")
	}, gathering, limited(message.Limits{PerNumber: 1}))
}

// Workers that claim parts of the same questions at the same time send each question in
// one message.
func TestConcurrentGathering(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		for i := range 9 {
			p.add(c, fmt.Sprint("Child ", i), number(9), "")
		}
		sent := p.gatherConcurrently()
		if len(sent) != 1 {
			p.Errorf("%d messages left at once, want 1: %v", len(sent), sent)
		}
		p.clock.advance(2 * time.Minute)
		sent = append(sent, p.gatherConcurrently()...)
		all := strings.Split(strings.Join(sent, "+"), "+")
		if slices.Sort(all); len(sent) != 2 || len(all) != 9 || len(slices.Compact(all)) != 9 {
			p.Errorf("messages = %v, want two with 9 students", sent)
		}
	}, gathering)
}

// gatherConcurrently lets four workers send what is due, each one delivery per claim. It
// returns the students of each message.
func (p *fixture) gatherConcurrently() (sent []string) {
	p.Helper()
	var mu sync.Mutex
	for _, err := range concurrently(4, func(int) error {
		for {
			until := p.clock.Now().Add(time.Minute)
			claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), until, 1)
			if err != nil || len(claimed) == 0 {
				return err
			}
			groups, err := p.db.Outbox.GatherRequests(bg, claimed, until)
			if err != nil {
				return err
			}
			var messages []message.Outgoing
			for _, group := range groups {
				messages = append(messages, message.Outgoing{Deliveries: group, Segments: 1})
			}
			admitted, err := p.db.Outbox.AdmitMessages(bg, messages)
			if err != nil {
				return err
			}
			mu.Lock()
			for _, m := range admitted {
				sent = append(sent, p.students(m.Deliveries))
			}
			mu.Unlock()
			for _, m := range admitted {
				if err := p.db.Outbox.DeliverySent(bg, m.Deliveries); err != nil {
					return err
				}
			}
		}
	}) {
		ok(p, err)
	}
	return sent
}

// A delivery whose carrier is completed leaves alone.
func TestGatheredDeliveryWithoutCarrier(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.add(c, "Asha", number(9), "")
		p.add(c, "Bela", number(9), "")
		p.wantMessages("at once", "Asha")
		ok(p, run(p.db, `UPDATE deliveries SET gathered_by = 'a completed delivery' WHERE reason = 'gathering'`))
		p.clock.advance(2 * time.Minute)
		if groups := p.claimAll(8); len(groups) != 1 || p.students(groups[0]) != "Bela" {
			p.Errorf("groups = %v, want Bela alone", groups)
		}
	}, gathering)
}
