package feed

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// WebhookLogSearch selects messages of a webhook.
type WebhookLogSearch struct {
	// FailedOnly leaves out messages that are queued or delivered.
	FailedOnly bool
	After      WebhookLogCursor
}

// WebhookLogCursor is a position in the log of a webhook.
type WebhookLogCursor struct {
	At time.Time
	ID string
}

// Webhooks manages webhooks and queues their messages. Each call of an operator is in the audit log.
// Without the webhook a call returns not_found.
type Webhooks struct {
	DB *store.DB
	// Reachable reports whether messages may be sent to an address.
	Reachable func(netip.Addr) bool
	// PlainHTTP reports whether a URL with this host may be http.
	PlainHTTP func(host string) bool
	// Send makes one attempt. It returns an error only if nothing can be sent.
	Send func(ctx context.Context, target WebhookTarget, m WebhookMessage) (WebhookAttempt, error)
	// OnQueued wakes the sender of this replica after a test or a replay.
	OnQueued func()
	Now      func() time.Time
	NewID    func() string
	Rand     io.Reader
}

// Create adds a webhook and returns its secret, which cannot be read again. Its position is the end of
// the feed.
func (h *Webhooks) Create(ctx context.Context, by actor.Operator, p WebhookPatch) (*Webhook, string, error) {
	w, secret, err := h.newWebhook(p)
	if err != nil {
		return nil, "", err
	}
	return &w, secret, h.add(ctx, by, w, secret)
}

func (h *Webhooks) newWebhook(p WebhookPatch) (w Webhook, secret string, err error) {
	w = Webhook{ID: h.NewID(), CreatedAt: h.Now()}
	if p.URL == nil {
		p.URL = new(string) // refused like any other text that is no URL
	}
	if err := p.apply(&w, h.rules(), w.CreatedAt); err != nil {
		return w, "", err
	}
	secret, err = NewWebhookSecret(h.Rand)
	return w, secret, err
}

// Update changes a webhook. It continues with the messages that were not sent yet.
func (h *Webhooks) Update(ctx context.Context, by actor.Operator, id string, p WebhookPatch) (*Webhook, error) {
	return h.update(ctx, by, id, func(w *Webhook) error { return p.apply(w, h.rules(), h.Now()) })
}

// Rotate replaces the secret and returns the new one. For the time of overlap messages are
// signed with both. A second rotation in this time ends the oldest secret.
func (h *Webhooks) Rotate(ctx context.Context, by actor.Operator, id string, overlap time.Duration) (*Webhook, string, error) {
	if overlap < 0 || overlap > MaxSecretOverlap {
		return nil, "", fault.Validation([]fault.Field{{
			Pointer: "/overlap_in", Code: "invalid_value",
			Detail: fmt.Sprintf("The overlap is at most %d seconds.", int(MaxSecretOverlap.Seconds())),
		}})
	}
	secret, err := NewWebhookSecret(h.Rand)
	if err != nil {
		return nil, "", err
	}
	var oldEndsAt time.Time
	if overlap > 0 {
		oldEndsAt = h.Now().Add(overlap)
	}
	w, err := h.saveSecret(ctx, by, id, secret, oldEndsAt)
	return w, secret, err
}

// Test queues a message that only tests the endpoint, with one attempt. The log shows whether
// it was accepted.
func (h *Webhooks) Test(ctx context.Context, by actor.Operator, id string) (*WebhookMessage, error) {
	m := newTest(h.NewID(), h.Now())
	return &m, h.addTest(ctx, by, id, m)
}

func (h *Webhooks) rules() webhookRules {
	return webhookRules{reachable: h.Reachable, plainHTTP: h.PlainHTTP}
}

// NewWebhookSecret returns a secret in the form of the Standard Webhooks specification.
func NewWebhookSecret(random io.Reader) (string, error) {
	raw := make([]byte, 32)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("generate webhook secret: %w", err)
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(raw), nil
}
