package progress

import (
	"context"
	"embed"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the pages about records.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the pages about the progress of a player and reports about it, for its coach and its
// family.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const progress, reports = "/coach/players/{player_id}/progress", "/coach/players/{player_id}/reports"
	routes := []web.Route{
		{Method: "GET", Pattern: progress, Handle: site.SignedIn(actor.Coach, p.progress)},
		{Method: "POST", Pattern: progress, Handle: site.SignedIn(actor.Coach, p.addMeasurement)},
		{Method: "GET", Pattern: reports, Handle: site.SignedIn(actor.Coach, p.reports)},
		{Method: "POST", Pattern: reports, Handle: site.SignedIn(actor.Coach, p.addReport)},
		{Method: "GET", Pattern: reports + "/{record_id}", Handle: site.SignedIn(actor.Coach, p.editReportPage)},
		{Method: "POST", Pattern: reports + "/{record_id}", Handle: site.SignedIn(actor.Coach, p.editReport)},
	}
	for _, x := range []removal{
		{
			page: "progress", question: "removal.measurement", remove: s.DeleteMeasurement, restore: s.RestoreMeasurement,
			typed: func(v *web.View) url.Values {
				return url.Values{"metric": {""}, "value": {""}, "unit": {""}, "on": {v.Today()}}
			},
			describe: func(ctx context.Context, v *web.View, by actor.Actor, playerID, id string) (string, error) {
				m, err := s.Measurement(ctx, by, playerID, id)
				return m.Metric + ": " + m.Text() + ", " + v.CalendarDay(m.On), err
			},
		},
		{
			page: "reports", question: "removal.report", remove: s.DeleteReport, restore: s.RestoreReport,
			typed: func(*web.View) url.Values { return url.Values{"title": {""}, "text": {""}, "from": {""}, "to": {""}} },
			describe: func(ctx context.Context, _ *web.View, by actor.Actor, playerID, id string) (string, error) {
				r, err := s.Report(ctx, by, playerID, id)
				return r.Title, err
			},
		},
	} {
		x.pages = p
		one := "/coach/players/{player_id}/" + x.page + "/{record_id}"
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: one + "/delete", Handle: site.SignedIn(actor.Coach, x.check)},
			web.Route{Method: "POST", Pattern: one + "/delete", Handle: site.SignedIn(actor.Coach, x.delete)},
			web.Route{Method: "POST", Pattern: one + "/restore", Handle: site.SignedIn(actor.Coach, x.undo)},
		)
	}
	for _, role := range approval.Parties {
		one := "/me/" + string(role) + "/players/{player_id}"
		routes = append(
			routes,
			web.Route{Method: "GET", Pattern: one + "/progress", Handle: site.SignedIn(role, p.familyProgress)},
			web.Route{Method: "GET", Pattern: one + "/reports", Handle: site.SignedIn(role, p.familyReports)},
		)
	}
	return routes
}

// valuesShown is how many of the newest values the pages of progress show.
const valuesShown = 200

// progress serves GET /coach/players/{player_id}/progress.
func (p pages) progress(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.progressPage(ctx, r, by, player, r.Restored(new(web.Form)))
}

func (p pages) progressPage(ctx context.Context, r *web.Request, by actor.Actor, player *approval.Player, f *web.Form) (web.Response, error) {
	list, err := p.Measurements(ctx, by, player.ID, "", Measurement{}, valuesShown)
	if err != nil {
		return web.Response{}, err
	}
	return p.listPage(ctx, r, by, player, "progress", f, map[string]any{"Metrics": newMetricViews(list)})
}

// listPage shows the records of a player, with the form of a new one.
func (p pages) listPage(ctx context.Context, r *web.Request, by actor.Actor, player *approval.Player, name string, f *web.Form, data map[string]any) (web.Response, error) {
	v := p.site.CoachView(r, "players", name+".title", by)
	v.TitleName = player.Student.FullName
	v.Form, v.Path, v.Data = f, pathOf(player.ID, name), data
	data["Player"], data["RequestID"], data["WholeHistory"] = player, p.NewID(), p.site.WholeHistory
	if r.Value("done") == "added" && endpoint.IsID(r.Value("record")) {
		what := map[string]event.Type{"progress": event.ProgressAdded, "reports": event.ReportAdded}[name]
		told, err := p.site.Telling(ctx, by, r.Value("record"), string(what), v.MustT(name+".write", "Student", player.Student.FullName))
		if err != nil {
			return web.Response{}, err
		}
		data["Told"] = told
	}
	data["Done"], data["Undo"] = v.TextOr(name+".done."+r.Value("done"), ""), p.site.UndoPath(r, v.Path+"/", "/restore")
	return web.FormPage(name, v), nil
}

