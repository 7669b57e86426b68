package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// The history is in the order of the commits, even if a decision waited for another one.
func TestHistoryOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.clock.setHook(time.Now)
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		p.countCodes(concurrently(6, func(i int) error {
			for range 15 {
				switch i % 3 {
				case 0:
					_ = p.decide(guardian, a.ID, approval.Approve)
				case 1:
					_ = p.decide(guardian, a.ID, approval.Revoke)
				default:
					_, _, _ = p.send(coach, a.ID, actor.Guardian)
				}
			}
			return nil
		}))
		p.checkInvariants(coach, a.ID)
		history, err := p.history(a.ID)
		ok(p, err)
		for i, r := range history {
			if want := []approval.Trigger{approval.Approve, approval.Revoke}[i%2]; r.Action != want {
				p.Fatalf("record %d of %d is %s, want %s", i, len(history), r.Action, want)
			}
		}
		if len(history) == 0 {
			p.Error("the history is empty")
		}
	})
}

// The history is in order even if the clock steps back between decisions, as it does between
// replicas.
func TestHistoryOrderAfterClockStepsBack(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		var want []approval.Trigger
		decide := func(by actor.Actor, what approval.Trigger) {
			p.Helper()
			p.clock.advance(-time.Minute)
			ok(p, p.decide(by, a.ID, what))
			want = append(want, what)
		}
		for range 3 {
			decide(guardian, approval.Approve)
			decide(student, approval.Reject)
			decide(guardian, approval.Revoke)
			for _, party := range approval.Parties {
				p.clock.advance(-time.Minute)
				_, _, err := p.send(coach, a.ID, party)
				ok(p, err)
			}
		}
		p.checkInvariants(coach, a.ID)
		history, err := p.history(a.ID)
		ok(p, err)
		var got []approval.Trigger
		for i, r := range history {
			if got = append(got, r.Action); i > 0 && !r.At.After(history[i-1].At) {
				p.Errorf("record %d is at %s, the one before at %s", i, r.At, history[i-1].At)
			}
		}
		if !slices.Equal(got, want) {
			p.Errorf("history %q, want %q", got, want)
		}
	})
}
