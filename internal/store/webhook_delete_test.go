package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// TestWebhookDeletedMeanwhile: a test message or a replay of a webhook that is deleted at the same
// time is done before, or is not_found.
func TestWebhookDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		admin, begun := p.webhooks(), p.clock.Now()
		p.add(p.coach(1), "Asha Rao", number(2), number(3))
		_, _, err := p.webhooks().Due(bg)
		ok(p, err)
		p.clock.advance(time.Hour)
		for round := range 30 {
			id, _ := p.addWebhook()
			for _, err := range concurrently(3, func(caller int) (err error) {
				switch caller {
				case 0:
					return admin.Delete(bg, auditor, id)
				case 1:
					_, err = admin.Test(bg, auditor, id)
				default:
					_, err = admin.Replay(bg, auditor, id, begun, p.clock.Now())
				}
				return err
			}) {
				if err != nil && fault.KindOf(err) != fault.NotFound {
					p.Fatalf("round %d: %v", round, err)
				}
			}
		}
	})
}
