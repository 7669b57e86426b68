package admin

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/operator"
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
	CreatedAt       string   `json:"created_at"`
	UpdatedAt       string   `json:"updated_at"`
}

// webhookSecretResponse is a webhook with its new secret, which is shown once.
type webhookSecretResponse struct {
	webhookResponse
	Secret string `json:"secret"`
}

func newWebhookResponse(w operator.Webhook) webhookResponse {
	return webhookResponse{
		WebhookID: w.ID, URL: w.URL, Description: wire.OrNull(w.Description), Events: operator.EventTypes(w.Sent()),
		Enabled: w.Enabled(), DisabledReason: wire.OrNull(w.DisabledReason), DisabledAt: wire.TimestampOrNull(w.DisabledAt),
		AcceptedAt: wire.TimestampOrNull(w.AcceptedAt), FailingSince: wire.TimestampOrNull(w.FailingSince),
		OldSecretEndsAt: wire.TimestampOrNull(w.OldSecretEndsAt), CreatedAt: wire.Timestamp(w.CreatedAt), UpdatedAt: wire.Timestamp(w.UpdatedAt),
	}
}

// listWebhooks serves GET /api/admin/webhooks, newest first.
func (s *Server) listWebhooks(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	page := s.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	found, err := s.Webhooks.List(ctx, r.Caller.Operator(), page.After.ID, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, found, newWebhookResponse, func(w operator.Webhook) Keyset { return Keyset{ID: w.ID} }), nil
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
func (s *Server) createWebhook(ctx context.Context, r Request[createWebhookRequest]) (Response, error) {
	in, by := r.Body, r.Caller.Operator()
	created := func(w *operator.Webhook, secret string, err error) (Response, error) {
		if err != nil {
			return Response{}, err
		}
		return endpoint.Created("/api/admin/webhooks/"+w.ID, webhookSecretResponse{newWebhookResponse(*w), secret}).WithSubject(w.ID), nil
	}
	return keyed.Handle(ctx, keyed.Service{Keys: s.Idempotency, Log: s.Log}, r.Meta, keyed.Request{
		Owner: "operator/" + r.Caller.ID, Keep: keyed.Keep, Body: r.Raw,
		MayRepeat: func(ctx context.Context, id string) error {
			_, err := s.Webhooks.Find(ctx, by, id)
			return err
		},
		Handle: func(ctx context.Context, f wire.Faults) (Response, error) {
			if err := append(r.Faults, f...).Err(); err != nil {
				return Response{}, err
			}
			return created(s.Webhooks.Create(ctx, by, operator.WebhookPatch{
				URL: &in.URL, Description: in.Description, Events: in.Events, Enabled: in.Enabled,
			}))
		},
		Rebuild: func(ctx context.Context, w idempotency.Work) (Response, error) {
			return created(s.Webhooks.FindWithSecret(ctx, by, w.ID))
		},
	})
}

// webhook serves GET /api/admin/webhooks/{webhook_id}.
func (s *Server) webhook(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	w, err := s.Webhooks.Find(ctx, r.Caller.Operator(), id)
	if err != nil {
		return Response{}, err
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
func (s *Server) updateWebhook(ctx context.Context, r Request[webhookPatch], id string) (Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return Response{}, s.missingOr(ctx, r.Caller, id, err)
	}
	w, err := s.Webhooks.Update(ctx, r.Caller.Operator(), id, operator.WebhookPatch{
		URL: in.URL, Description: patched(in.Description), Events: patched(in.Events), Enabled: in.Enabled,
	})
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newWebhookResponse(*w)), nil
}

// missingOr returns not_found if there is no such webhook, else err: not_found comes before
// validation_failed.
func (s *Server) missingOr(ctx context.Context, caller Caller, id string, err error) error {
	if _, missing := s.Webhooks.Find(ctx, caller.Operator(), id); missing != nil {
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
func (s *Server) deleteWebhook(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	if err := s.Webhooks.Delete(ctx, r.Caller.Operator(), id); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}

type rotateSecretRequest struct {
	// OverlapIn is the time in seconds for which both secrets are valid.
	OverlapIn *int `json:"overlap_in" rule:"min=0,max=604800"`
}

// rotateWebhookSecret serves POST /api/admin/webhooks/{webhook_id}/rotate-secret.
func (s *Server) rotateWebhookSecret(ctx context.Context, r Request[rotateSecretRequest], id string) (Response, error) {
	if err := r.Faults.Err(); err != nil {
		return Response{}, s.missingOr(ctx, r.Caller, id, err)
	}
	overlap := operator.DefaultSecretOverlap
	if seconds := r.Body.OverlapIn; seconds != nil {
		overlap = time.Duration(*seconds) * time.Second
	}
	w, secret, err := s.Webhooks.Rotate(ctx, r.Caller.Operator(), id, overlap)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(webhookSecretResponse{newWebhookResponse(*w), secret}), nil
}
