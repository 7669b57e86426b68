package feed

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/wire"
)

const (
	// maxChangesWait is the longest time in seconds that a call may wait for a change.
	maxChangesWait = 30
	// changesPoll is how often a waiting call reads the feed, besides after each change.
	changesPoll = time.Second
	// testTimeout limits a test of an endpoint, which may take 15 s to answer.
	testTimeout = 25 * time.Second
	// changesTimeout limits a call. It leaves time for the last read.
	changesTimeout = 40 * time.Second
)

// handlers serves the calls of services.
type handlers struct {
	*Service
	api *admin.Server
}

// OperatorOperations returns the operations of services.
func (s *Service) OperatorOperations(a *admin.Server) []admin.Route {
	h := handlers{s, a}
	services := a.Scope(operator.AvailabilityScope)
	query := a.EitherScope(operator.AvailabilityScope, operator.AvailabilityByNumber)
	webhooks := a.Scope(operator.Webhooks)
	return []admin.Route{
		{Method: "GET", Pattern: "/api/services/availability/{player_id}", Handle: endpoint.HandleID("player_id", h.get), Authorize: services},
		{Method: "POST", Pattern: "/api/services/availability/query", Handle: endpoint.Handle(h.query), Authorize: query, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/services/changes", Handle: endpoint.Handle(h.listChanges), Authorize: services, Timeout: changesTimeout, Query: endpoint.Paged("wait")},
		{Method: "GET", Pattern: "/api/admin/webhooks", Handle: endpoint.Handle(h.listWebhooks), Authorize: webhooks, Query: endpoint.Paged()},
		{Method: "POST", Pattern: "/api/admin/webhooks", Handle: endpoint.Handle(h.createWebhook), Authorize: webhooks, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/admin/webhook-tests", Handle: endpoint.Handle(h.testURL), Authorize: webhooks, Body: endpoint.JSON, Timeout: testTimeout},
		{Method: "GET", Pattern: "/api/admin/webhooks/{webhook_id}", Handle: endpoint.HandleID("webhook_id", h.webhook), Authorize: webhooks},
		{Method: "PATCH", Pattern: "/api/admin/webhooks/{webhook_id}", Handle: endpoint.HandleID("webhook_id", h.updateWebhook), Authorize: webhooks, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: "/api/admin/webhooks/{webhook_id}", Handle: endpoint.HandleID("webhook_id", h.deleteWebhook), Authorize: webhooks},
		{Method: "POST", Pattern: "/api/admin/webhooks/{webhook_id}/rotate-secret", Handle: endpoint.HandleID("webhook_id", h.rotateWebhookSecret), Authorize: webhooks, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: "/api/admin/webhooks/{webhook_id}/test", Handle: endpoint.HandleID("webhook_id", h.testWebhook), Authorize: webhooks},
		{Method: "POST", Pattern: "/api/admin/webhooks/{webhook_id}/replay", Handle: endpoint.HandleID("webhook_id", h.replayWebhook), Authorize: webhooks, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/admin/webhooks/{webhook_id}/messages", Handle: endpoint.HandleID("webhook_id", h.listWebhookMessages), Authorize: webhooks, Query: endpoint.Paged("state")},
	}
}

// changeResponse is the Change of openapi.yaml.
type changeResponse struct {
	Sequence       int64   `json:"sequence"`
	PlayerID       string  `json:"player_id"`
	Type           string  `json:"type"`
	Party          *string `json:"party"`
	GuardianID     string  `json:"guardian_id,omitempty"`
	GuardianStatus string  `json:"guardian_status"`
	StudentStatus  string  `json:"student_status"`
	At             string  `json:"at"`
}

func newChangeResponse(c Change) changeResponse {
	return changeResponse{
		Sequence: c.Sequence, PlayerID: c.PlayerID, Type: c.Type, Party: wire.OrNull(string(c.Party)), GuardianID: c.GuardianID,
		GuardianStatus: c.GuardianStatus, StudentStatus: c.StudentStatus, At: wire.Timestamp(c.At),
	}
}

type changeList struct {
	Items      []changeResponse `json:"items"`
	NextCursor string           `json:"next_cursor"`
}

// listChanges serves GET /api/services/changes: the feed of changes. The cursors are valid
// with any token, so that a service can replace its token.
func (h handlers) listChanges(ctx context.Context, r admin.Request[admin.NoBody]) (admin.Response, error) {
	f := r.Faults
	page := endpoint.QueryPage[Cursor](r.Meta, h.api.Vault.For(vault.ForCursors), "", &f)
	wait := queryWait(r, &f)
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	changes, next, err := h.await(ctx, r.Caller.ID, page.After, page.Limit(), wait)
	if err != nil {
		return admin.Response{}, err
	}
	list := changeList{Items: []changeResponse{}, NextCursor: page.Cursor(next)}
	for _, c := range changes {
		list.Items = append(list.Items, newChangeResponse(c))
	}
	return endpoint.OK(list), nil
}

// await reads the feed until there is a change or the wait is over: after each commit
// of a change, and each second, because a wake of another replica can be lost. The wait also
// ends when the service shuts down.
func (h handlers) await(ctx context.Context, tokenID string, after Cursor, limit int, wait time.Duration) ([]Change, Cursor, error) {
	end := h.Now().Add(wait)
	if wait == 0 {
		return h.Read(ctx, after, limit)
	}
	// Subscribe before the first read, so that no commit is between them.
	waiting, err := h.Waiting.Subscribe(tokenID)
	if err != nil {
		return nil, after, err
	}
	defer waiting.Close()
	poll, stop := h.api.NewTicker(changesPoll)
	defer stop()
	for {
		changes, next, err := h.Read(ctx, after, limit)
		if err != nil || len(changes) > 0 || !h.Now().Before(end) {
			return changes, next, err
		}
		select {
		case <-ctx.Done():
			return nil, next, nil
		case <-waiting.Done():
			return nil, next, nil
		case <-waiting.Woken():
		case <-poll:
		}
	}
}

// queryWait returns the query parameter wait, at most maxChangesWait.
func queryWait(r admin.Request[admin.NoBody], f *wire.Faults) time.Duration {
	if !r.Query.Has("wait") {
		return 0
	}
	seconds, err := strconv.ParseUint(r.Query.Get("wait"), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // a number of more than 64 bits is above 30, too
		f.Add("/wait", "invalid_value", "This must be a whole number of seconds, from 0 to 30.")
	}
	return time.Duration(min(seconds, maxChangesWait)) * time.Second
}
