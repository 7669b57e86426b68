package web

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// reportsPerPage is the number of reports on one page.
const reportsPerPage = 20

// thousands matches a number such as 1,500, which is 1500 to one person and 1.5 to another.
var thousands = regexp.MustCompile(`,\d{3}$`)

// readNumber reads a number with a point or a comma before the decimals. It refuses one that
// thousands matches.
func readNumber(text string) (json.Number, bool) {
	text = strings.TrimSpace(text)
	if thousands.MatchString(text) {
		return "", false
	}
	text = strings.Replace(text, ",", ".", 1)
	if _, err := strconv.ParseFloat(text, 64); err != nil || strings.ContainsAny(text, "xXpPiInN_") {
		return "", false
	}
	return json.Number(text), true
}

// reports serves GET /coach/players/{player_id}/reports.
func (p *Pages) reports(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, err := p.PlayerInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	return p.reportsPage(ctx, r, by, player, r.Restored(new(Form)))
}

func (p *Pages) reportsPage(ctx context.Context, r *Request, by actor.Actor, player *approval.Player, f *Form) (Response, error) {
	list, err := p.Records.Reports(ctx, by, player.ID, team.Page{After: idOrNone(r.Value("after")), Limit: reportsPerPage + 1})
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "players", "reports.title", by)
	if err != nil {
		return Response{}, err
	}
	path := coachPlayer(player.ID) + "/reports"
	next := ""
	if len(list) > reportsPerPage {
		list = list[:reportsPerPage]
		next = path + "?" + url.Values{"after": {list[reportsPerPage-1].ID}}.Encode()
	}
	v.Form, v.Path = f, path
	v.Data = map[string]any{
		"Player": player, "List": list, "Next": next, "RequestID": p.Messages.NewID(), "Done": v.TextOr("reports.done."+r.Value("done"), ""),
		"WholeHistory": p.WholeHistory, "Undo": p.UndoPath(r, path+"/", "/restore"),
	}
	return FormPage("reports", v), nil
}

// reportBody is the form of a report as the body that the API takes.
func reportBody(r *Request) map[string]any {
	return map[string]any{"title": r.Value("title"), "text": r.Value("text"), "from": r.Value("from"), "to": r.Value("to")}
}

// addReport serves POST …/reports.
func (p *Pages) addReport(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, err := p.PlayerInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	var faults wire.Faults
	var in input.Report
	wire.Bind(reportBody(r), &in, &faults)
	report := in.Read(player.ID, &faults)
	report.ID = idOrNone(r.Value(RequestField)) // a form that is sent twice names one id
	err = faults.Err()
	if err == nil {
		_, err = p.Records.Report(ctx, by, report)
	}
	if err == nil {
		return Redirect(coachPlayer(player.ID) + "/reports?done=added"), nil
	}
	f, err := p.refusedRecord(r, err)
	if err != nil {
		return Response{}, err
	}
	return p.reportsPage(ctx, r, by, player, f)
}

// editReportPage serves GET …/reports/{report_id}.
func (p *Pages) editReportPage(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, report, err := p.reportInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	values := url.Values{"title": {report.Title}, "text": {report.Text}, "from": {report.From}, "to": {report.To}}
	return p.editReportForm(ctx, r, by, player, report, r.Restored(&Form{Values: values}))
}

// reportInPath returns the player and the report that the path names.
func (p *Pages) reportInPath(ctx context.Context, r *Request, by actor.Actor) (*approval.Player, team.Report, error) {
	player, err := p.PlayerInPath(ctx, r, by)
	if err != nil {
		return nil, team.Report{}, err
	}
	id, err := r.PathID("report_id")
	if err != nil {
		return nil, team.Report{}, err
	}
	report, err := p.Records.OneReport(ctx, by, player.ID, id)
	return player, report, err
}

func (p *Pages) editReportForm(ctx context.Context, r *Request, by actor.Actor, player *approval.Player, report team.Report, f *Form) (Response, error) {
	v, err := p.CoachView(ctx, r, "players", "report.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, coachPlayer(player.ID)+"/reports/"+report.ID
	v.Data = map[string]any{"Player": player, "Report": report}
	return FormPage("report_edit", v), nil
}

// editReport serves POST …/reports/{report_id}.
func (p *Pages) editReport(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, report, err := p.reportInPath(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	var faults wire.Faults
	var in input.ReportPatch
	wire.Bind(reportBody(r), &in, &faults)
	patch := in.Read(&faults)
	err = faults.Err()
	if err == nil {
		_, err = p.Records.EditReport(ctx, by, player.ID, report.ID, patch)
	}
	if err == nil {
		return Redirect(coachPlayer(player.ID) + "/reports?done=saved"), nil
	}
	f, err := p.refusedRecord(r, err)
	if err != nil {
		return Response{}, err
	}
	return p.editReportForm(ctx, r, by, player, report, f)
}

// removedReport returns the player of the path, and the report as a removal.
func (p *Pages) removedReport(ctx context.Context, r *Request, by actor.Actor) (*approval.Player, Removal, error) {
	player, err := p.PlayerInPath(ctx, r, by)
	if err != nil {
		return nil, Removal{}, err
	}
	id, err := r.PathID("report_id")
	return player, Removal{
		List: coachPlayer(player.ID) + "/reports", ID: id, Typed: url.Values{"title": {""}, "text": {""}, "from": {""}, "to": {""}},
	}, err
}

// checkReport serves GET …/reports/{report_id}/delete.
func (p *Pages) checkReport(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, x, err := p.removedReport(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	report, err := p.Records.OneReport(ctx, by, player.ID, x.ID)
	if fault.IsMissing(err) {
		return Redirect(x.List), nil
	}
	if err != nil {
		return Response{}, err
	}
	return p.RemovalCheck(ctx, r, by, "players", "removal.report", report.Title, x)
}

// deleteReport serves POST …/reports/{report_id}/delete.
func (p *Pages) deleteReport(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, x, err := p.removedReport(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	return p.Remove(r, x, func() error { return p.Records.DeleteReport(ctx, by, player.ID, x.ID) })
}

// restoreReport serves POST …/reports/{report_id}/restore.
func (p *Pages) restoreReport(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	player, x, err := p.removedReport(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	return p.Undo(x, func() error { return p.Records.RestoreReport(ctx, by, player.ID, x.ID) }, func() bool {
		_, err := p.Records.OneReport(ctx, by, player.ID, x.ID)
		return err == nil
	})
}
