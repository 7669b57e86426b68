package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// budgeted sets a budget; each segment costs 1.
func budgeted(budget int64) option {
	return func(s *settings) {
		s.Outbox.Limits.Budget = budget
		s.Outbox.SegmentPrice = func(message.Channel, phone.Number) int64 { return 1 }
	}
}

// requestOTP requests an OTP. It returns how long the budget refuses it, or 0.
func (p *fixture) requestOTP(n int, role actor.Role) time.Duration {
	p.Helper()
	return p.requestOTPBy(message.SMS, "sms_budget", n, role)
}

func (p *fixture) requestOTPBy(channel message.Channel, budget string, n int, role actor.Role) time.Duration {
	p.Helper()
	now := p.clock.Now()
	_, err := p.accounts().OpenChallenge(bg, auth.ChallengeRequest{
		Challenge: auth.Challenge{
			ChallengeKey: auth.ChallengeKey{Number: number(n), Role: role},
			ID:           p.db.NewID(), Code: []byte("x"), SentAt: now, EndsAt: now.Add(5 * time.Minute),
		},
		MaxAttempts: 5, LastSentBefore: now, Channel: string(channel),
	})
	if exceeded, is := errors.AsType[auth.LimitExceeded](err); is && exceeded.Name == budget {
		return exceeded.Wait
	}
	ok(p, err)
	return 0
}

// sendOTPs claims and sends the OTPs that are due. It returns how many left.
func (p *fixture) sendOTPs() (sent int) {
	p.Helper()
	return p.sendOTPsBy(message.SMS)
}

func (p *fixture) sendOTPsBy(channel message.Channel) (sent int) {
	p.Helper()
	claimed, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: channel, Kind: message.OTP}, p.db.NewID(), p.clock.Now().Add(time.Minute), 8)
	ok(p, err)
	for _, d := range claimed {
		_, holdsRole, live, err := p.accounts().LiveChallenge(bg, d, 5)
		ok(p, err)
		if !live {
			ok(p, p.db.Outbox.DeliveryDropped(bg, []message.Delivery{d}, message.ReasonNotWanted))
			continue
		}
		m := message.Outgoing{Message: message.Message{Kind: message.OTP, HoldsRole: holdsRole}, Deliveries: []message.Delivery{d}, Segments: 1}
		admitted, err := p.db.Outbox.AdmitMessages(bg, []message.Outgoing{m})
		ok(p, err)
		for _, m := range admitted {
			ok(p, p.db.Outbox.DeliverySent(bg, m.Deliveries))
			sent++
		}
	}
	return sent
}

// Messages and OTPs of new coaches stop at 80 % of the budget, OTPs to numbers that hold
// their role at 100 %. Requests of guardians are answered alike, whether or not the number
// holds the role.
func TestSMSBudget(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.ask(c, 100, 7)
		if wait := p.requestOTP(50, actor.Coach); wait != 0 {
			p.Errorf("a new coach waits %s before 80 %% are spent", wait)
		}
		if sent := p.sendOTPs(); sent != 1 {
			p.Errorf("%d OTPs left, want 1", sent)
		}
		p.clock.advance(time.Hour)
		p.ask(c, 110, 2)
		p.wantSent("80 % of the budget", 1, 7)
		if wait := p.requestOTP(51, actor.Coach); wait != 23*time.Hour {
			p.Errorf("a new coach waits %s, want 23 h", wait)
		}
		for _, request := range []struct {
			n    int
			role actor.Role
		}{{1, actor.Coach}, {300, actor.Guardian}, {100, actor.Guardian}} {
			if wait := p.requestOTP(request.n, request.role); wait != 0 {
				p.Errorf("number %d as %s waits %s before the budget is spent", request.n, request.role, wait)
			}
		}
		if wait := p.requestOTP(101, actor.Guardian); wait != 23*time.Hour {
			p.Errorf("a guardian waits %s although two OTPs have the rest of the budget, want 23 h", wait)
		}
		if sent := p.sendOTPs(); sent != 2 {
			p.Errorf("%d OTPs left, want the last 2 of the budget", sent)
		}
		if spent, err := p.db.Outbox.Spent(bg, message.SMSCosts); err != nil || spent != 10 {
			p.Errorf("Spent = %d, %v; want 10", spent, err)
		}
		held, other := p.requestOTP(102, actor.Guardian), p.requestOTP(301, actor.Guardian)
		if held != 23*time.Hour || other != held {
			p.Errorf("a guardian waits %s, another number %s; want 23 h for both", held, other)
		}
		p.clock.advance(23 * time.Hour)
		if spent, err := p.db.Outbox.Spent(bg, message.SMSCosts); err != nil || spent != 9 {
			p.Errorf("Spent = %d, %v; want 9", spent, err)
		}
		if wait := p.requestOTP(102, actor.Guardian); wait != 0 {
			p.Errorf("a guardian waits %s after a day", wait)
		}
		if sent := p.sendOTPs(); sent != 1 {
			p.Errorf("%d OTPs left, want 1", sent)
		}
	}, budgeted(10))
}

// The budget is not exceeded by a message that costs more than it, or than the part that is not
// kept for OTPs. Cheaper messages do not wait behind it.
func TestMessageAboveBudget(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.ask(c, 100, 1)
		p.clock.advance(time.Minute)
		p.ask(c, 101, 1)
		p.wantSent("one of two", 1, 1)
		if held, err := p.db.Outbox.BudgetHolds(bg, message.SMSCosts); err != nil || !held {
			p.Errorf("BudgetHolds = %t, %v; want true", held, err)
		}
		if wait := p.requestOTP(102, actor.Guardian); wait != 24*time.Hour {
			p.Errorf("a guardian whose OTP costs more than the budget waits %s, want 24 h", wait)
		}
		p.clock.advance(25 * time.Hour)
		p.wantSent("a day later", 1, 0)
		if spent, err := p.db.Outbox.Spent(bg, message.SMSCosts); err != nil || spent != 0 {
			p.Errorf("Spent = %d, %v; want 0", spent, err)
		}
	}, budgeted(10), func(s *settings) {
		s.Outbox.SegmentPrice = func(_ message.Channel, n phone.Number) int64 {
			return map[phone.Number]int64{number(100): 9, number(101): 8, number(102): 11}[n]
		}
	})
}

