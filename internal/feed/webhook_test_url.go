package feed

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/store"
)

// TestURL sends a test message to a URL before a webhook is saved for it, and returns what the endpoint answered. An
// empty secret is a new one, which the endpoint cannot verify. The audit log records the call.
func (h *Webhooks) TestURL(ctx context.Context, by actor.Operator, address, secret string) (WebhookAttempt, error) {
	var f []fault.Field
	if message := h.rules().checkURL(address); message != "" {
		f = append(f, fault.Field{Pointer: "/url", Code: "invalid_value", Detail: message})
	}
	if secret != "" && !webhook.ValidSecret(secret) {
		f = append(f, fault.Field{Pointer: "/secret", Code: "invalid_value", Detail: "This must be whsec_ and base64."})
	}
	if err := fault.Validation(f); err != nil {
		return WebhookAttempt{}, err
	}
	if secret == "" {
		var err error
		if secret, err = NewWebhookSecret(h.Rand); err != nil {
			return WebhookAttempt{}, err
		}
	}
	err := h.DB.Write(ctx, func(tx *store.Tx) error {
		return tx.Record(ctx, by, operator.WebhookTested, "webhook", "", "to "+hostOf(address))
	})
	if err != nil {
		return WebhookAttempt{}, err
	}
	a, err := h.Send(ctx, WebhookTarget{URL: address, Secrets: []string{secret}}, newTest(h.NewID(), h.Now()))
	if err == nil && a.Error == "" && !a.Accepted() {
		a.Error = statusError(a.Status)
	}
	return a, err
}
