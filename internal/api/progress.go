package api

import (
	"context"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// recordRoutes are the progress of players and reports about them.
func (s *Server) recordRoutes() []Route {
	const progress, reports = "/api/players/{player_id}/progress", "/api/players/{player_id}/reports"
	return []Route{
		{Method: "POST", Pattern: progress, Handle: s.Idempotent(endpoint.HandleID("player_id", s.addMeasurement), s.rebuildMeasurement), Authorize: CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: progress, Handle: endpoint.HandleID("player_id", s.listProgress), Authorize: CoachOnly, Query: endpoint.Paged("metric")},
		{Method: "GET", Pattern: progress + "/{measurement_id}", Handle: handleRecord("measurement_id", getRecord(s.Records.Measurement, newMeasurementResponse)), Authorize: CoachOnly},
		{Method: "PATCH", Pattern: progress + "/{measurement_id}", Handle: handleRecord("measurement_id", editRecord(s.Records.Measurement, s.readMeasurementPatch, s.Records.EditMeasurement, newMeasurementResponse)), Authorize: CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: progress + "/{measurement_id}", Handle: handleRecord("measurement_id", deleteRecord(s.Records.DeleteMeasurement)), Authorize: CoachOnly},
		{Method: "POST", Pattern: reports, Handle: s.Idempotent(endpoint.HandleID("player_id", s.addReport), s.rebuildReport), Authorize: CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: reports, Handle: endpoint.HandleID("player_id", s.listReports), Authorize: CoachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: reports + "/{report_id}", Handle: handleRecord("report_id", getRecord(s.Records.OneReport, newReportResponse)), Authorize: CoachOnly},
		{Method: "PATCH", Pattern: reports + "/{report_id}", Handle: handleRecord("report_id", editRecord(s.Records.OneReport, input.ReportPatch.Read, s.Records.EditReport, newReportResponse)), Authorize: CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: reports + "/{report_id}", Handle: handleRecord("report_id", deleteRecord(s.Records.DeleteReport)), Authorize: CoachOnly},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/progress", Handle: endpoint.HandleID("player_id", s.listProgress), Authorize: PartyOnly, Query: endpoint.Paged("metric")},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/reports", Handle: endpoint.HandleID("player_id", s.listReports), Authorize: PartyOnly, Query: endpoint.Paged()},
	}
}

// handleRecord is handleID for a record of a player: h gets the ids of both.
func handleRecord[T any](name string, h recordHandler[T]) endpoint.Handler[Caller] {
	return endpoint.HandleID("player_id", func(ctx context.Context, r Request[T], playerID string) (Response, error) {
		id, _ := r.PathID(name) // "" is not found
		return h(ctx, r, playerID, id)
	})
}

// recordHandler handles a request about one record of a player.
type recordHandler[T any] = func(ctx context.Context, r Request[T], playerID, id string) (Response, error)

// getRecord returns a record that read reads.
func getRecord[R, Out any](read func(ctx context.Context, by actor.Actor, playerID, id string) (R, error), convert func(R) Out) recordHandler[NoBody] {
	return func(ctx context.Context, r Request[NoBody], playerID, id string) (Response, error) {
		record, err := read(ctx, r.Caller.Actor, playerID, id)
		if err != nil {
			return Response{}, err
		}
		return endpoint.OK(convert(record)), nil
	}
}

// editRecord changes a record by a patch, which toPatch reads from the body. A record that
// the coach does not have is not_found, whatever the faults.
func editRecord[In, Patch, R, Out any](
	read func(ctx context.Context, by actor.Actor, playerID, id string) (R, error), toPatch func(In, *wire.Faults) Patch,
	edit func(ctx context.Context, by actor.Actor, playerID, id string, patch Patch) (*R, error), convert func(R) Out,
) recordHandler[In] {
	return func(ctx context.Context, r Request[In], playerID, id string) (Response, error) {
		f := r.Faults
		patch := toPatch(r.Body, &f)
		if len(f) > 0 {
			if _, err := read(ctx, r.Caller.Actor, playerID, id); err != nil {
				return Response{}, err
			}
			return Response{}, f.Err()
		}
		record, err := edit(ctx, r.Caller.Actor, playerID, id, patch)
		if err != nil {
			return Response{}, err
		}
		return endpoint.OK(convert(*record)), nil
	}
}