// An OTP neither waits behind held messages nor counts against their limits.
func TestOTPIsNotHeld(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.ask(p.coach(1), 100, 2)
		p.wantSent("up to the total", 1, 1)
		p.requestOTP(100, actor.Guardian)
		if sent := p.sendOTPs(); sent != 1 {
			p.Errorf("%d OTPs left, want 1", sent)
		}
		p.clock.advance(time.Hour)
		ok(p, p.db.Outbox.WakeHeld(bg))
		p.wantSent("an hour later", 1, 1)
	}, limited(message.Limits{TotalHour: 1, PerNumber: 1}), budgeted(1000))
}

// Calls and SMS have budgets apart: a flood of one stops only its own channel, and the report shows
// both.
func TestCallBudget(t *testing.T) {
	t.Parallel()
	const calls, price = "call_budget", 3
	eachEngine(t, func(p *fixture) {
		for i := range 20 {
			p.coach(i)
		}
		accepted := map[message.Channel]int{}
		for i := range 20 {
			if p.requestOTPBy(message.Voice, calls, i, actor.Coach) == 0 {
				accepted[message.Voice]++
			}
		}
		if wait := p.requestOTPBy(message.Voice, calls, 30, actor.Guardian); wait != day {
			p.Errorf("a call beyond the budget waits %s, want a day", wait)
		}
		for i := range 8 {
			p.clock.advance(time.Second)
			if p.requestOTP(i, actor.Coach) == 0 {
				accepted[message.SMS]++
			}
		}
		if accepted[message.Voice] != 2 || accepted[message.SMS] != 8 {
			p.Errorf("accepted %v, want 2 calls and 8 SMS", accepted)
		}
		if sent := p.sendOTPs() + p.sendOTPsBy(message.Voice); sent != 10 {
			p.Errorf("%d OTPs left, want 10", sent)
		}
		for line, want := range map[message.CostLine]int64{message.CallCosts: 2 * price, message.SMSCosts: 8} {
			if spent, err := p.db.Outbox.Spent(bg, line); err != nil || spent != want {
				p.Errorf("%s: spent %d, %v; want %d", line, spent, err, want)
			}
		}
	}, func(s *settings) {
		s.Outbox.Limits.Budget, s.Outbox.Limits.CallBudget, s.MaxCallCost = 10, 2*price, price
		s.Outbox.SegmentPrice = func(c message.Channel, _ phone.Number) int64 {
			if c == message.Voice {
				return price
			}
			return 1
		}
		s.OTPSegments = func(actor.Role, string) int { return 1 }
	})
}

// Of requests at the end of the budget exactly those are accepted that it pays for, and all of
// these leave. Numbers that do not hold the role reserve nothing. Requests lock one shard far
// from the end and all shards near it.
func TestSMSBudgetConcurrently(t *testing.T) {
	t.Parallel()
	const budget, coaches = 48, 60
	eachEngine(t, func(p *fixture) {
		for i := range coaches {
			p.coach(i)
		}
		c := p.coach(coaches)
		p.ask(c, 200, 2)
		replicas := []*fixture{p, p.with(budgeted(budget), maxOTPCost(1))}
		var accepted atomic.Int64
		var wait sync.WaitGroup
		request := func(i, n int, role actor.Role) {
			wait.Go(func() {
				if replicas[i%2].requestOTP(n, role) == 0 && role == actor.Coach {
					accepted.Add(1)
				}
			})
		}
		for i := range coaches {
			request(i, i, actor.Coach)
			request(i, 300+i, actor.Student)
		}
		sent := 0
		wait.Go(func() { sent = len(p.sendRequests(1)) })
		wait.Wait()
		sent += p.sendAllOTPs()
		if spent, err := p.db.Outbox.Spent(bg, message.SMSCosts); err != nil || spent != budget || sent != budget {
			p.Errorf("spent %d, %v; sent %d; want both %d", spent, err, sent, budget)
		}
		if n := int(accepted.Load()); n > budget || n < budget-2 {
			p.Errorf("accepted %d, want %d less at most two messages", n, budget)
		}
		if n := p.count(`SELECT count(*) FROM deliveries WHERE reason = 'budget'`); n != 0 {
			p.Errorf("%d OTPs were dropped", n)
		}
		if n := p.count(`SELECT sum(messages) FROM message_costs`); n != budget {
			p.Errorf("the report has %d messages, want %d", n, budget)
		}
		if wait := p.requestOTP(500, actor.Student); wait == 0 {
			p.Errorf("a number without the role is accepted after the budget is spent")
		}
	}, budgeted(budget), maxOTPCost(1))
}

// maxOTPCost sets the highest cost of an OTP.
func maxOTPCost(n int64) option { return func(s *settings) { s.MaxOTPCost = n } }

// sendAllOTPs sends the OTPs of a queue. It returns how many left.
func (p *fixture) sendAllOTPs() (sent int) {
	p.Helper()
	for p.count(`SELECT count(*) FROM deliveries WHERE kind = 'otp' AND state = 'queued'`) > 0 {
		sent += p.sendOTPs()
	}
	return sent
}
