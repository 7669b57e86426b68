package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/store"
)

// budgeted sets a budget; each segment costs 1.
func budgeted(budget int64) option {
	return func(s *store.Settings) {
		s.Messages.Budget = budget
		s.SegmentPrice = func(notify.Channel, phone.Number) int64 { return 1 }
	}
}

// requestOTP requests an OTP. It returns how long the budget refuses it, or 0.
func (p *fixture) requestOTP(n int, role actor.Role) time.Duration {
	p.Helper()
	now := p.clock.Now()
	_, err := p.db.OpenChallenge(bg, auth.ChallengeRequest{
		Challenge: auth.Challenge{
			ChallengeKey: auth.ChallengeKey{Number: number(n), Role: role},
			ID:           p.db.NewID(), Code: []byte("x"), SentAt: now, EndsAt: now.Add(5 * time.Minute),
		},
		MaxAttempts: 5, LastSentBefore: now, Channel: "sms",
	})
	if exceeded, is := errors.AsType[auth.LimitExceeded](err); is && exceeded.Name == "sms_budget" {
		return exceeded.Wait
	}
	ok(p, err)
	return 0
}

// sendOTPs claims and sends the OTPs that are due. It returns how many left.
func (p *fixture) sendOTPs() (sent int) {
	p.Helper()
	claimed, err := p.db.ClaimDeliveries(bg, sms(notify.OTP), p.db.NewID(), p.clock.Now().Add(time.Minute), 8)
	ok(p, err)
	for _, d := range claimed {
		_, holdsRole, live, err := p.db.LiveChallenge(bg, d, 5)
		ok(p, err)
		if !live {
			ok(p, p.db.DeliveryDropped(bg, []notify.Delivery{d}, notify.ReasonNotWanted))
			continue
		}
		m := notify.Outgoing{Message: notify.Message{Kind: notify.OTP, HoldsRole: holdsRole}, Deliveries: []notify.Delivery{d}, Segments: 1}
		admitted, err := p.db.AdmitMessages(bg, []notify.Outgoing{m})
		ok(p, err)
		for _, m := range admitted {
			ok(p, p.db.DeliverySent(bg, m.Deliveries))
			sent++
		}
	}
	return sent
}

// Messages and OTPs of new coaches stop at 80 % of the budget, OTPs to numbers that hold
// their role at 100 %. Requests of guardians are answered alike, whether or not the number
// holds the role.
func TestSMSBudget(t *testing.T) {
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
		}{{1, actor.Coach}, {100, actor.Guardian}, {101, actor.Guardian}, {300, actor.Guardian}} {
			if wait := p.requestOTP(request.n, request.role); wait != 0 {
				p.Errorf("number %d as %s waits %s before the budget is spent", request.n, request.role, wait)
			}
		}
		if sent := p.sendOTPs(); sent != 2 {
			p.Errorf("%d OTPs left, want the last 2 of the budget", sent)
		}
		if n := p.count(`SELECT count(*) FROM deliveries WHERE state = 'failed' AND reason = 'budget'`); n != 1 {
			p.Errorf("%d OTPs were dropped, want 1", n)
		}
		if spent, err := p.db.SMSSpent(bg); err != nil || spent != 10 {
			p.Errorf("SMSSpent = %d, %v; want 10", spent, err)
		}
		held, other := p.requestOTP(102, actor.Guardian), p.requestOTP(301, actor.Guardian)
		if held != 23*time.Hour || other != held {
			p.Errorf("a guardian waits %s, another number %s; want 23 h for both", held, other)
		}
		p.clock.advance(23 * time.Hour)
		if spent, err := p.db.SMSSpent(bg); err != nil || spent != 9 {
			p.Errorf("SMSSpent = %d, %v; want 9", spent, err)
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
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		p.ask(c, 100, 1)
		p.clock.advance(time.Minute)
		p.ask(c, 101, 1)
		p.wantSent("one of two", 1, 1)
		if held, err := p.db.BudgetHolds(bg); err != nil || !held {
			p.Errorf("BudgetHolds = %t, %v; want true", held, err)
		}
		if wait := p.requestOTP(102, actor.Guardian); wait != 24*time.Hour {
			p.Errorf("a guardian whose OTP costs more than the budget waits %s, want 24 h", wait)
		}
		p.clock.advance(25 * time.Hour)
		p.wantSent("a day later", 1, 0)
		if spent, err := p.db.SMSSpent(bg); err != nil || spent != 0 {
			p.Errorf("SMSSpent = %d, %v; want 0", spent, err)
		}
	}, budgeted(10), func(s *store.Settings) {
		s.SegmentPrice = func(_ notify.Channel, n phone.Number) int64 {
			return map[phone.Number]int64{number(100): 9, number(101): 8, number(102): 11}[n]
		}
	})
}

// An OTP neither waits behind held messages nor counts against their limits.
func TestOTPIsNotHeld(t *testing.T) {
	eachEngine(t, func(p *fixture) {
		p.ask(p.coach(1), 100, 2)
		p.wantSent("up to the total", 1, 1)
		p.requestOTP(100, actor.Guardian)
		if sent := p.sendOTPs(); sent != 1 {
			p.Errorf("%d OTPs left, want 1", sent)
		}
		p.clock.advance(time.Hour)
		ok(p, p.db.WakeHeld(bg))
		p.wantSent("an hour later", 1, 1)
	}, limited(approval.MessageLimits{TotalHour: 1, PerNumber: 1}), budgeted(1000))
}
