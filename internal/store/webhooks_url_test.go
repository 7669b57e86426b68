package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/feed"
)

// TestWebhookURLChanged: a result of the old endpoint says nothing about the new one. An attempt
// that runs while the URL changes neither disables the webhook nor delays its message.
func TestWebhookURLChanged(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		id, _ := p.addWebhook()
		p.add(p.coach(1), "Asha Rao", number(2), "")
		running := p.claim(id, 8)
		if len(running) != 1 {
			p.Fatalf("claimed %+v, want one message", running)
		}
		update := func(url string) {
			p.Helper()
			w, err := p.webhooks().Update(bg, auditor, id, feed.WebhookPatch{URL: ptr(url)})
			ok(p, err)
			if !w.FailingSince.IsZero() {
				p.Errorf("the endpoint %s fails since %s before the first attempt", url, w.FailingSince)
			}
		}
		update("https://app.example/new")
		if health := p.respond(id, running[0], 410); health.Disabled != "" {
			p.Errorf("the old endpoint is gone: the webhook is disabled, reason %q", health.Disabled)
		}
		again := p.claim(id, 8)
		if len(again) != 1 || again[0].target.URL != "https://app.example/new" || again[0].Attempts != 1 {
			p.Fatalf("claimed %+v, want the first attempt at the new endpoint", again)
		}
		p.respond(id, again[0], 500)
		update("https://app.example/newer")
		if retried := p.claim(id, 8); len(retried) != 1 {
			p.Errorf("claimed %+v, want the failed message at once", retried)
		}
	})
}

// TestWebhookURLChangesDuringClaim: of a claim and a concurrent change of the URL, either the claim
// has the new URL, or its messages are claimed again for it.
func TestWebhookURLChangesDuringClaim(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		admin := p.webhooks()
		id, _ := p.addWebhook()
		for i := range 50 {
			url := fmt.Sprint("https://app.example/", i)
			_, err := admin.Test(bg, auditor, id)
			ok(p, err)
			lease := p.db.NewID()
			var target feed.WebhookTarget
			var messages []feed.WebhookMessage
			for _, err := range concurrently(2, func(first int) (err error) {
				if first == 0 {
					_, err = admin.Update(bg, auditor, id, feed.WebhookPatch{URL: ptr(url)})
				} else {
					target, messages, err = p.webhooks().Claim(bg, id, lease, p.clock.Now().Add(time.Minute), 8)
				}
				return err
			}) {
				ok(p, err)
			}
			if target.URL != url && p.count(`SELECT count(*) FROM webhook_messages WHERE webhook_id = $1 AND lease = $2`, id, lease) != 0 {
				p.Fatalf("round %d: %d messages are claimed for the old URL %s", i, len(messages), target.URL)
			}
			p.deliver(id, 200, nil)
			for _, m := range messages {
				p.respond(id, claimed{m, target}, 200)
			}
		}
	})
}
