package progress

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// handlers serves records as JSON.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of the progress of players and of reports about them.
func (s *Service) Operations(a *api.Server) []api.Route {
	const progress, reports = "/api/players/{player_id}/progress", "/api/players/{player_id}/reports"
	const measurement, report = progress + "/{measurement_id}", reports + "/{report_id}"
	h := handlers{s, a}
	return []api.Route{
		{Method: "POST", Pattern: progress, Handle: a.Idempotent(endpoint.HandleID("player_id", h.addMeasurement), h.rebuildMeasurement), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: progress, Handle: endpoint.HandleID("player_id", h.listMeasurements), Authorize: api.CoachOnly, Query: endpoint.Paged("metric")},
		{Method: "GET", Pattern: measurement, Handle: handleRecord("measurement_id", get(s.Measurement, newMeasurementResponse)), Authorize: api.CoachOnly},
		{Method: "PATCH", Pattern: measurement, Handle: handleRecord("measurement_id", edit(s.now, s.Measurement, s.EditMeasurement, newMeasurementResponse)), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: measurement, Handle: handleRecord("measurement_id", remove(s.DeleteMeasurement)), Authorize: api.CoachOnly},
		{Method: "POST", Pattern: reports, Handle: a.Idempotent(endpoint.HandleID("player_id", h.addReport), h.rebuildReport), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: reports, Handle: endpoint.HandleID("player_id", h.listReports), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: report, Handle: handleRecord("report_id", get(s.Report, newReportResponse)), Authorize: api.CoachOnly},
		{Method: "PATCH", Pattern: report, Handle: handleRecord("report_id", edit(s.now, s.Report, s.EditReport, newReportResponse)), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "DELETE", Pattern: report, Handle: handleRecord("report_id", remove(s.DeleteReport)), Authorize: api.CoachOnly},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/progress", Handle: endpoint.HandleID("player_id", h.listMeasurements), Authorize: api.PartyOnly, Query: endpoint.Paged("metric")},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/reports", Handle: endpoint.HandleID("player_id", h.listReports), Authorize: api.PartyOnly, Query: endpoint.Paged()},
	}
}

// now reads the clock when it is called: a service that only lists its routes has none.
func (s *Service) now() time.Time { return s.Now() }

// recordHandler handles a request about one record of a player.
type recordHandler[T any] = func(ctx context.Context, r api.Request[T], playerID, id string) (api.Response, error)

// handleRecord is endpoint.HandleID for a record of a player.
func handleRecord[T any](name string, h recordHandler[T]) endpoint.Handler[api.Caller] {
	return endpoint.HandleID("player_id", func(ctx context.Context, r api.Request[T], playerID string) (api.Response, error) {
		id, _ := r.PathID(name) // "" is not found
		return h(ctx, r, playerID, id)
	})
}

// get returns a record.
func get[R, Out any](read func(ctx context.Context, by actor.Actor, playerID, id string) (R, error), convert func(R) Out) recordHandler[api.NoBody] {
	return func(ctx context.Context, r api.Request[api.NoBody], playerID, id string) (api.Response, error) {
		return details(convert)(read(ctx, r.Caller.Actor, playerID, id))
	}
}

func details[R, Out any](convert func(R) Out) func(R, error) (api.Response, error) {
	return func(record R, err error) (api.Response, error) {
		if err != nil {
			return api.Response{}, err
		}
		return endpoint.OK(convert(record)), nil
	}
}

// edit changes a record by a patch. A record that the coach does not have is not_found, whatever the
// faults.
func edit[P interface {
	check(now time.Time, f *wire.Faults)
}, R, Out any](
	now func() time.Time, read func(ctx context.Context, by actor.Actor, playerID, id string) (R, error),
	edit func(ctx context.Context, by actor.Actor, playerID, id string, patch P) (R, error), convert func(R) Out,
) recordHandler[P] {
	return func(ctx context.Context, r api.Request[P], playerID, id string) (api.Response, error) {
		r.Body.check(now(), &r.Faults)
		if len(r.Faults) > 0 {
			if _, err := read(ctx, r.Caller.Actor, playerID, id); err != nil {
				return api.Response{}, err
			}
			return api.Response{}, r.Faults.Err()
		}
		return details(convert)(edit(ctx, r.Caller.Actor, playerID, id, r.Body))
	}
}

// remove deletes a record.
func remove(remove func(ctx context.Context, by actor.Actor, playerID, id string) error) recordHandler[api.NoBody] {
	return func(ctx context.Context, r api.Request[api.NoBody], playerID, id string) (api.Response, error) {
		return endpoint.NoContent(), remove(ctx, r.Caller.Actor, playerID, id)
	}
}

// measurementResponse is the Measurement of openapi.yaml.
type measurementResponse struct {
	MeasurementID string    `json:"measurement_id"`
	PlayerID      string    `json:"player_id"`
	Metric        string    `json:"metric"`
	Value         float64   `json:"value"`
	Unit          *string   `json:"unit"`
	On            team.Date `json:"on"`
	CreatedAt     string    `json:"created_at"`
	UpdatedAt     string    `json:"updated_at"`
}

