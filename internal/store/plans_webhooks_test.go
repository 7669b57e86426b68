package store_test

import (
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/actor"
)

// webhookStatements creates webhooks, sends and replays messages, and reads the log.
func (p *fixture) webhookStatements() {
	p.Helper()
	admin, c := p.webhooks(), p.coach(9600)
	id, _ := p.addWebhook()
	a := p.add(c, "Webhook Rao", number(9601), number(9602))
	for _, m := range p.claim(id, 2) {
		p.respond(id, m, 200)
	}
	for _, m := range p.claim(id, 2) {
		p.respond(id, m, 500)
	}
	ok(p, p.decide(p.as(actor.Guardian, number(9601)), a.ID, approval.Approve))
	p.clock.advance(time.Hour)
	for _, m := range p.claim(id, 1) {
		p.respond(id, m, 410)
	}
	p.clock.advance(feed.ChangesKept + day)
	_, err := admin.Update(bg, auditor, id, feed.WebhookPatch{Enabled: ptr(true)})
	ok(p, err)
	_, err = admin.Update(bg, auditor, id, feed.WebhookPatch{URL: ptr("https://app.example/new")})
	ok(p, err)
	_, _, err = admin.Rotate(bg, auditor, id, time.Hour)
	ok(p, err)
	_, _, err = p.webhooks().FindWithSecret(bg, auditor, id)
	ok(p, err)
	_, err = admin.Test(bg, auditor, id)
	ok(p, err)
	ok(p, p.decide(p.as(actor.Guardian, number(9601)), a.ID, approval.Revoke))
	_, _, err = p.webhooks().Due(bg)
	ok(p, err)
	_, err = admin.Replay(bg, auditor, id, p.clock.Now().Add(-time.Hour), p.clock.Now().Add(time.Hour))
	ok(p, err)
	_, err = admin.QueueReplay(bg, id)
	ok(p, err)
	_, err = admin.List(bg, auditor, "", 5)
	ok(p, err)
	_, err = feed.ReadWebhooks(bg, p.db, 5)
	ok(p, err)
	_, err = document.ReadStored(bg, p.db)
	ok(p, err)
	for _, failed := range []bool{false, true} {
		_, err = admin.Log(bg, auditor, id, feed.WebhookLogSearch{FailedOnly: failed}, 5)
		ok(p, err)
	}
	ok(p, admin.Delete(bg, auditor, id))
}
