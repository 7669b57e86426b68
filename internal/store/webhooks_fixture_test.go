package store_test

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
)

func (p *fixture) webhooks() *operator.WebhookAdmin {
	return &operator.WebhookAdmin{
		Store: p.db, Reachable: func(netip.Addr) bool { return true }, Now: p.clock.Now, NewID: p.db.NewID, Rand: rand.Reader,
	}
}

// addWebhook creates a webhook for these events, all without events.
func (p *fixture) addWebhook(events ...string) (id, secret string) {
	p.Helper()
	w, secret, err := p.webhooks().Create(bg, auditor, operator.WebhookPatch{URL: ptr("https://app.example/hooks/hunter2"), Events: &events})
	ok(p, err)
	return w.ID, secret
}

// claimed is a claimed message.
type claimed struct {
	operator.WebhookMessage
	target operator.WebhookTarget
}

// claim queues new messages of a webhook and claims up to n.
func (p *fixture) claim(id string, n int) []claimed {
	p.Helper()
	due, _, err := p.db.DueWebhooks(bg)
	ok(p, err)
	if !slices.Contains(due, id) {
		return nil
	}
	for {
		queued, err := p.db.QueueWebhookMessages(bg, id)
		ok(p, err)
		if queued == 0 {
			break
		}
	}
	target, messages, err := p.db.ClaimWebhookMessages(bg, id, p.db.NewID(), p.clock.Now().Add(time.Minute), n)
	ok(p, err)
	var all []claimed
	for _, m := range messages {
		all = append(all, claimed{m, target})
	}
	slices.SortFunc(all, func(a, b claimed) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// respond saves the response to a claimed message.
func (p *fixture) respond(id string, m claimed, status int) operator.WebhookHealth {
	p.Helper()
	health, err := p.db.SaveWebhookResult(bg, id, m.WebhookMessage, m.After(operator.WebhookAttempt{Status: status}, p.clock.Now(), 0))
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