func newMeasurementResponse(m Measurement) measurementResponse {
	return measurementResponse{m.ID, m.PlayerID, m.Metric, m.Value, wire.OrNull(m.Unit), m.On, wire.Timestamp(m.CreatedAt), wire.Timestamp(m.UpdatedAt)}
}

// measured is the response of addMeasurement.
func (h handlers) measured(ctx context.Context, by actor.Actor, m Measurement) (api.Response, error) {
	told, err := notice.ReadTelling(ctx, h.DB, by.AccountID, m.ID, "")
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/players/"+m.PlayerID+"/progress/"+m.ID, struct {
		measurementResponse
		Told *api.ToldResponse `json:"told"`
	}{newMeasurementResponse(m), api.NewTold(told)}).WithSubject(m.PlayerID), nil
}

// addMeasurement serves POST /api/players/{player_id}/progress.
func (h handlers) addMeasurement(ctx context.Context, r api.Request[measurementRequest], playerID string) (api.Response, error) {
	m := r.Body.read(playerID, h.Now(), &r.Faults)
	if err := h.api.CheckFaults(ctx, r.Caller.Actor, playerID, r.Faults); err != nil {
		return api.Response{}, err
	}
	m, err := h.Measure(ctx, r.Caller.Actor, m)
	if err != nil {
		return api.Response{}, err
	}
	return h.measured(ctx, r.Caller.Actor, m)
}

// rebuildMeasurement returns the response of addMeasurement again.
func (h handlers) rebuildMeasurement(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	playerID, _ := m.PathID("player_id")
	saved, err := h.Measurement(ctx, m.Caller.Actor, playerID, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	return h.measured(ctx, m.Caller.Actor, saved)
}

// listMeasurements serves GET /api/players/{player_id}/progress and GET /api/me/players/{player_id}/progress.
func (h handlers) listMeasurements(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	metric := api.QueryText(r.Query, "metric", &r.Faults, wire.ParseRules("max=50"))
	page := h.api.Page(r.Meta, &r.Faults)
	list, err := h.Measurements(ctx, r.Caller.Actor, playerID, metric, Measurement{On: team.Date(page.After.Day), ID: page.After.ID}, page.ReadLimit())
	if err == nil { // report a fault of the query only if the caller may see the player
		err = r.Faults.Err()
	}
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, newMeasurementResponse, func(m Measurement) api.Keyset { return api.Keyset{Day: string(m.On), ID: m.ID} }), nil
}

// reportResponse is the PerformanceReport of openapi.yaml.
type reportResponse struct {
	ReportID  string    `json:"report_id"`
	PlayerID  string    `json:"player_id"`
	Title     string    `json:"title"`
	Text      string    `json:"text"`
	From      team.Date `json:"from"`
	To        team.Date `json:"to"`
	CreatedAt string    `json:"created_at"`
	UpdatedAt string    `json:"updated_at"`
}

func newReportResponse(r Report) reportResponse {
	return reportResponse{r.ID, r.PlayerID, r.Title, r.Text, r.From, r.To, wire.Timestamp(r.CreatedAt), wire.Timestamp(r.UpdatedAt)}
}

// reported is the response of addReport.
func (h handlers) reported(ctx context.Context, by actor.Actor, r Report) (api.Response, error) {
	told, err := notice.ReadTelling(ctx, h.DB, by.AccountID, r.ID, "")
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.Created("/api/players/"+r.PlayerID+"/reports/"+r.ID, struct {
		reportResponse
		Told *api.ToldResponse `json:"told"`
	}{newReportResponse(r), api.NewTold(told)}).WithSubject(r.PlayerID), nil
}

// addReport serves POST /api/players/{player_id}/reports.
func (h handlers) addReport(ctx context.Context, r api.Request[reportRequest], playerID string) (api.Response, error) {
	report := r.Body.read(playerID, &r.Faults)
	if err := h.api.CheckFaults(ctx, r.Caller.Actor, playerID, r.Faults); err != nil {
		return api.Response{}, err
	}
	report, err := h.AddReport(ctx, r.Caller.Actor, report)
	if err != nil {
		return api.Response{}, err
	}
	return h.reported(ctx, r.Caller.Actor, report)
}

// rebuildReport returns the response of addReport again.
func (h handlers) rebuildReport(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	playerID, _ := m.PathID("player_id")
	saved, err := h.Report(ctx, m.Caller.Actor, playerID, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	return h.reported(ctx, m.Caller.Actor, saved)
}

// listReports serves GET /api/players/{player_id}/reports and GET /api/me/players/{player_id}/reports.
func (h handlers) listReports(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	page := h.api.Page(r.Meta, &r.Faults)
	list, err := h.Reports(ctx, r.Caller.Actor, playerID, page.After.ID, page.ReadLimit())
	if err == nil { // report a fault of the query only if the caller may see the player
		err = r.Faults.Err()
	}
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, list, newReportResponse, func(r Report) api.Keyset { return api.Keyset{ID: r.ID} }), nil
}