// deleteRecord deletes a record.
func deleteRecord(remove func(ctx context.Context, by actor.Actor, playerID, id string) error) recordHandler[NoBody] {
	return func(ctx context.Context, r Request[NoBody], playerID, id string) (Response, error) {
		if err := remove(ctx, r.Caller.Actor, playerID, id); err != nil {
			return Response{}, err
		}
		return endpoint.NoContent(), nil
	}
}

// measurementResponse is the Measurement of openapi.yaml.
type measurementResponse struct {
	MeasurementID string  `json:"measurement_id"`
	PlayerID      string  `json:"player_id"`
	Metric        string  `json:"metric"`
	Value         float64 `json:"value"`
	Unit          *string `json:"unit"`
	On            string  `json:"on"`
	CreatedAt     string  `json:"created_at"`
	UpdatedAt     string  `json:"updated_at"`
}

func newMeasurementResponse(m team.Measurement) measurementResponse {
	return measurementResponse{
		MeasurementID: m.ID, PlayerID: m.PlayerID, Metric: m.Metric, Value: m.Value, Unit: wire.OrNull(m.Unit), On: m.On,
		CreatedAt: wire.Timestamp(m.CreatedAt), UpdatedAt: wire.Timestamp(m.UpdatedAt),
	}
}

func measurementCreated(m team.Measurement) Response {
	return endpoint.Created("/api/players/"+m.PlayerID+"/progress/"+m.ID, newMeasurementResponse(m)).WithSubject(m.PlayerID)
}

// addMeasurement serves POST /api/players/{player_id}/progress.
func (s *Server) addMeasurement(ctx context.Context, r Request[input.Measurement], playerID string) (Response, error) {
	in, f := r.Body, r.Faults
	m := in.Read(playerID, s.Now(), &f)
	if err := s.checkFaults(ctx, r.Caller.Actor, playerID, f); err != nil {
		return Response{}, err
	}
	saved, err := s.Records.Measure(ctx, r.Caller.Actor, m)
	if err != nil {
		return Response{}, err
	}
	return measurementCreated(*saved), nil
}

// rebuildMeasurement returns the response of addMeasurement again.
func (s *Server) rebuildMeasurement(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	playerID, _ := m.PathID("player_id")
	saved, err := s.Records.Measurement(ctx, m.Caller.Actor, playerID, w.ID)
	if err != nil {
		return Response{}, err
	}
	return measurementCreated(saved), nil
}

// listProgress serves GET /api/players/{player_id}/progress and, for a party, GET
// /api/me/players/{player_id}/progress: the newest day first.
func (s *Server) listProgress(ctx context.Context, r Request[NoBody], playerID string) (Response, error) {
	f := r.Faults
	metric := QueryText(r.Query, "metric", &f, wire.ParseRules("max=50"))
	page := s.Page(r.Meta, &f)
	list, err := s.Records.Measurements(ctx, r.Caller.Actor, playerID, metric, team.RecordPage{Day: page.After.Day, ID: page.After.ID, Limit: page.ReadLimit()})
	if err != nil {
		return Response{}, err
	}
	if err := f.Err(); err != nil { // report a fault of the query only if the caller may see the player
		return Response{}, err
	}
	return endpoint.PageResponse(page, list, newMeasurementResponse, func(m team.Measurement) Keyset { return Keyset{Day: m.On, ID: m.ID} }), nil
}

// readMeasurementPatch reads a patch. A day in the future is a fault.
func (s *Server) readMeasurementPatch(in input.MeasurementPatch, f *wire.Faults) team.MeasurementPatch {
	return in.Read(s.Now(), f)
}
