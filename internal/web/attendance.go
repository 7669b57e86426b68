package web

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// maxSheetForm limits the form of a sheet: 500 players with notes.
const maxSheetForm = 1 << 20

// chooseAttendance serves GET …/attendance?date=…: it goes to the sheet of the day, today if
// none is named.
func (p *Pages) chooseAttendance(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	b, err := p.loadBatch(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	date, err := team.ParseDate(r.Value("date"))
	if err != nil {
		date = team.DateOf(p.Now(), team.Zone(b.TimeZone))
	}
	return Redirect(coachSheet(b.ID, date)), nil
}

// coachSheet returns the page of a sheet.
func coachSheet(batchID string, date team.Date) string {
	return coachBatch(batchID) + "/attendance/" + string(date)
}

// attendance serves GET …/attendance/{date}: every player with four marks.
func (p *Pages) attendance(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	return p.sheetPage(ctx, r, by, r.Restored(new(Form)))
}

// sheetOf returns the batch and the day of the path.
func sheetOf(r *Request) (batchID string, date team.Date, err error) {
	if batchID, err = r.PathID("batch_id"); err != nil {
		return "", "", err
	}
	if date, err = team.ParseDate(r.PathValue("date")); err != nil {
		return "", "", fault.Missing()
	}
	return batchID, date, nil
}

// sheetPage shows a sheet. The values of f, if any, replace the stored marks.
func (p *Pages) sheetPage(ctx context.Context, r *Request, by actor.Actor, f *Form) (Response, error) {
	batchID, date, err := sheetOf(r)
	if err != nil {
		return Response{}, err
	}
	sheet, members, err := p.Attendance.Sheet(ctx, by, batchID, date)
	if err != nil {
		return Response{}, err
	}
	v, err := p.CoachView(ctx, r, "batches", "attendance.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, coachSheet(batchID, date)
	today := team.DateOf(p.Now(), team.Zone(sheet.Batch.TimeZone))
	form, err := p.sheetForm(v, sheet, members)
	if err != nil {
		return Response{}, err
	}
	shown := strconv.FormatInt(sheet.Version, 10)
	if f.Restored { // the version that the coach saw
		shown = f.Value("version")
	}
	v.Data = map[string]any{
		"Version": shown, "Batch": sheet.Batch, "Sheet": sheet, "Form": form,
		"Before": date.AddDays(-1), "After": date.AddDays(1), "Today": today, "Slots": sheet.Batch.Schedule.On(date),
		"Done": r.URL.Query().Get("done"), "Account": by.AccountID, "TooFar": date > today.AddDays(team.MaxDaysAhead),
	}
	return FormPage("attendance", v), nil
}

// saveAttendance serves POST …/attendance/{date}. The same form sent twice changes nothing
// more. If the sheet was changed elsewhere, the page shows both, and nothing is saved.
func (p *Pages) saveAttendance(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	batchID, date, err := sheetOf(r)
	if err != nil {
		return Response{}, err
	}
	ids := strings.Fields(r.Value(playersField))
	if len(ids) > maxSheetRows {
		return Response{}, fault.New(fault.Malformed, "malformed_request", "A sheet has at most %d players.", maxSheetRows)
	}
	version, _ := strconv.ParseInt(r.Value("version"), 10, 64) // 0 matches no sheet that is taken
	f := &Form{Values: r.Form}
	marks := p.readMarks(r, ids, f)
	if len(f.Faults) > 0 {
		return p.sheetPage(ctx, r, by, f)
	}
	_, err = p.Attendance.Replace(ctx, by, batchID, date, marks, team.Precondition{Given: true, Versions: []int64{version}})
	if err == nil {
		return Redirect(coachSheet(batchID, date) + "?done=saved"), nil
	}
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return Response{}, err
	}
	v := p.NewView(r, "")
	switch {
	case known.Kind == fault.PreconditionFailed:
		f.Add("", v.MustT("attendance.changed"))
	case known.Kind == fault.Invalid:
		for _, field := range known.Fields {
			f.Add(markFault(v, field, ids, marks))
		}
	case known.Kind == fault.Conflict, known.Kind == fault.Forbidden:
		p.AddError(r, f, "", err)
	default:
		return Response{}, err
	}
	return p.sheetPage(ctx, r, by, f)
}
