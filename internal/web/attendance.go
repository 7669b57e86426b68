package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/team"
)

// maxSheetForm limits the form of a sheet: 500 players with notes.
const maxSheetForm = 1 << 20

// The fields of a sheet: the mark of a player, its note, and when the phone made the mark.
// version is the version that the page showed.
const (
	markField     = "mark-"
	noteField     = "note-"
	markedAtField = "at-"
)

// sheetRow is one player on the page of a sheet.
type sheetRow struct {
	ID, Name string
	Mark     team.Mark
	Note     string
	// At is when the phone made the mark, for a form that is shown again.
	At string
	// Left reports whether the player has left the batch. Other is the mark that is stored
	// meanwhile, if it differs.
	Left  bool
	Other team.Mark
}

// maxSheetRows is more players than a batch and those who left it have.
const maxSheetRows = 2 * team.MaxBatchPlayers

// chooseAttendance serves GET …/attendance?date=…: it goes to the sheet of the day, today if
// none is named.
func (p *Pages) chooseAttendance(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	b, err := p.loadBatch(ctx, r, by)
	if err != nil {
		return Response{}, err
	}
	date, err := team.ParseDate(r.Value("date"))
	if err != nil {
		date = team.DateOf(p.Now(), location(b.TimeZone))
	}
	return redirect(coachSheet(b.ID, date)), nil
}

// coachSheet returns the page of a sheet.
func coachSheet(batchID string, date team.Date) string {
	return coachBatch(batchID) + "/attendance/" + string(date)
}

// attendance serves GET …/attendance/{date}: every player with four marks.
func (p *Pages) attendance(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	form := &Form{}
	if r.draft != nil {
		form = &Form{Values: r.draft, Restored: true}
	}
	return p.sheetPage(ctx, r, by, form)
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

// markChoice is a mark with its letter and its word. The sheet has each once for every player,
// so they are looked up once for the page.
type markChoice struct {
	Mark        team.Mark
	Short, Text string
}

func (v *View) marks() []markChoice {
	var choices []markChoice
	for _, m := range team.Marks {
		choices = append(choices, markChoice{m, v.mustT("mark.short." + string(m)), v.mustT("mark." + string(m))})
	}
	return choices
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
	v, err := p.coachView(ctx, r, "batches", "attendance.title", by)
	if err != nil {
		return Response{}, err
	}
	v.Form, v.Path = f, coachSheet(batchID, date)
	today := team.DateOf(p.Now(), location(sheet.Batch.TimeZone))
	changed := 0
	rows := sheetRows(sheet, members, f.Values)
	for _, row := range rows {
		if row.Other != "" {
			changed++
		}
	}
	shown := strconv.FormatInt(sheet.Version, 10)
	if f.Restored { // the version that the coach saw
		shown = f.Value("version")
	}
	v.Data = map[string]any{
		"Version": shown, "Batch": sheet.Batch, "Sheet": sheet, "Rows": rows, "Marks": v.marks(), "Changed": changed,
		"Before": date.AddDays(-1), "After": date.AddDays(1), "Today": today, "Slots": sheet.Batch.Schedule.On(date),
		"Done": r.URL.Query().Get("done"), "Account": by.AccountID, "TooFar": date > today.AddDays(team.MaxDaysAhead),
	}
	resp := page("attendance", v)
	if len(f.Faults) > 0 {
		resp.Status = http.StatusUnprocessableEntity
	}
	return resp, nil
}

// sheetRows returns the players of the batch by name, then those who left it and have a mark.
// With values they have the marks of the form.
func sheetRows(sheet *team.Sheet, members []team.Membership, values url.Values) []sheetRow {
	stored := map[string]team.PlayerMark{}
	for _, m := range sheet.Marks {
		stored[m.PlayerID] = m
	}
	var rows []sheetRow
	for _, m := range members {
		rows = append(rows, sheetRow{ID: m.PlayerID, Name: m.StudentName})
	}
	for _, m := range sheet.Marks {
		if !slices.ContainsFunc(members, func(o team.Membership) bool { return o.PlayerID == m.PlayerID }) {
			rows = append(rows, sheetRow{ID: m.PlayerID, Name: m.StudentName, Left: true})
		}
	}
	for i := range rows {
		row := &rows[i]
		m := stored[row.ID]
		row.Mark, row.Note = m.Mark, m.Note
		if values == nil {
			continue
		}
		row.Mark, row.Note, row.At = team.Mark(values.Get(markField+row.ID)), values.Get(noteField+row.ID), values.Get(markedAtField+row.ID)
		if row.Mark != m.Mark {
			row.Other = m.Mark
		}
	}
	return rows
}

// saveAttendance serves POST …/attendance/{date}. The same form sent twice changes nothing
// more. If the sheet was changed elsewhere, the page shows both, and nothing is saved.
func (p *Pages) saveAttendance(ctx context.Context, r *Request, by actor.Actor) (Response, error) {
	batchID, date, err := sheetOf(r)
	if err != nil {
		return Response{}, err
	}
	if len(r.Form["player"]) > maxSheetRows {
		return Response{}, fault.New(fault.Malformed, "malformed_request", "A sheet has at most %d players.", maxSheetRows)
	}
	version, _ := strconv.ParseInt(r.Value("version"), 10, 64) // 0 matches no sheet that is taken
	f := &Form{Values: r.Form}
	marks := p.readMarks(r, f)
	if len(f.Faults) > 0 {
		return p.sheetPage(ctx, r, by, f)
	}
	_, err = p.Attendance.Replace(ctx, by, batchID, date, marks, team.Precondition{Given: true, Versions: []int64{version}})
	if err == nil {
		return redirect(coachSheet(batchID, date) + "?done=saved"), nil
	}
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return Response{}, err
	}
	v := p.view(r, "")
	switch {
	case known.Kind == fault.PreconditionFailed:
		f.Add("", v.mustT("attendance.changed"))
	case known.Kind == fault.Invalid:
		for _, field := range known.Fields {
			f.Add(p.markFault(v, field, marks))
		}
	case known.Kind == fault.Conflict, known.Kind == fault.Forbidden:
		f.Add("", p.errorText(r, err))
	default:
		return Response{}, err
	}
	return p.sheetPage(ctx, r, by, f)
}

