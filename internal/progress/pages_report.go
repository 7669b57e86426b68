package progress

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/web"
)

// reportsPerPage is the number of reports on one page.
const reportsPerPage = 20

// reportList returns the reports of one page at a path, and the address of the next page.
func (p pages) reportList(ctx context.Context, r *web.Request, by actor.Actor, playerID, path string) (map[string]any, error) {
	list, err := p.Reports(ctx, by, playerID, web.IDOrNone(r.Value("after")), reportsPerPage+1)
	next := ""
	if len(list) > reportsPerPage {
		list = list[:reportsPerPage]
		next = path + "?" + url.Values{"after": {list[reportsPerPage-1].ID}}.Encode()
	}
	return map[string]any{"List": list, "Next": next}, err
}

// familyReports serves GET /me/{role}/players/{player_id}/reports.
func (p pages) familyReports(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.site.FamilyPage(ctx, r, by, "family_reports", "performance_reports", func(d web.Question) (map[string]any, error) {
		return p.reportList(ctx, r, by, d.ID, d.Path+"/reports")
	})
}

// reports serves GET /coach/players/{player_id}/reports.
func (p pages) reports(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	return p.reportsPage(ctx, r, by, player, r.Restored(new(web.Form)))
}

func (p pages) reportsPage(ctx context.Context, r *web.Request, by actor.Actor, player *approval.Player, f *web.Form) (web.Response, error) {
	data, err := p.reportList(ctx, r, by, player.ID, pathOf(player.ID, "reports"))
	if err != nil {
		return web.Response{}, err
	}
	return p.listPage(ctx, r, by, player, "reports", f, data)
}

// readReportForm reads the form of a report as the body that the API takes.
func readReportForm[T any](r *web.Request, f *wire.Faults) (in T) {
	body := map[string]any{"title": r.Value("title"), "text": r.Value("text"), "from": r.Value("from"), "to": r.Value("to")}
	wire.Bind(body, &in, f)
	return in
}

// addReport serves POST …/reports.
func (p pages) addReport(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	report := readReportForm[reportRequest](r, &faults).read(player.ID, &faults)
	report.ID = web.IDOrNone(r.Value(web.RequestField)) // a form that is sent twice names one id
	if err = faults.Err(); err == nil {
		report, err = p.AddReport(ctx, by, report)
	}
	if err == nil {
		return web.Redirect(pathOf(player.ID, "reports") + "?done=added&record=" + report.ID), nil
	}
	f, err := p.refused(r, err)
	if err != nil {
		return web.Response{}, err
	}
	return p.reportsPage(ctx, r, by, player, f)
}

// reportInPath returns the player and the report of the path.
func (p pages) reportInPath(ctx context.Context, r *web.Request, by actor.Actor) (player *approval.Player, report Report, err error) {
	if player, err = p.site.PlayerInPath(ctx, r, by); err != nil {
		return nil, Report{}, err
	}
	report, err = p.Report(ctx, by, player.ID, r.PathValue("record_id"))
	return player, report, err
}

// editReportPage serves GET …/reports/{record_id}.
func (p pages) editReportPage(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, report, err := p.reportInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	values := url.Values{"title": {report.Title}, "text": {report.Text}, "from": {string(report.From)}, "to": {string(report.To)}}
	return p.editReportForm(ctx, r, by, player, report, r.Restored(&web.Form{Values: values}))
}

func (p pages) editReportForm(ctx context.Context, r *web.Request, by actor.Actor, player *approval.Player, report Report, f *web.Form) (web.Response, error) {
	v := p.site.CoachView(r, "players", "report.title", by)
	v.TitleName = player.Student.FullName
	v.Form, v.Path = f, pathOf(player.ID, "reports")+"/"+report.ID
	v.Data = map[string]any{"Player": player, "Report": report}
	return web.FormPage("report_edit", v), nil
}

// editReport serves POST …/reports/{record_id}.
func (p pages) editReport(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, report, err := p.reportInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	var faults wire.Faults
	patch := readReportForm[ReportPatch](r, &faults)
	patch.check(p.Now(), &faults)
	if err = faults.Err(); err == nil {
		_, err = p.EditReport(ctx, by, player.ID, report.ID, patch)
	}
	if err == nil {
		return web.Redirect(pathOf(player.ID, "reports") + "?done=saved"), nil
	}
	f, err := p.refused(r, err)
	if err != nil {
		return web.Response{}, err
	}
	return p.editReportForm(ctx, r, by, player, report, f)
}
