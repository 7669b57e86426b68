package store_test

import (
	"testing"

	"github.com/touchline/touchline/internal/operator"
)

// TestWebhookURLChanged: a result of the old endpoint says nothing about the new one. An attempt
// that runs while the URL changes neither disables the webhook nor delays its message.
func TestWebhookURLChanged(t *testing.T) {
	eachEngine(t, func(p *fixture) {
		id, _ := p.addWebhook()
		p.add(p.coach(1), "Asha Rao", number(2), "")
		running := p.claim(id, 8)
		if len(running) != 1 {
			p.Fatalf("claimed %+v, want one message", running)
		}
		update := func(url string) {
			p.Helper()
			w, err := p.webhooks().Update(bg, auditor, id, operator.WebhookPatch{URL: ptr(url)})
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
