package batch

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// handlers serves batches as JSON.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of batches, their players and the schedule of a player.
func (s *Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	const batch = "/api/batches/{batch_id}"
	return []api.Route{
		{Method: "POST", Pattern: "/api/batches", Handle: a.Idempotent(endpoint.Handle(h.add), h.rebuild), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/batches", Handle: endpoint.Handle(h.list), Authorize: api.CoachOnly, Alternative: api.MediaCSV, Query: endpoint.Paged("archived")},
		{Method: "GET", Pattern: batch, Handle: endpoint.HandleID("batch_id", h.get), Authorize: api.CoachOnly},
		{Method: "PATCH", Pattern: batch, Handle: endpoint.HandleID("batch_id", h.edit), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: batch, Handle: endpoint.HandleID("batch_id", h.archive), Authorize: api.CoachOnly},
		{Method: "PUT", Pattern: batch + "/players/{player_id}", Handle: endpoint.HandleID("batch_id", changeMembership(h.Join)), Authorize: api.CoachOnly},
		{Method: "DELETE", Pattern: batch + "/players/{player_id}", Handle: endpoint.HandleID("batch_id", changeMembership(h.Leave)), Authorize: api.CoachOnly},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/schedule", Handle: endpoint.HandleID("player_id", h.schedule), Authorize: api.PartyOnly, Query: endpoint.Paged()},
	}
}

// batchResponse is the Batch of openapi.yaml.
type batchResponse struct {
	scheduledBatch
	PlayerCount int     `json:"player_count"`
	CreatedAt   string  `json:"created_at"`
	UpdatedAt   string  `json:"updated_at"`
	ArchivedAt  *string `json:"archived_at"`
}

type slotResponse struct {
	Weekday string `json:"weekday"`
	Start   string `json:"start"`
	End     string `json:"end"`
}

func newBatchResponse(b *team.Batch) batchResponse {
	return batchResponse{newScheduledBatch(b), b.PlayerCount, wire.Timestamp(b.CreatedAt), wire.Timestamp(b.UpdatedAt), wire.TimestampOrNull(b.ArchivedAt)}
}

func newScheduledBatch(b *team.Batch) scheduledBatch {
	slots := make([]slotResponse, len(b.Schedule))
	for i, s := range b.Schedule {
		slots[i] = slotResponse{team.WeekdayName(s.Weekday), s.Start.String(), s.End.String()}
	}
	return scheduledBatch{b.ID, b.Name, wire.OrNull(b.Sport), wire.OrNull(b.Venue), slots, b.TimeZone}
}

// add serves POST /api/batches.
func (h handlers) add(ctx context.Context, r api.Request[request]) (api.Response, error) {
	in, f := r.Body, r.Faults
	patch := in.read(&f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	return added(h.Add(ctx, r.Caller.Actor, patch))
}

// rebuild returns the response of add again.
func (h handlers) rebuild(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	return added(h.Batch(ctx, m.Caller.Actor, w.ID))
}

func added(b *team.Batch, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/batches/"+b.ID, newBatchResponse(b)), nil
}

// list serves GET /api/batches.
func (h handlers) list(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	archived := api.QueryText(r.Query, "archived", &f, wire.ParseRules("oneof=true|false")) == "true"
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	if api.PrefersCSV(r.Header) {
		return api.CSVResponse("batches.csv", team.BatchTitles, func(ctx context.Context, row func(...string) error) error {
			return h.Each(ctx, r.Caller.Actor, archived, func(b *team.Batch) error { return row(b.Cells()...) })
		}), nil
	}
	batches, err := h.List(ctx, r.Caller.Actor, archived, page.After.ID, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, batches, newBatchResponse, func(b *team.Batch) api.Keyset { return api.Keyset{ID: b.ID} }), nil
}

// get serves GET /api/batches/{batch_id}.
func (h handlers) get(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	return details(h.Batch(ctx, r.Caller.Actor, id))
}

func details(b *team.Batch, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newBatchResponse(b)), nil
}

// edit serves PATCH /api/batches/{batch_id}.
func (h handlers) edit(ctx context.Context, r api.Request[patchRequest], id string) (api.Response, error) {
	in, f := r.Body, r.Faults
	patch := in.read(&f)
	if len(f) > 0 {
		if _, err := h.Batch(ctx, r.Caller.Actor, id); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, f.Err()
	}
	return details(h.Edit(ctx, r.Caller.Actor, id, patch))
}

// archive serves DELETE /api/batches/{batch_id}.
func (h handlers) archive(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	if err := h.Archive(ctx, r.Caller.Actor, id); err != nil {
		return api.Response{}, err
	}
	return endpoint.NoContent(), nil
}

// changeMembership serves PUT and DELETE /api/batches/{batch_id}/players/{player_id}.
func changeMembership(change func(ctx context.Context, by actor.Actor, id, playerID string) error) func(context.Context, api.Request[api.NoBody], string) (api.Response, error) {
	return func(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
		playerID, err := r.PathID("player_id")
		if err != nil {
			return api.Response{}, err
		}
		if err := change(ctx, r.Caller.Actor, id, playerID); err != nil {
			return api.Response{}, err
		}
		return endpoint.NoContent(), nil
	}
}

// scheduleResponse is the PlayerSchedule of openapi.yaml.
type scheduleResponse struct {
	wire.List[scheduledBatch]
	Upcoming []trainingResponse `json:"upcoming"`
}

// scheduledBatch is a batch as a family sees it.
type scheduledBatch struct {
	BatchID  string         `json:"batch_id"`
	Name     string         `json:"name"`
	Sport    *string        `json:"sport"`
	Venue    *string        `json:"venue"`
	Schedule []slotResponse `json:"schedule"`
	TimeZone string         `json:"time_zone"`
}

type trainingResponse struct {
	BatchID  string  `json:"batch_id"`
	Name     string  `json:"name"`
	Venue    *string `json:"venue"`
	Date     string  `json:"date"`
	Start    string  `json:"start"`
	End      string  `json:"end"`
	StartsAt string  `json:"starts_at"`
}

// schedule serves GET /api/me/players/{player_id}/schedule.
func (h handlers) schedule(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	batches, upcoming, err := h.Schedule(ctx, r.Caller.Actor, playerID) // 404 and 403 come before 422
	if err == nil {
		err = f.Err()
	}
	if err != nil {
		return api.Response{}, err
	}
	if after := page.After.ID; after != "" { // a player has few batches: all were read, newest first
		batches = slices.DeleteFunc(batches, func(b *team.Batch) bool { return b.ID >= after })
	}
	list := endpoint.PageResponse(page, batches, newScheduledBatch, func(b *team.Batch) api.Keyset { return api.Keyset{ID: b.ID} })
	a := scheduleResponse{list.Body.(wire.List[scheduledBatch]), []trainingResponse{}}
	for _, t := range upcoming {
		a.Upcoming = append(a.Upcoming, trainingResponse{
			t.Batch.ID, t.Batch.Name, wire.OrNull(t.Batch.Venue), string(t.Date), t.Start.String(), t.End.String(), wire.Timestamp(t.StartsAt()),
		})
	}
	return endpoint.OK(a), nil
}
