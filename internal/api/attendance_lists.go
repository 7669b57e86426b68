package api

import (
	"context"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// queryPeriod returns the days of the query parameters from and to.
func queryPeriod(m Meta, f *wire.Faults) team.Period {
	var p team.Period
	if m.Query.Has("from") {
		p.From = readDate("/from", m.Query.Get("from"), f)
	}
	if m.Query.Has("to") {
		p.To = readDate("/to", m.Query.Get("to"), f)
	}
	if err := p.Check(); err != nil {
		f.Add("/to", "invalid_value", "This must not be before from.")
	}
	return p
}

// sheetSummary is a sheet without its marks.
type sheetSummary struct {
	Date            string            `json:"date"`
	Version         int64             `json:"version"`
	OutsideSchedule bool              `json:"outside_schedule"`
	Counts          map[team.Mark]int `json:"counts"`
	UpdatedAt       string            `json:"updated_at"`
}

// listSheets serves GET /api/batches/{batch_id}/attendance.
func (s *Server) listSheets(ctx context.Context, r Request[NoBody], batchID string) (Response, error) {
	f := r.Faults
	period := queryPeriod(r.Meta, &f)
	page := s.Page(r.Meta, &f)
	if err := s.checkBatch(ctx, r.Meta, batchID, f); err != nil {
		return Response{}, err
	}
	if PrefersCSV(r.Header) {
		return CSVResponse("sheets.csv", sheetTitles(), func(ctx context.Context, row func(...string) error) error {
			return s.Attendance.EachSheet(ctx, r.Caller.Actor, batchID, period, func(t team.SheetSummary) error { return row(sheetCells(t)...) })
		}), nil
	}
	sheets, err := s.Attendance.Sheets(ctx, r.Caller.Actor, batchID, period, team.Date(page.After.ID), page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	convert := func(t team.SheetSummary) sheetSummary {
		return sheetSummary{string(t.Date), t.Version, t.OutsideSchedule, newCounts(t.Counts), wire.Timestamp(t.UpdatedAt)}
	}
	return endpoint.PageResponse(page, sheets, convert, func(t team.SheetSummary) Keyset { return Keyset{ID: string(t.Date)} }), nil
}

// sheetTitles returns the header of the CSV file of sheets. Each mark has a column with its count.
func sheetTitles() []string {
	titles := []string{"Date", "Outside schedule"}
	for _, mark := range team.Marks {
		titles = append(titles, strings.ToUpper(string(mark[:1]))+string(mark[1:]))
	}
	return append(titles, "Updated at")
}

// sheetCells returns the row of a sheet under sheetTitles.
func sheetCells(t team.SheetSummary) []string {
	cells := []string{string(t.Date), strconv.FormatBool(t.OutsideSchedule)}
	for _, mark := range team.Marks {
		cells = append(cells, strconv.Itoa(t.Counts[mark]))
	}
	return append(cells, wire.Timestamp(t.UpdatedAt))
}

// attendanceResponse is the PlayerAttendance of openapi.yaml.
type attendanceResponse struct {
	Items      []any             `json:"items"`
	NextCursor *string           `json:"next_cursor"`
	Totals     map[team.Mark]int `json:"totals"`
	Months     []monthResponse   `json:"months"`
}

type monthResponse struct {
	Month  string            `json:"month"`
	Totals map[team.Mark]int `json:"totals"`
}

// attendedResponse is a mark as a family sees it.
type attendedResponse struct {
	BatchID         string    `json:"batch_id"`
	BatchName       string    `json:"batch_name"`
	Date            string    `json:"date"`
	Mark            team.Mark `json:"mark"`
	MarkedAt        string    `json:"marked_at"`
	OutsideSchedule bool      `json:"outside_schedule"`
}

// coachAttendedResponse is a mark as the coach sees it.
type coachAttendedResponse struct {
	attendedResponse
	Note *string `json:"note"`
}

func newAttendanceMark(by actor.Actor, m team.AttendanceMark) any {
	a := attendedResponse{m.BatchID, m.BatchName, string(m.Date), m.Mark, wire.Timestamp(m.MarkedAt), m.OutsideSchedule}
	if by.Role == actor.Coach {
		return coachAttendedResponse{a, wire.OrNull(m.Note)}
	}
	return a
}

// playerAttendance serves GET /api/players/{player_id}/attendance for the coach, and GET
// /api/me/players/{player_id}/attendance for a guardian or student.
func (s *Server) playerAttendance(ctx context.Context, r Request[NoBody], playerID string) (Response, error) {
	by := r.Caller.Actor
	f := r.Faults
	period := queryPeriod(r.Meta, &f)
	page := s.Page(r.Meta, &f)
	if len(f) > 0 { // not_found and the approval come first
		if _, err := s.Attendance.OfPlayer(ctx, by, playerID, team.Period{}, team.AttendanceKey{}, 1); err != nil {
			return Response{}, err
		}
		return Response{}, f.Err()
	}
	if PrefersCSV(r.Header) {
		titles := []string{"Date", "Batch", "Mark"}
		if by.Role == actor.Coach {
			titles = append(titles, "Note")
		}
		return CSVResponse("attendance.csv", titles, func(ctx context.Context, row func(...string) error) error {
			return s.Attendance.EachOfPlayer(ctx, by, playerID, period, func(m team.AttendanceMark) error {
				return row([]string{string(m.Date), m.BatchName, string(m.Mark), m.Note}[:len(titles)]...)
			})
		}), nil
	}
	a, err := s.Attendance.OfPlayer(ctx, by, playerID, period, team.AttendanceKey{Date: team.Date(page.After.Day), BatchID: page.After.ID}, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	body := attendanceResponse{Items: []any{}, Totals: newCounts(a.Counts()), Months: []monthResponse{}}
	if len(a.Marks) > page.Limit() {
		a.Marks = a.Marks[:page.Limit()]
		last := a.Marks[page.Limit()-1]
		next := page.Cursor(Keyset{Day: string(last.Date), ID: last.BatchID})
		body.NextCursor = &next
	}
	for _, m := range a.Marks {
		body.Items = append(body.Items, newAttendanceMark(by, m))
	}
	for _, m := range a.Months {
		body.Months = append(body.Months, monthResponse{m.Month, newCounts(m.Counts)})
	}
	return endpoint.OK(body), nil
}
