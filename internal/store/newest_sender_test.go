package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/notify"
)

// The newest sender to a number is the coach whose SMS left last.
func TestNewestSender(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		want := func(n int, coachID string) {
			p.Helper()
			got, err := p.db.NewestSender(bg, number(n), notify.SMS)
			if err != nil || got != coachID {
				p.Errorf("newest sender to number %d: %q, %v; want %q", n, got, err, coachID)
			}
		}
		first, second := p.coach(1), p.coach(4)
		p.add(first, "Asha Rao", number(2), "")
		want(2, "") // nothing was sent
		sent := p.claimOneRequest()
		ok(p, p.db.DeliverySent(bg, []notify.Delivery{sent}))
		want(2, first.AccountID)
		p.clock.advance(time.Minute)
		p.add(second, "Asha Rao", number(2), "")
		failed := p.claimOneRequest()
		want(2, first.AccountID)
		ok(p, p.db.DeliverySent(bg, []notify.Delivery{failed}))
		want(2, second.AccountID)
		ok(p, run(p.db, `INSERT INTO deliveries (id, kind, channel, state, recipient, role, coach_id, attempts, due_at, gives_up_at, created_at, updated_at)
			VALUES ('team', 'team', 'sms', 'sent', $1, 'guardian', $2, 1, 0, 0, $3, 0)`, string(number(2)), first.AccountID, p.clock.Now().Add(time.Hour).UnixMicro()))
		want(2, first.AccountID)
		want(3, "")
		if got, err := p.db.NewestSender(bg, number(2), notify.WhatsApp); err != nil || got != "" {
			p.Errorf("newest sender by WhatsApp: %q, %v; want none", got, err)
		}
	})
}
