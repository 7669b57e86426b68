package feed

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// webhookMessageResponse is the WebhookMessage of openapi.yaml.
type webhookMessageResponse struct {
	MessageID     string  `json:"message_id"`
	EventType     string  `json:"event_type"`
	PlayerID      *string `json:"player_id"`
	Sequence      *int64  `json:"sequence"`
	At            string  `json:"at"`
	State         string  `json:"state"`
	Attempts      int     `json:"attempts"`
	NextAttemptAt *string `json:"next_attempt_at"`
	Status        *int    `json:"status"`
	Error         *string `json:"error"`
	CreatedAt     string  `json:"created_at"`
	UpdatedAt     string  `json:"updated_at"`
	// AttemptLog has the newest attempt first.
	AttemptLog []attemptResponse `json:"attempt_log"`
}

// attemptResponse is the WebhookAttempt of openapi.yaml.
type attemptResponse struct {
	At           string  `json:"at"`
	Status       *int    `json:"status"`
	Error        *string `json:"error"`
	Response     string  `json:"response"`
	Milliseconds int64   `json:"milliseconds"`
}

func newAttemptResponse(a LoggedAttempt) attemptResponse {
	resp := attemptResponse{At: wire.Timestamp(a.At), Error: wire.OrNull(a.Error), Response: a.Response, Milliseconds: a.Milliseconds}
	if a.Status != 0 {
		resp.Status = &a.Status
	}
	return resp
}

func newWebhookMessageResponse(m WebhookMessage) webhookMessageResponse {
	resp := webhookMessageResponse{
		AttemptLog: []attemptResponse{},
		MessageID:  m.ID, EventType: m.EventType(), PlayerID: wire.OrNull(m.PlayerID), At: wire.Timestamp(m.At), State: m.State, Attempts: m.Attempts,
		Error: wire.OrNull(m.Error), CreatedAt: wire.Timestamp(m.CreatedAt), UpdatedAt: wire.Timestamp(m.UpdatedAt),
	}
	for _, a := range slices.Backward(m.Log) {
		resp.AttemptLog = append(resp.AttemptLog, newAttemptResponse(a))
	}
	if !m.Test {
		resp.Sequence = &m.Sequence
	}
	if m.State == MessageQueued {
		resp.NextAttemptAt = wire.TimestampOrNull(m.DueAt)
	}
	if m.Status != 0 {
		resp.Status = &m.Status
	}
	return resp
}

// listWebhookMessages serves GET /api/admin/webhooks/{webhook_id}/messages, the newest event
// first.
func (h handlers) listWebhookMessages(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	f := r.Faults
	if r.Query.Has("state") && r.Query.Get("state") != MessageFailed {
		f.Add("/state", "invalid_value", "This must be failed.")
	}
	page := endpoint.QueryPage[admin.Keyset](r.Meta, h.api.Vault.For(vault.ForCursors), r.Caller.ID+"\x00"+id, &f)
	search := WebhookLogSearch{FailedOnly: r.Query.Has("state"), After: WebhookLogCursor{At: page.After.Time(), ID: page.After.ID}}
	if err := f.Err(); err != nil {
		return admin.Response{}, h.missingOr(ctx, r.Caller, id, err)
	}
	found, err := h.Webhooks.Log(ctx, r.Caller.Operator(), id, search, page.ReadLimit())
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.PageResponse(page, found, newWebhookMessageResponse, func(m WebhookMessage) admin.Keyset {
		return admin.KeysetAt(m.At, m.ID)
	}), nil
}

// testWebhook serves POST /api/admin/webhooks/{webhook_id}/test.
func (h handlers) testWebhook(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	m, err := h.Webhooks.Test(ctx, r.Caller.Operator(), id)
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.Accepted(newWebhookMessageResponse(*m)), nil
}

type webhookTestRequest struct {
	URL    string  `json:"url" rule:"required,secret,min=1,max=2000"`
	Secret *string `json:"secret" rule:"secret,min=1,max=200"`
}

// webhookTestResponse is the WebhookTest of openapi.yaml.
type webhookTestResponse struct {
	Accepted bool `json:"accepted"`
	attemptResponse
}

// testURL serves POST /api/admin/webhook-tests.
func (h handlers) testURL(ctx context.Context, r admin.Request[webhookTestRequest]) (admin.Response, error) {
	in := r.Body
	if err := r.Faults.Err(); err != nil {
		return admin.Response{}, err
	}
	secret := ""
	if in.Secret != nil {
		secret = *in.Secret
	}
	a, err := h.Webhooks.TestURL(ctx, r.Caller.Operator(), in.URL, secret)
	if err != nil {
		return admin.Response{}, err
	}
	logged := LoggedAttempt{At: h.Now(), Status: a.Status, Error: a.Error, Response: a.Body, Milliseconds: a.Took.Milliseconds()}
	return endpoint.OK(webhookTestResponse{a.Accepted(), newAttemptResponse(logged)}), nil
}

type replayRequest struct {
	From string  `json:"from" rule:"required,min=1,max=40"`
	To   *string `json:"to" rule:"min=1,max=40"`
}

type replayResponse struct {
	Changes int64 `json:"changes"`
}

// replayWebhook serves POST /api/admin/webhooks/{webhook_id}/replay.
func (h handlers) replayWebhook(ctx context.Context, r admin.Request[replayRequest], id string) (admin.Response, error) {
	in, f := r.Body, r.Faults
	from := parseTime(in.From, "/from", &f)
	var to time.Time
	if in.To != nil {
		to = parseTime(*in.To, "/to", &f)
	}
	if err := f.Err(); err != nil {
		return admin.Response{}, h.missingOr(ctx, r.Caller, id, err)
	}
	changes, err := h.Webhooks.Replay(ctx, r.Caller.Operator(), id, from, to)
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.Accepted(replayResponse{changes}), nil
}

// parseTime parses a time of a request.
func parseTime(text, pointer string, f *wire.Faults) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil && !f.Has(pointer) {
		f.Add(pointer, "invalid_value", "This must be a time such as 2026-03-02T09:15:12Z.")
	}
	return at.UTC().Truncate(time.Microsecond)
}
