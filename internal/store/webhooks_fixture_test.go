package store_test

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/feed"
)

func (p *fixture) webhooks() *feed.Webhooks {
	return &feed.Webhooks{
		DB: p.db, Reachable: func(netip.Addr) bool { return true }, OnQueued: func() {}, Now: p.clock.Now, NewID: p.db.NewID, Rand: rand.Reader,
	}
}

// addWebhook creates a webhook for these events, all without events.
func (p *fixture) addWebhook(events ...string) (id, secret string) {
	p.Helper()
	w, secret, err := p.webhooks().Create(bg, auditor, feed.WebhookPatch{URL: ptr("https://app.example/hooks/hunter2"), Events: &events})
	ok(p, err)
	return w.ID, secret
}

// claimed is a claimed message.
type claimed struct {
	feed.WebhookMessage
	target feed.WebhookTarget
}

// claim queues new messages of a webhook and claims up to n.
func (p *fixture) claim(id string, n int) []claimed {
	p.Helper()
	due, _, err := p.webhooks().Due(bg)
	ok(p, err)
	if !slices.Contains(due, id) {
		return nil
	}
	for {
		queued, err := p.webhooks().Queue(bg, id)
		ok(p, err)
		replayed, err := p.webhooks().QueueReplay(bg, id)
		ok(p, err)
		if queued+replayed == 0 {
			break
		}
	}
	target, messages, err := p.webhooks().Claim(bg, id, p.db.NewID(), p.clock.Now().Add(time.Minute), n)
	ok(p, err)
	var all []claimed
	for _, m := range messages {
		all = append(all, claimed{m, target})
	}
	slices.SortFunc(all, func(a, b claimed) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// respond saves the response to a claimed message.
func (p *fixture) respond(id string, m claimed, status int) feed.WebhookHealth {
	p.Helper()
	health, err := p.webhooks().SaveResult(bg, id, m.WebhookMessage, m.After(feed.WebhookAttempt{Status: status, Body: fmt.Sprint("answer ", status)}, p.clock.Now(), 0))
	ok(p, err)
	return health
}

// deliver claims messages and responds with a status, until there are none. It returns
// them as "player sequence type attempt".
func (p *fixture) deliver(id string, status int, names map[string]string) []string {
	p.Helper()
	var sent []string
	for {
		batch := p.claim(id, 8)
		if len(batch) == 0 {
			return sent
		}
		for _, m := range batch {
			sent = append(sent, fmt.Sprint(names[m.PlayerID], " ", m.Sequence, " ", m.Type, " ", m.Attempts))
			p.respond(id, m, status)
		}
	}
}
