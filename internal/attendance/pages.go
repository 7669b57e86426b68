package attendance

import (
	"context"
	"embed"
	"errors"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/web"
)

// Files are the templates and texts of the pages.
//
//go:embed templates/*.html texts.*.json
var Files embed.FS

// pages serves the pages about attendance.
type pages struct {
	*Service
	site *web.Pages
}

// Pages returns the pages about attendance for coaches and families.
func (s *Service) Pages(site *web.Pages) []web.Route {
	p := pages{s, site}
	const sheets = "/coach/batches/{batch_id}/attendance"
	routes := []web.Route{
		{Method: "GET", Pattern: sheets, Handle: site.SignedIn(actor.Coach, p.choose)},
		{Method: "GET", Pattern: sheets + "/{date}", Handle: site.SignedIn(actor.Coach, p.sheet)},
		{Method: "POST", Pattern: sheets + "/{date}", Handle: site.SignedIn(actor.Coach, p.save), LargeForm: maxSheetForm},
		{Method: "POST", Pattern: sheets + "/{date}/marks", Handle: site.SignedIn(actor.Coach, p.saveMarks), LargeForm: maxSheetForm},
		{Method: "GET", Pattern: "/coach/players/{player_id}/attendance", Handle: site.SignedIn(actor.Coach, p.ofPlayer)},
	}
	for _, role := range approval.Parties {
		routes = append(routes, web.Route{Method: "GET", Pattern: "/me/" + string(role) + "/players/{player_id}/attendance", Handle: site.SignedIn(role, p.ofFamily)})
	}
	return routes
}

// maxSheetForm limits the form of a sheet: 500 players with notes.
const maxSheetForm = 1 << 20

// choose serves GET …/attendance?date=…: it goes to the sheet of the day, today if
// none is named.
func (p pages) choose(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	b, err := store.BatchOf(ctx, p.DB, by.AccountID, r.PathValue("batch_id"))
	if err != nil {
		return web.Response{}, err
	}
	date, err := team.ParseDate(r.Value("date"))
	if err != nil {
		date = team.DateOf(p.Now(), team.Zone(b.TimeZone))
	}
	return web.Redirect(sheetPath(b.ID, date)), nil
}

// sheetPath returns the page of a sheet.
func sheetPath(batchID string, date team.Date) string {
	return "/coach/batches/" + batchID + "/attendance/" + string(date)
}

// sheet serves GET …/attendance/{date}: every player with four marks.
func (p pages) sheet(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.sheetPage(ctx, r, by, r.Restored(new(web.Form)))
}

// sheetOf returns the batch and the day of the path.
func sheetOf(r *web.Request) (batchID string, date team.Date, err error) {
	if date, err = team.ParseDate(r.PathValue("date")); err != nil {
		return "", "", fault.Missing()
	}
	return r.PathValue("batch_id"), date, nil
}

// sheetPage shows a sheet. The values of f, if any, replace the stored marks.
func (p pages) sheetPage(ctx context.Context, r *web.Request, by actor.Actor, f *web.Form) (web.Response, error) {
	batchID, date, err := sheetOf(r)
	if err != nil {
		return web.Response{}, err
	}
	sheet, members, err := p.Service.Sheet(ctx, by, batchID, date)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "batches", "attendance.title", by)
	v.TitleName = sheet.Batch.Name
	v.Form, v.Path = f, sheetPath(batchID, date)
	form, err := p.sheetForm(v, sheet, members)
	if err != nil {
		return web.Response{}, err
	}
	shown := strconv.FormatInt(sheet.Version, 10)
	if f.Restored { // the version that the coach saw
		shown = f.Value("version")
	}
	v.Data = map[string]any{
		"Version": shown, "Batch": sheet.Batch, "Sheet": sheet, "Form": form,
		"Before": nextDay(sheet.Batch.Schedule, date, -1), "After": nextDay(sheet.Batch.Schedule, date, 1), "Slots": sheet.Batch.Schedule.On(date),
		"Done": r.URL.Query().Get("done"),
	}
	return web.FormPage("attendance", v), nil
}

