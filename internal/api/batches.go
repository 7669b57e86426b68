package api

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// batchRoutes are batches, their players and the schedule of a player.
func (s *Server) batchRoutes() []Route {
	const batch = "/api/batches/{batch_id}"
	return []Route{
		{Method: "POST", Pattern: "/api/batches", Handle: s.Idempotent(endpoint.Handle(s.addBatch), s.rebuildBatch), Authorize: CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/batches", Handle: endpoint.Handle(s.listBatches), Authorize: CoachOnly, Alternative: MediaCSV, Query: endpoint.Paged("archived")},
		{Method: "GET", Pattern: batch, Handle: endpoint.HandleID("batch_id", s.getBatch), Authorize: CoachOnly},
		{Method: "PATCH", Pattern: batch, Handle: endpoint.HandleID("batch_id", s.editBatch), Authorize: CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: batch, Handle: endpoint.HandleID("batch_id", s.archiveBatch), Authorize: CoachOnly},
		{Method: "PUT", Pattern: batch + "/players/{player_id}", Handle: endpoint.HandleID("batch_id", changeMembership(s.Batches.Join)), Authorize: CoachOnly},
		{Method: "DELETE", Pattern: batch + "/players/{player_id}", Handle: endpoint.HandleID("batch_id", changeMembership(s.Batches.Leave)), Authorize: CoachOnly},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/schedule", Handle: endpoint.HandleID("player_id", s.schedule), Authorize: PartyOnly, Query: endpoint.Paged()},
	}
}

// batchResponse is the Batch of openapi.yaml.
type batchResponse struct {
	BatchID     string         `json:"batch_id"`
	Name        string         `json:"name"`
	Sport       *string        `json:"sport"`
	Venue       *string        `json:"venue"`
	Schedule    []slotResponse `json:"schedule"`
	TimeZone    string         `json:"time_zone"`
	PlayerCount int            `json:"player_count"`
	CreatedAt   string         `json:"created_at"`
	UpdatedAt   string         `json:"updated_at"`
	ArchivedAt  *string        `json:"archived_at"`
}

type slotResponse struct {
	Weekday string `json:"weekday"`
	Start   string `json:"start"`
	End     string `json:"end"`
}

func newBatchResponse(b *team.Batch) batchResponse {
	return batchResponse{
		BatchID: b.ID, Name: b.Name, Sport: wire.OrNull(b.Sport), Venue: wire.OrNull(b.Venue), Schedule: newSchedule(b.Schedule), TimeZone: b.TimeZone,
		PlayerCount: b.PlayerCount, CreatedAt: wire.Timestamp(b.CreatedAt), UpdatedAt: wire.Timestamp(b.UpdatedAt), ArchivedAt: wire.TimestampOrNull(b.ArchivedAt),
	}
}

func newSchedule(slots team.Schedule) []slotResponse {
	list := make([]slotResponse, len(slots))
	for i, s := range slots {
		list[i] = slotResponse{team.WeekdayName(s.Weekday), s.Start.String(), s.End.String()}
	}
	return list
}

// addBatch serves POST /api/batches.
func (s *Server) addBatch(ctx context.Context, r Request[input.Batch]) (Response, error) {
	in, f := r.Body, r.Faults
	patch := in.Read(&f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	b, err := s.Batches.Add(ctx, r.Caller.Actor, patch)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/batches/"+b.ID, newBatchResponse(b)), nil
}

// rebuildBatch returns the response of addBatch again.
func (s *Server) rebuildBatch(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	b, err := s.Batches.Batch(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	return endpoint.Created("/api/batches/"+b.ID, newBatchResponse(b)), nil
}

// listBatches serves GET /api/batches.
func (s *Server) listBatches(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	archived := QueryText(r.Query, "archived", &f, wire.ParseRules("oneof=true|false")) == "true"
	page := s.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	if PrefersCSV(r.Header) {
		return CSVResponse("batches.csv", team.BatchTitles, func(ctx context.Context, row func(...string) error) error {
			return s.Batches.Each(ctx, r.Caller.Actor, archived, func(b *team.Batch) error { return row(b.Cells()...) })
		}), nil
	}
	batches, err := s.Batches.List(ctx, r.Caller.Actor, archived, page.After.ID, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, batches, newBatchResponse, func(b *team.Batch) Keyset { return Keyset{ID: b.ID} }), nil
}

// getBatch serves GET /api/batches/{batch_id}.
func (s *Server) getBatch(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	b, err := s.Batches.Batch(ctx, r.Caller.Actor, id)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newBatchResponse(b)), nil
}

// editBatch serves PATCH /api/batches/{batch_id}.
func (s *Server) editBatch(ctx context.Context, r Request[input.BatchPatch], id string) (Response, error) {
	in, f := r.Body, r.Faults
	patch := in.Read(&f)
	if len(f) > 0 {
		if _, err := s.Batches.Batch(ctx, r.Caller.Actor, id); err != nil {
			return Response{}, err
		}
		return Response{}, f.Err()
	}
	b, err := s.Batches.Edit(ctx, r.Caller.Actor, id, patch)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newBatchResponse(b)), nil
}

// archiveBatch serves DELETE /api/batches/{batch_id}.
func (s *Server) archiveBatch(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	if err := s.Batches.Archive(ctx, r.Caller.Actor, id); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}

// changeMembership serves PUT and DELETE /api/batches/{batch_id}/players/{player_id}.
func changeMembership(change func(ctx context.Context, by actor.Actor, id, playerID string) error) func(context.Context, Request[NoBody], string) (Response, error) {
	return func(ctx context.Context, r Request[NoBody], id string) (Response, error) {
		playerID, err := r.PathID("player_id")
		if err != nil {
			return Response{}, err
		}
		if err := change(ctx, r.Caller.Actor, id, playerID); err != nil {
			return Response{}, err
		}
		return endpoint.NoContent(), nil
	}
}

// scheduleResponse is the PlayerSchedule of openapi.yaml.
type scheduleResponse struct {
	Items      []scheduledBatch   `json:"items"`
	NextCursor *string            `json:"next_cursor"`
	Upcoming   []trainingResponse `json:"upcoming"`
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
func (s *Server) schedule(ctx context.Context, r Request[NoBody], playerID string) (Response, error) {
	f := r.Faults
	page := s.Page(r.Meta, &f)
	_, batches, upcoming, err := s.Batches.Schedule(ctx, r.Caller.Actor, playerID) // 404 and 403 come before 422
	if err == nil {
		err = f.Err()
	}
	if err != nil {
		return Response{}, err
	}
	a := scheduleResponse{Items: []scheduledBatch{}, Upcoming: []trainingResponse{}}
	if after := page.After.ID; after != "" { // a player has few batches: all were read, newest first
		batches = slices.DeleteFunc(batches, func(b *team.Batch) bool { return b.ID >= after })
	}
	if n := page.Limit(); len(batches) > n {
		batches = batches[:n]
		next := page.Cursor(Keyset{ID: batches[n-1].ID})
		a.NextCursor = &next
	}
	for _, b := range batches {
		a.Items = append(a.Items, scheduledBatch{b.ID, b.Name, wire.OrNull(b.Sport), wire.OrNull(b.Venue), newSchedule(b.Schedule), b.TimeZone})
	}
	for _, t := range upcoming {
		a.Upcoming = append(a.Upcoming, trainingResponse{
			t.Batch.ID, t.Batch.Name, wire.OrNull(t.Batch.Venue), string(t.Date), t.Start.String(), t.End.String(), wire.Timestamp(t.StartsAt()),
		})
	}
	return endpoint.OK(a), nil
}
