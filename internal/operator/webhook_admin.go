package operator

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// WebhookStore saves webhooks; package store implements it. Each method writes the operator's
// audit log entry in its transaction. Without the webhook it returns not_found.
type WebhookStore interface {
	// AddWebhook saves a webhook with its secret. Its position is the end of the feed.
	AddWebhook(ctx context.Context, by actor.Operator, w Webhook, secret string) error
	// UpdateWebhook loads a webhook, lets fn change it, and saves it. fn may run more than
	// once. A webhook that fn enables after ChangesKept starts at the end of the feed.
	UpdateWebhook(ctx context.Context, by actor.Operator, id string, fn func(*Webhook) error) (*Webhook, error)
	// RotateWebhookSecret replaces the secret. Until oldEndsAt messages are also signed with
	// the one before; the zero time ends it at once.
	RotateWebhookSecret(ctx context.Context, by actor.Operator, id, secret string, oldEndsAt time.Time) (*Webhook, error)
	// DeleteWebhook deletes a webhook and its messages.
	DeleteWebhook(ctx context.Context, by actor.Operator, id string) error
	// Webhook returns a webhook.
	Webhook(ctx context.Context, by actor.Operator, id string) (*Webhook, error)
	// WebhookWithSecret returns a webhook and its newest secret.
	WebhookWithSecret(ctx context.Context, by actor.Operator, id string) (*Webhook, string, error)
	// Webhooks lists webhooks, newest first, starting after the one with the ID after.
	Webhooks(ctx context.Context, by actor.Operator, after string, limit int) ([]Webhook, error)
	// WebhookLog lists the messages of a webhook, the newest event first.
	WebhookLog(ctx context.Context, by actor.Operator, id string, s WebhookLogSearch, limit int) ([]WebhookMessage, error)
	// AddTestMessage loads a webhook, lets check refuse, and queues a test message. check may
	// run more than once.
	AddTestMessage(ctx context.Context, by actor.Operator, id string, m WebhookMessage, check func(Webhook) error) error
	// ReplayWebhook queues the messages of the changes that entered the feed from from until
	// before to, under the same ids, and returns how many.
	ReplayWebhook(ctx context.Context, by actor.Operator, id string, from, to time.Time) (int64, error)
}

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

// WebhookAdmin lets operators manage webhooks.
type WebhookAdmin struct {
	Store WebhookStore
	// Reachable reports whether messages may be sent to an address.
	Reachable func(netip.Addr) bool
	// PlainHTTP reports whether a URL with this host may be http.
	PlainHTTP func(host string) bool
	Now       func() time.Time
	NewID     func() string
	Rand      io.Reader
}

// Create adds a webhook and returns its secret, which cannot be read again.
func (a *WebhookAdmin) Create(ctx context.Context, by actor.Operator, p WebhookPatch) (*Webhook, string, error) {
	now := a.Now()
	w := Webhook{ID: a.NewID(), CreatedAt: now}
	if p.URL == nil {
		p.URL = new(string) // refused like any other text that is no URL
	}
	if err := p.apply(&w, a.rules(), now); err != nil {
		return nil, "", err
	}
	secret, err := a.newSecret()
	if err != nil {
		return nil, "", err
	}
	return &w, secret, a.Store.AddWebhook(ctx, by, w, secret)
}

// FindWithSecret returns a webhook and its secret, for a repeat of Create.
func (a *WebhookAdmin) FindWithSecret(ctx context.Context, by actor.Operator, id string) (*Webhook, string, error) {
	return a.Store.WebhookWithSecret(ctx, by, id)
}

// Update changes a webhook. It continues with the messages that were not sent yet.
func (a *WebhookAdmin) Update(ctx context.Context, by actor.Operator, id string, p WebhookPatch) (*Webhook, error) {
	return a.Store.UpdateWebhook(ctx, by, id, func(w *Webhook) error { return p.apply(w, a.rules(), a.Now()) })
}