// nextDay returns the next day of the schedule after date, or before it if step is -1. Without a
// schedule it is the next day of the calendar.
func nextDay(schedule team.Schedule, date team.Date, step int) team.Date {
	for n := step; n*step <= 7; n += step {
		if len(schedule.On(date.AddDays(n))) > 0 {
			return date.AddDays(n)
		}
	}
	return date.AddDays(step)
}

// save serves POST …/attendance/{date}. The same form sent twice changes nothing
// more. If the sheet was changed elsewhere, the page shows both, and nothing is saved.
func (p pages) save(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	batchID, date, err := sheetOf(r)
	if err != nil {
		return web.Response{}, err
	}
	ids := strings.Fields(r.Value(playersField))
	if len(ids) > maxSheetRows {
		return web.Response{}, fault.New(fault.Malformed, "malformed_request", "A sheet has at most %d players.", maxSheetRows)
	}
	version, _ := strconv.ParseInt(r.Value("version"), 10, 64) // 0 matches no sheet that is taken
	f := &web.Form{Values: r.Form}
	marks := p.readMarks(r, ids, f)
	if len(f.Faults) > 0 {
		return p.sheetPage(ctx, r, by, f)
	}
	_, err = p.Replace(ctx, by, batchID, date, marks, Precondition{Given: true, Versions: []int64{version}})
	if err == nil {
		return web.Redirect(sheetPath(batchID, date) + "?done=saved"), nil
	}
	v := p.site.NewView(r, "")
	known, _ := errors.AsType[*fault.Error](err)
	switch fault.KindOf(err) {
	case fault.PreconditionFailed:
		f.Add("", v.MustT("attendance.changed"))
	case fault.Invalid:
		for _, field := range known.Fields {
			f.Add(markFault(v, field, ids, marks))
		}
	case fault.Conflict, fault.Forbidden:
		p.site.AddError(r, f, "", err)
	default:
		return web.Response{}, err
	}
	return p.sheetPage(ctx, r, by, f)
}

// marksPerPage is the number of marks on a page of a family.
const marksPerPage = 60

// ofFamily serves GET …/attendance: the marks of the player, and the totals by month.
func (p pages) ofFamily(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	return p.site.FamilyPage(ctx, r, by, "attended", "", func(d web.Question) (map[string]any, error) {
		data, err := p.attended(ctx, r, by, d.ID)
		if err == nil {
			data["Schedule"] = d.Path + "/schedule"
		}
		return data, err
	})
}

// ofPlayer serves GET /coach/players/{player_id}/attendance: the same for the coach,
// with notes.
func (p pages) ofPlayer(ctx context.Context, r *web.Request, by actor.Actor) (web.Response, error) {
	player, err := p.site.PlayerInPath(ctx, r, by)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.CoachView(r, "players", "attended.title", by)
	v.TitleName = player.Student.FullName
	data, err := p.attended(ctx, r, by, player.ID)
	if err != nil {
		return web.Response{}, err
	}
	data["Back"], data["Student"] = "/coach/players/"+player.ID, player.Student.FullName
	v.Data = data
	return web.Page("attended", v), nil
}

// attended reads a page of the marks of a player.
func (p pages) attended(ctx context.Context, r *web.Request, by actor.Actor, playerID string) (map[string]any, error) {
	after := Attended{BatchID: r.Value("batch")}
	if date, err := team.ParseDate(r.Value("before")); err == nil {
		after.Date = date
	}
	a, err := p.OfPlayer(ctx, by, playerID, Period{}, after, marksPerPage+1)
	if err != nil {
		return nil, err
	}
	data := map[string]any{"Months": a.Months, "Marks": a.Marks}
	if after.Date == "" {
		data["Chart"] = newChart(a.Marks)
	}
	if len(a.Marks) > marksPerPage {
		data["Marks"], data["Last"] = a.Marks[:marksPerPage], a.Marks[marksPerPage-1]
	}
	return data, nil
}
