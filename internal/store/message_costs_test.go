package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/phone"
)

// Costs are summed for each day, coach and channel. A second attempt costs nothing.
func TestMessageCosts(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		first, second := p.coach(1), p.coach(4)
		for i, coachNumber := range []int{2, 3} {
			p.add(first, []string{"Asha Rao", "Bela Rao"}[i], number(coachNumber), "")
		}
		p.add(second, "Chetan Rao", number(5), "")
		admit := func() {
			p.Helper()
			claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), p.clock.Now().Add(time.Minute), 10)
			ok(p, err)
			var uncounted []message.Delivery
			for _, d := range claimed {
				if !d.Counted {
					uncounted = append(uncounted, d)
				}
			}
			if len(uncounted) > 0 {
				_, err = p.db.Outbox.AdmitMessages(bg, outgoing(2, uncounted...))
				ok(p, err)
			}
			for _, d := range claimed {
				ok(p, p.db.Outbox.RetryDelivery(bg, []message.Delivery{d}, p.clock.Now(), message.ReasonRetrying))
			}
		}
		admit()
		admit()
		day := p.clock.Now().UTC().Truncate(24 * time.Hour)
		p.clock.advance(24 * time.Hour)
		p.add(first, "Divya Rao", number(6), "")
		admit()
		next := day.AddDate(0, 0, 1)
		cost := func(day time.Time, coachID string, messages int64) message.MessageCost {
			return message.MessageCost{Day: day, CoachID: coachID, Channel: message.SMS, Messages: messages, Segments: 2 * messages, Cost: 20 * messages}
		}
		all := []message.MessageCost{cost(next, first.AccountID, 1), cost(day, second.AccountID, 1), cost(day, first.AccountID, 2)}
		slices.SortFunc(all[1:], func(a, b message.MessageCost) int { return strings.Compare(b.CoachID, a.CoachID) })
		check := func(s message.MessageCostSearch, limit int, want ...message.MessageCost) {
			p.Helper()
			got, err := p.db.Outbox.MessageCosts(bg, auditor, s, limit)
			ok(p, err)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				p.Errorf("costs of %+v (-want +got):\n%s", s, diff)
			}
		}
		check(message.MessageCostSearch{From: day, To: next.Add(5 * time.Hour)}, 10, all...)
		check(message.MessageCostSearch{From: day, To: next}, 2, all[:2]...)
		last := all[1]
		check(message.MessageCostSearch{From: day, To: next, After: message.MessageCostCursor{Day: last.Day, CoachID: last.CoachID, Channel: last.Channel}}, 10, all[2])
		check(message.MessageCostSearch{From: next, To: next}, 10, all[0])
		check(message.MessageCostSearch{From: time.Time{}, To: next}, 10, all...) // from=0001-01-01
		check(message.MessageCostSearch{From: day, To: time.Time{}}, 10)
		check(message.MessageCostSearch{From: day, To: next, CoachID: first.AccountID}, 10, cost(next, first.AccountID, 1), cost(day, first.AccountID, 2))
		check(message.MessageCostSearch{From: day, To: next, CoachID: first.AccountID, After: message.MessageCostCursor{Day: next, Channel: message.SMS}}, 10, cost(day, first.AccountID, 2))
		check(message.MessageCostSearch{From: day.AddDate(0, 0, -9), To: day.AddDate(0, 0, -1)}, 10)
	}, func(s *settings) {
		s.Outbox.SegmentPrice = func(message.Channel, phone.Number) int64 { return 10 }
	})
}