// pathOf returns the page with the records of a player.
func pathOf(playerID, name string) string { return "/coach/players/" + playerID + "/" + name }

// addMeasurement serves POST …/progress.
func (p pages) addMeasurement(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	m := p.readMeasurement(r, player.ID, &faults)
	if err = faults.Err(); err == nil {
		m, err = p.Measure(ctx, by, m)
	}
	if err == nil {
		return web.Redirect(pathOf(player.ID, "progress") + "?done=added&record=" + m.ID), nil
	}
	f, err := p.refused(r, err)
	if err != nil {
		return web.Response{}, err
	}
	return p.progressPage(ctx, r, by, player, f)
}

// refused returns the form of a record with the faults of err, or err if the coach cannot correct it.
func (p pages) refused(r *web.Request, err error) (*web.Form, error) {
	f := &web.Form{Values: r.Form}
	if fault.CodeOf(err) == "tier_limit" {
		p.site.AddError(r, f, "", err)
		return f, nil
	}
	if !p.site.AddFaults(r, f, err, nil) {
		return nil, err
	}
	return f, nil
}

// readMeasurement reads the form. A form that is sent twice names one id.
func (p pages) readMeasurement(r *web.Request, playerID string, f *wire.Faults) Measurement {
	body := map[string]any{"metric": r.Value("metric"), "unit": r.Value("unit"), "on": r.Value("on")}
	if value, ok := readNumber(r.Value("value")); ok {
		body["value"] = value
	} else if r.Value("value") != "" {
		f.Add("/value", "invalid_number_value", "Write a number, such as 12.4 or 1500.")
	}
	var in measurementRequest
	wire.Bind(body, &in, f)
	m := in.read(playerID, p.Now(), f)
	m.ID = web.IDOrNone(r.Value(web.RequestField))
	return m
}

// thousands matches a number such as 1,500, which is 1500 to one person and 1.5 to another.
var thousands = regexp.MustCompile(`,\d{3}$`)

// readNumber reads a number with a point or a comma before the decimals. It refuses one that
// thousands matches.
func readNumber(text string) (json.Number, bool) {
	text = wire.Visible(text, false)
	if thousands.MatchString(text) {
		return "", false
	}
	text = strings.Replace(text, ",", ".", 1)
	if _, err := strconv.ParseFloat(text, 64); err != nil || strings.ContainsAny(text, "xXpPiInN_") {
		return "", false
	}
	return json.Number(text), true
}

// familyProgress serves GET /me/{role}/players/{player_id}/progress.
func (p pages) familyProgress(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.site.FamilyPage(ctx, r, by, "family_progress", "progress_tracking", func(d web.Question) (map[string]any, error) {
		list, err := p.Measurements(ctx, by, d.ID, "", Measurement{}, valuesShown)
		return map[string]any{"Metrics": newMetricViews(list)}, err
	})
}

// removal serves the removal of the records of a page.
type removal struct {
	pages
	page, question  string
	typed           func(*web.View) url.Values
	describe        func(ctx context.Context, v *web.View, by actor.Actor, playerID, id string) (string, error)
	remove, restore func(ctx context.Context, by actor.Actor, playerID, id string) error
}

// inPath returns the player and the record of the path.
func (x removal) inPath(ctx context.Context, r *web.Request, by actor.Actor) (playerID string, one web.Removal, err error) {
	player, err := x.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return "", web.Removal{}, err
	}
	return player.ID, web.Removal{List: pathOf(player.ID, x.page), ID: r.PathValue("record_id"), Typed: x.typed(x.site.NewView(r, ""))}, nil
}

// check serves GET …/{record_id}/delete.
func (x removal) check(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	playerID, one, err := x.inPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	what, err := x.describe(ctx, x.site.NewView(r, ""), by, playerID, one.ID)
	if fault.IsMissing(err) {
		return web.Redirect(one.List), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	return x.site.RemovalCheck(r, by, "players", x.question, what, one)
}

// delete serves POST …/{record_id}/delete.
func (x removal) delete(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	playerID, one, err := x.inPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return x.site.Remove(r, one, func() error { return x.remove(ctx, by, playerID, one.ID) })
}

// undo serves POST …/{record_id}/restore.
func (x removal) undo(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	playerID, one, err := x.inPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return x.site.Undo(one, func() error { return x.restore(ctx, by, playerID, one.ID) }, func() bool {
		_, err := x.describe(ctx, x.site.NewView(r, ""), by, playerID, one.ID)
		return err == nil
	})
}