// markFault returns the field and the text of a fault of a mark.
func (p *Pages) markFault(v *View, field fault.Field, marks []team.NewMark) (name, text string) {
	rest, ok := strings.CutPrefix(field.Pointer, "/marks/")
	index, _, _ := strings.Cut(rest, "/")
	if i, err := strconv.Atoi(index); ok && err == nil && i < len(marks) {
		name = markField + marks[i].PlayerID
	}
	return name, v.textOr("attendance.fault."+field.Code, field.Detail)
}

// readMarks reads the marks of the form in the order of its players. With rest=…, players
// without a mark get that one.
func (p *Pages) readMarks(r *Request, f *Form) []team.NewMark {
	rest := team.Mark(r.Value("rest"))
	var marks []team.NewMark
	for _, id := range r.Form["player"] {
		mark := team.Mark(r.Value(markField + id))
		if mark == "" && slices.Contains(team.Marks, rest) {
			mark = rest
			f.Values.Set(markField+id, string(rest))
		}
		if !slices.Contains(team.Marks, mark) {
			continue
		}
		note := r.Value(noteField + id)
		if utf8.RuneCountInString(note) > team.MaxMarkNote {
			f.Add(noteField+id, p.view(r, "").mustT("invalid.too_long"))
		}
		marks = append(marks, team.NewMark{PlayerID: id, Mark: mark, Note: &note, MarkedAt: p.markedAt(r.Value(markedAtField + id))})
	}
	return marks
}

// markedAt returns when the phone made a mark, or zero for now. A phone whose clock is ahead
// made it now.
func (p *Pages) markedAt(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.After(p.Now()) || t.Year() < 2000 {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
