package feed

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/keyed"
	"github.com/touchline/touchline/internal/platform/wire"
)

// webhookResponse is the Webhook of openapi.yaml.
type webhookResponse struct {
	WebhookID       string   `json:"webhook_id"`
	URL             string   `json:"url"`
	Description     *string  `json:"description"`
	Events          []string `json:"events"`
	Enabled         bool     `json:"enabled"`
	DisabledReason  *string  `json:"disabled_reason"`
	DisabledAt      *string  `json:"disabled_at"`
	AcceptedAt      *string  `json:"accepted_at"`
	FailingSince    *string  `json:"failing_since"`
	OldSecretEndsAt *string  `json:"old_secret_ends_at"`
	Replaying       bool     `json:"replaying"`
	CreatedAt       string   `json:"created_at"`
	UpdatedAt       string   `json:"updated_at"`
}

// webhookSecretResponse is a webhook with its new secret, which is shown once.
type webhookSecretResponse struct {
	webhookResponse
	Secret string `json:"secret"`
}

func newWebhookResponse(w Webhook) webhookResponse {
	return webhookResponse{
		WebhookID: w.ID, URL: w.URL, Description: wire.OrNull(w.Description), Events: EventTypes(w.Sent()),
		Enabled: w.Enabled(), DisabledReason: wire.OrNull(w.DisabledReason), DisabledAt: wire.TimestampOrNull(w.DisabledAt),
		AcceptedAt: wire.TimestampOrNull(w.AcceptedAt), FailingSince: wire.TimestampOrNull(w.FailingSince),
		OldSecretEndsAt: wire.TimestampOrNull(w.OldSecretEndsAt), Replaying: w.Replaying, CreatedAt: wire.Timestamp(w.CreatedAt), UpdatedAt: wire.Timestamp(w.UpdatedAt),
	}
}

// listWebhooks serves GET /api/admin/webhooks, newest first.
func (h handlers) listWebhooks(ctx context.Context, r admin.Request[admin.NoBody]) (admin.Response, error) {
	f := r.Faults
	page := h.api.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	found, err := h.Webhooks.List(ctx, r.Caller.Operator(), page.After.ID, page.ReadLimit())
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.PageResponse(page, found, newWebhookResponse, func(w Webhook) admin.Keyset { return admin.Keyset{ID: w.ID} }), nil
}

type createWebhookRequest struct {
	URL         string    `json:"url" rule:"required,secret,min=1,max=2000"`
	Description *string   `json:"description" rule:"max=200"`
	Events      *[]string `json:"events" rule:"max=20,each=100"`
	Enabled     *bool     `json:"enabled"`
}

// createWebhook serves POST /api/admin/webhooks. A repeat with the same Idempotency-Key returns the
// first response again, to the same token alone. Its secret is the first one, also after a rotation:
// only the response to the rotation has the newer one.
func (h handlers) createWebhook(ctx context.Context, r admin.Request[createWebhookRequest]) (admin.Response, error) {
	in, by := r.Body, r.Caller.Operator()
	created := func(w *Webhook, secret string, err error) (admin.Response, error) {
		if err != nil {
			return admin.Response{}, err
		}
		return endpoint.Created("/api/admin/webhooks/"+w.ID, webhookSecretResponse{newWebhookResponse(*w), secret}).WithSubject(w.ID), nil
	}
	return keyed.Handle(ctx, keyed.Service{Keys: h.api.Idempotency, Log: h.api.Log}, r.Meta, keyed.Request{
		Owner: "operator/" + r.Caller.ID, Keep: keyed.Keep, Body: r.Raw,
		MayRepeat: func(ctx context.Context, id string) error {
			_, err := h.Webhooks.Find(ctx, by, id)
			return err
		},
		Handle: func(ctx context.Context, f wire.Faults) (admin.Response, error) {
			if err := append(r.Faults, f...).Err(); err != nil {
				return admin.Response{}, err
			}
			return created(h.Webhooks.Create(ctx, by, WebhookPatch{
				URL: &in.URL, Description: in.Description, Events: in.Events, Enabled: in.Enabled,
			}))
		},
		Rebuild: func(ctx context.Context, w idempotency.Work) (admin.Response, error) {
			return created(h.Webhooks.FindWithSecret(ctx, by, w.ID))
		},
	})
}

// webhook serves GET /api/admin/webhooks/{webhook_id}.
func (h handlers) webhook(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	w, err := h.Webhooks.Find(ctx, r.Caller.Operator(), id)
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.OK(newWebhookResponse(*w)), nil
}

// webhookPatch is the WebhookPatch of openapi.yaml.
type webhookPatch struct {
	URL         *string            `json:"url" rule:"notnull,secret,min=1,max=2000"`
	Description wire.Opt[string]   `json:"description" rule:"max=200"`
	Events      wire.Opt[[]string] `json:"events" rule:"max=20,each=100"`
	Enabled     *bool              `json:"enabled" rule:"notnull"`
}

// updateWebhook serves PATCH /api/admin/webhooks/{webhook_id}.
func (h handlers) updateWebhook(ctx context.Context, r admin.Request[webhookPatch], id string) (admin.Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return admin.Response{}, h.missingOr(ctx, r.Caller, id, err)
	}
	w, err := h.Webhooks.Update(ctx, r.Caller.Operator(), id, WebhookPatch{
		URL: in.URL, Description: patched(in.Description), Events: patched(in.Events), Enabled: in.Enabled,
	})
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.OK(newWebhookResponse(*w)), nil
}

// missingOr returns not_found if there is no such webhook, else err: not_found comes before
// validation_failed.
func (h handlers) missingOr(ctx context.Context, caller admin.Caller, id string, err error) error {
	if _, missing := h.Webhooks.Find(ctx, caller.Operator(), id); missing != nil {
		return missing
	}
	return err
}

// patched returns the new value of a merge patch: nil keeps the old one and a pointer to the
// zero value clears it.
func patched[T any](o wire.Opt[T]) *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

// deleteWebhook serves DELETE /api/admin/webhooks/{webhook_id}.
func (h handlers) deleteWebhook(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	if err := h.Webhooks.Delete(ctx, r.Caller.Operator(), id); err != nil {
		return admin.Response{}, err
	}
	return endpoint.NoContent(), nil
}

type rotateSecretRequest struct {
	// OverlapIn is the time in seconds for which both secrets are valid.
	OverlapIn *int `json:"overlap_in" rule:"min=0,max=604800"`
}

// rotateWebhookSecret serves POST /api/admin/webhooks/{webhook_id}/rotate-secret.
func (h handlers) rotateWebhookSecret(ctx context.Context, r admin.Request[rotateSecretRequest], id string) (admin.Response, error) {
	if err := r.Faults.Err(); err != nil {
		return admin.Response{}, h.missingOr(ctx, r.Caller, id, err)
	}
	overlap := DefaultSecretOverlap
	if seconds := r.Body.OverlapIn; seconds != nil {
		overlap = time.Duration(*seconds) * time.Second
	}
	w, secret, err := h.Webhooks.Rotate(ctx, r.Caller.Operator(), id, overlap)
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.OK(webhookSecretResponse{newWebhookResponse(*w), secret}), nil
}
