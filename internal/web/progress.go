package web

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// valuesShown is how many of the newest values the pages of progress show.
const valuesShown = 200

// recordRoutes lists the pages about the progress of a player and reports about it, for its
// coach and its family.
func (p *Pages) recordRoutes() []Route {
	const progress, reports = "/coach/players/{player_id}/progress", "/coach/players/{player_id}/reports"
	routes := []Route{
		{Method: "GET", Pattern: progress, Handle: p.SignedIn(actor.Coach, p.progress)},
		{Method: "POST", Pattern: progress, Handle: p.SignedIn(actor.Coach, p.addMeasurement)},
		{Method: "GET", Pattern: progress + "/{measurement_id}/delete", Handle: p.SignedIn(actor.Coach, p.checkMeasurement)},
		{Method: "POST", Pattern: progress + "/{measurement_id}/delete", Handle: p.SignedIn(actor.Coach, p.deleteMeasurement)},
		{Method: "POST", Pattern: progress + "/{measurement_id}/restore", Handle: p.SignedIn(actor.Coach, p.restoreMeasurement)},
		{Method: "GET", Pattern: reports, Handle: p.SignedIn(actor.Coach, p.reports)},
		{Method: "POST", Pattern: reports, Handle: p.SignedIn(actor.Coach, p.addReport)},
		{Method: "GET", Pattern: reports + "/{report_id}", Handle: p.SignedIn(actor.Coach, p.editReportPage)},
		{Method: "POST", Pattern: reports + "/{report_id}", Handle: p.SignedIn(actor.Coach, p.editReport)},
		{Method: "GET", Pattern: reports + "/{report_id}/delete", Handle: p.SignedIn(actor.Coach, p.checkReport)},
		{Method: "POST", Pattern: reports + "/{report_id}/delete", Handle: p.SignedIn(actor.Coach, p.deleteReport)},
		{Method: "POST", Pattern: reports + "/{report_id}/restore", Handle: p.SignedIn(actor.Coach, p.restoreReport)},
	}
	for _, role := range approval.Parties {
		one := "/me/" + string(role) + "/players/{player_id}"
		routes = append(
			routes,
			Route{Method: "GET", Pattern: one + "/messages", Handle: p.SignedIn(role, p.conversation)},
			Route{Method: "POST", Pattern: one + "/messages", Handle: p.SignedIn(role, p.writeReply)},
			Route{Method: "GET", Pattern: one + "/progress", Handle: p.SignedIn(role, p.familyProgress)},
			Route{Method: "GET", Pattern: one + "/reports", Handle: p.SignedIn(role, p.familyReports)},
		)
	}
	return routes
}

// PlayerInPath returns the coach's player that the path names.
func (p *Pages) PlayerInPath(ctx context.Context, r *Request, by actor.Actor) (*approval.Player, error) {
	id, err := r.PathID("player_id")
	if err != nil {
		return nil, err
	}
	return p.Approvals.Player(ctx, by, id)
}

// progress serves GET /coach/players/{player_id}/progress.
func (p *Pages) progress(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, err := p.PlayerInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	return p.progressPage(ctx, r, by, player, r.Restored(new(Form)))
}

func (p *Pages) progressPage(ctx context.Context, r *Request, by actor.Actor, player *approval.Player, f *Form) (Response, error) {
	list, err := p.Records.Measurements(ctx, by, player.ID, "", team.RecordPage{Limit: valuesShown})
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "players", "progress.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, coachPlayer(player.ID)+"/progress"
	v.Data = map[string]any{
		"Player": player, "Metrics": newMetricViews(list), "Today": v.today(), "RequestID": p.Messages.NewID(),
		"Done": v.TextOr("progress.done."+r.Value("done"), ""), "WholeHistory": p.WholeHistory, "Undo": p.UndoPath(r, v.Path+"/", "/restore"),
	}
	return FormPage("progress", v), nil
}

// addMeasurement serves POST …/progress.
func (p *Pages) addMeasurement(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, err := p.PlayerInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	var faults wire.Faults
	m := readMeasurement(r, player.ID, p, &faults)
	err = faults.Err()
	if err == nil {
		_, err = p.Records.Measure(ctx, by, m)
	}
	if err == nil {
		return Redirect(coachPlayer(player.ID) + "/progress?done=added"), nil
	}
	f, err := p.refusedRecord(r, err)
	if err != nil {
		return Response{}, err
	}
	return p.progressPage(ctx, r, by, player, f)
}

// refusedRecord returns the form of a measurement or report with the faults of err, or err if
// the coach cannot correct it.
func (p *Pages) refusedRecord(r *Request, err error) (*Form, error) {
	f := &Form{Values: r.Form}
	if fault.CodeOf(err) == "tier_limit" {
		p.AddError(r, f, "", err)
		return f, nil
	}
	if !p.AddFaults(r, f, err, nil) {
		return nil, err
	}
	return f, nil
}

// readMeasurement reads the form. A form that is sent twice names one id.
func readMeasurement(r *Request, playerID string, p *Pages, f *wire.Faults) team.Measurement {
	body := map[string]any{"metric": r.Value("metric"), "unit": r.Value("unit"), "on": r.Value("on")}
	if value, ok := readNumber(r.Value("value")); ok {
		body["value"] = value
	} else if r.Value("value") != "" {
		f.Add("/value", "invalid_number_value", "Write a number, such as 12.4 or 1500.")
	}
	var in input.Measurement
	wire.Bind(body, &in, f)
	m := in.Read(playerID, p.Now(), f)
	m.ID = idOrNone(r.Value(RequestField))
	return m
}

// measurementInPath returns the player of the path, and the measurement as a removal.
func (p *Pages) measurementInPath(ctx context.Context, r *Request, by actor.Actor) (*approval.Player, Removal, error) {
	player, err := p.PlayerInPath(ctx, r, by)
	if err != nil {
		return nil, Removal{}, err
	}
	id, err := r.PathID("measurement_id")
	return player, Removal{
		List: coachPlayer(player.ID) + "/progress", ID: id,
		Typed: url.Values{"metric": {""}, "value": {""}, "unit": {""}, "on": {p.NewView(r, "").today()}},
	}, err
}

// checkMeasurement serves GET …/progress/{measurement_id}/delete.
func (p *Pages) checkMeasurement(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, x, err := p.measurementInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	m, err := p.Records.Measurement(ctx, by, player.ID, x.ID)
	if fault.IsMissing(err) {
		return Redirect(x.List), nil
	}
	if err != nil {
		return Response{}, err
	}
	v := p.NewView(r, "")
	return p.RemovalCheck(ctx, r, by, "players", "removal.measurement", m.Metric+": "+v.Measured(m.Value, m.Unit)+", "+v.RecordDay(m.On), x)
}

// deleteMeasurement serves POST …/progress/{measurement_id}/delete.
func (p *Pages) deleteMeasurement(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, x, err := p.measurementInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	return p.Remove(r, x, func() error { return p.Records.DeleteMeasurement(ctx, by, player.ID, x.ID) })
}

// restoreMeasurement serves POST …/progress/{measurement_id}/restore.
func (p *Pages) restoreMeasurement(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, x, err := p.measurementInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	return p.Undo(x, func() error { return p.Records.RestoreMeasurement(ctx, by, player.ID, x.ID) }, func() bool {
		_, err := p.Records.Measurement(ctx, by, player.ID, x.ID)
		return err == nil
	})
}
