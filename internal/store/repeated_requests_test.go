package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

// A message to the same number about the same child waits 48 h, also for a player who was
// deleted and added again; the request is open at once.
func TestRepeatedRequestsAreHeld(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		start := p.clock.Now()
		a := p.add(c, "Asha Rao", number(2), "")
		p.wantSent("first", 1, 1)
		p.clock.advance(time.Hour)
		_, err := p.Cancel(bg, c, a.Party(actor.Guardian).Request.ID)
		ok(p, err)
		for _, ask := range []func() *approval.Request{
			func() *approval.Request {
				r, _, err := p.send(c, a.ID, actor.Guardian)
				ok(p, err)
				return r
			},
			func() *approval.Request {
				ok(p, p.Remove(bg, c, a.ID))
				return p.add(c, "Asha Rao", number(2), "").Party(actor.Guardian).Request
			},
		} {
			r := ask()
			if got := p.deliveries(c, r.ID); !slices.Contains(got, "sms queued held") || r.State != approval.RequestPending || !r.LastSentAt.Equal(start) {
				p.Errorf("request %+v with deliveries %q, want pending, last sent %s, sms queued held", r, got, start)
			}
			p.wantSent("repeated", 1, 0)
		}
		p.clock.advance(47*time.Hour - time.Second)
		p.wantSent("before 48 h", 1, 0)
		p.clock.advance(time.Second)
		p.wantSent("after 48 h", 1, 1)
	}, func(s *settings) { s.Rules.ResendAfter = 48 * time.Hour })
}

// TestResendSupersedes: a question that waits since an outage does not leave beside the same question that the coach sent again.
func TestResendSupersedes(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), number(3))
		p.clock.advance(49 * time.Hour)
		r, _, err := p.send(c, a.ID, actor.Guardian)
		ok(p, err)
		if got := p.deliveries(c, r.ID); !slices.Contains(got, "sms failed not_wanted") || r.DeliveryFailed {
			p.Errorf("deliveries %q, failed %v; want the first SMS dropped", got, r.DeliveryFailed)
		}
		p.wantSent("after the outage", 1, 2) // one to each party
	}, func(s *settings) { s.Rules.ResendAfter = 48 * time.Hour })
}

// A held message that was also postponed to the end of quiet hours counts as sent when it leaves: the
// next message waits for 48 h from then.
func TestRepeatedRequestInQuietHours(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		p.wantSent("first", 1, 1)
		p.clock.advance(time.Hour)
		_, err := p.Cancel(bg, c, a.Party(actor.Guardian).Request.ID)
		ok(p, err)
		r, _, err := p.send(c, a.ID, actor.Guardian)
		ok(p, err)
		p.clock.advance(47 * time.Hour)
		ok(p, p.db.Outbox.PostponeDelivery(bg, []message.Delivery{p.claimOneRequest()}, p.clock.Now().Add(9*time.Hour), message.ReasonQuietHours))
		p.wantSent("in quiet hours", 1, 0)
		p.clock.advance(9 * time.Hour)
		left := p.clock.Now()
		p.wantSent("after quiet hours", 1, 1)
		if got, err := p.Request(bg, c, r.ID); err != nil || !got.LastSentAt.Equal(left) {
			p.Errorf("last sent %s, %v; want %s", got.LastSentAt, err, left)
		}
		p.clock.advance(time.Minute)
		_, err = p.Cancel(bg, c, r.ID)
		ok(p, err)
		_, _, err = p.send(c, a.ID, actor.Guardian)
		ok(p, err)
		p.wantSent("repeated", 1, 0)
		p.clock.advance(48 * time.Hour)
		p.wantSent("48 h later", 1, 1)
	}, func(s *settings) { s.Rules.ResendAfter = 48 * time.Hour })
}

// A player whose name or birth date was changed before it was removed counts as the same child if
// it is added again under the first name and date, in any letter case. Another child of the same
// number does not.
func TestRepeatedRequestsOfRenamedPlayer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		born, other := child("", "").DateOfBirth, approval.Date{Year: 2011, Month: time.May, Day: 2}
		for i, patch := range []approval.StudentPatch{
			{FullName: ptr("Asha Roy")}, {DateOfBirth: &other}, {FullName: ptr("Asha Roy"), DateOfBirth: &other},
		} {
			c, n := p.coach(1+i), number(10+i)
			a := p.add(c, "Asha Rao", n, "")
			p.wantSent("first", 1, 1)
			_, err := p.Edit(bg, c, a.ID, approval.Patch{Student: patch})
			ok(p, err)
			ok(p, p.Remove(bg, c, a.ID))
			again := p.add(c, "ASHA  rao", n, "")
			if again.Student.DateOfBirth != born {
				p.Fatalf("added again with %s", again.Student.DateOfBirth)
			}
			p.wantSent("added again", 1, 0)
			p.add(c, "Bela Rao", n, "")
			p.wantSent("another child", 1, 1)
		}
	}, func(s *settings) { s.Rules.ResendAfter = 48 * time.Hour })
}

// After a rejection the next message leaves at once, but at most five in 48 h.
func TestRequestsAfterRejections(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		p.wantSent("first", 1, 1)
		for i := range 5 {
			p.clock.advance(time.Minute)
			ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
			_, _, err := p.send(c, a.ID, actor.Guardian)
			ok(p, err)
			want := 1
			if i == 4 {
				want = 0
			}
			p.wantSent("after a rejection", 1, want)
		}
	}, func(s *settings) { s.Rules.ResendAfter = 48 * time.Hour })
}

// TestEarlierRequestsPlan: the search for earlier requests to a party reads an index for the requests of the
// last 48 h and does not sort, so older requests cost nothing.
//
// No other test runs beside it, because Observe sees the statements of the whole process.
func TestEarlierRequestsPlan(t *testing.T) {
	p := newFixture(t, storetest.SQLite(t))
	c := p.coach(1)
	a := p.add(c, "Asha Rao", number(2), "")
	_, err := p.Cancel(bg, c, a.Party(actor.Guardian).Request.ID)
	ok(t, err)
	var query string
	var args []any
	stop := database.Observe(func(q string, a []any) {
		if strings.Contains(q, "SELECT r.last_sent_at FROM requests") {
			query, args = q, a
		}
	})
	_, _, err = p.send(c, a.ID, actor.Guardian)
	stop()
	ok(t, err)
	rs, err := p.db.Query(bg, "EXPLAIN QUERY PLAN "+query, args...)
	lines, err := database.Collect(rs, err, func(s database.Scanner) (line string, err error) {
		return line, s.Scan(new(int), new(int), new(int), &line)
	})
	ok(t, err)
	plan := strings.Join(lines, "\n")
	if !strings.Contains(plan, "(approver_id=? AND coach_id=? AND last_sent_at>?)") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("the plan reads older requests, or sorts:\n%s", plan)
	}
}