// Rotate replaces the secret and returns the new one. For the time of overlap messages are
// signed with both. A second rotation in this time ends the oldest secret.
func (a *WebhookAdmin) Rotate(ctx context.Context, by actor.Operator, id string, overlap time.Duration) (*Webhook, string, error) {
	if overlap < 0 || overlap > MaxSecretOverlap {
		return nil, "", fault.Validation([]fault.Field{{
			Pointer: "/overlap_in", Code: "invalid_value",
			Detail: fmt.Sprintf("The overlap is at most %d seconds.", int(MaxSecretOverlap.Seconds())),
		}})
	}
	secret, err := a.newSecret()
	if err != nil {
		return nil, "", err
	}
	var oldEndsAt time.Time
	if overlap > 0 {
		oldEndsAt = a.Now().Add(overlap)
	}
	w, err := a.Store.RotateWebhookSecret(ctx, by, id, secret, oldEndsAt)
	return w, secret, err
}

// Delete deletes a webhook, its secrets and its log.
func (a *WebhookAdmin) Delete(ctx context.Context, by actor.Operator, id string) error {
	return a.Store.DeleteWebhook(ctx, by, id)
}

// Find returns a webhook.
func (a *WebhookAdmin) Find(ctx context.Context, by actor.Operator, id string) (*Webhook, error) {
	return a.Store.Webhook(ctx, by, id)
}

// List lists webhooks, newest first.
func (a *WebhookAdmin) List(ctx context.Context, by actor.Operator, after string, limit int) ([]Webhook, error) {
	return a.Store.Webhooks(ctx, by, after, limit)
}

// Log lists the messages of a webhook, the newest event first.
func (a *WebhookAdmin) Log(ctx context.Context, by actor.Operator, id string, s WebhookLogSearch, limit int) ([]WebhookMessage, error) {
	return a.Store.WebhookLog(ctx, by, id, s, limit)
}

// Test queues a message that only tests the endpoint, with one attempt. The log shows whether
// it was accepted.
func (a *WebhookAdmin) Test(ctx context.Context, by actor.Operator, id string) (*WebhookMessage, error) {
	now := a.Now()
	m := WebhookMessage{
		ID: "msg_test_" + a.NewID(), Test: true, Change: Change{At: now},
		State: MessageQueued, DueAt: now, CreatedAt: now, UpdatedAt: now,
	}
	return &m, a.Store.AddTestMessage(ctx, by, id, m, checkEnabled)
}

func checkEnabled(w Webhook) error {
	if !w.Enabled() {
		return fault.New(fault.Conflict, "invalid_transition", "This webhook is disabled. Enable it first.").With("state", "disabled")
	}
	return nil
}

// Replay queues the messages of a range of time again, under the same ids, whether they were
// delivered or not. A zero to is now.
func (a *WebhookAdmin) Replay(ctx context.Context, by actor.Operator, id string, from, to time.Time) (int64, error) {
	now := a.Now()
	if to.IsZero() {
		to = now
	}
	var f []fault.Field
	if from.Before(now.Add(-ChangesKept)) {
		f = append(f, fault.Field{Pointer: "/from", Code: "invalid_value", Detail: "Changes are kept for 90 days."})
	}
	if !to.After(from) {
		f = append(f, fault.Field{Pointer: "/to", Code: "invalid_value", Detail: "This must be after from."})
	}
	if err := fault.Validation(f); err != nil {
		return 0, err
	}
	return a.Store.ReplayWebhook(ctx, by, id, from, to)
}

func (a *WebhookAdmin) rules() webhookRules {
	return webhookRules{reachable: a.Reachable, plainHTTP: a.PlainHTTP}
}

// newSecret returns a secret in the form of the Standard Webhooks specification.
func (a *WebhookAdmin) newSecret() (string, error) {
	raw := make([]byte, secretBytes)
	if _, err := io.ReadFull(a.Rand, raw); err != nil {
		return "", fmt.Errorf("generate webhook secret: %w", err)
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(raw), nil
}
