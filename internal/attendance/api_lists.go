package attendance

import (
	"context"
	"strconv"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// queryPeriod returns the days of the query parameters from and to.
func queryPeriod(m api.Meta, f *wire.Faults) Period {
	day := func(name string) (d team.Date) {
		if m.Query.Has(name) {
			d = readDate("/"+name, m.Query.Get(name), f)
		}
		return d
	}
	p := Period{day("from"), day("to")}
	if p.From != "" && p.To != "" && p.To < p.From {
		f.Add("/to", "invalid_value", "This must not be before from.")
	}
	return p
}

// sheetSummary is a sheet without its marks.
type sheetSummary struct {
	Date            string      `json:"date"`
	Version         int64       `json:"version"`
	OutsideSchedule bool        `json:"outside_schedule"`
	Counts          team.Counts `json:"counts"`
	UpdatedAt       string      `json:"updated_at"`
}

// listSheets serves GET /api/batches/{batch_id}/attendance.
func (h handlers) listSheets(ctx context.Context, r api.Request[api.NoBody], batchID string) (api.Response, error) {
	period, page := queryPeriod(r.Meta, &r.Faults), h.api.Page(r.Meta, &r.Faults)
	if err := h.checkBatch(ctx, r.Meta, batchID, r.Faults); err != nil {
		return api.Response{}, err
	}
	if api.PrefersCSV(r.Header) {
		return api.CSVResponse("sheets.csv", sheetTitles, func(ctx context.Context, row func(...string) error) error {
			return h.EachSheet(ctx, r.Caller.Actor, batchID, period, func(t team.SheetSummary) error { return row(sheetCells(t)...) })
		}), nil
	}
	sheets, err := h.Sheets(ctx, r.Caller.Actor, batchID, period, team.Date(page.After.ID), page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	convert := func(t team.SheetSummary) sheetSummary {
		return sheetSummary{string(t.Date), t.Version, t.OutsideSchedule, t.Counts.All(), wire.Timestamp(t.UpdatedAt)}
	}
	return endpoint.PageResponse(page, sheets, convert, func(t team.SheetSummary) api.Keyset { return api.Keyset{ID: string(t.Date)} }), nil
}

// sheetTitles are the titles of the CSV file of sheets. Each of team.Marks has a column with its count.
var sheetTitles = []string{"Date", "Outside schedule", "Present", "Absent", "Late", "Excused", "Updated at"}

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
	wire.List[any]
	Totals team.Counts   `json:"totals"`
	Months []MonthCounts `json:"months"`
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

func newAttended(by actor.Actor, m Attended) any {
	a := attendedResponse{m.BatchID, m.BatchName, string(m.Date), m.Mark, wire.Timestamp(m.MarkedAt), m.OutsideSchedule}
	if by.Role == actor.Coach {
		return coachAttendedResponse{a, wire.OrNull(m.Note)}
	}
	return a
}

// ofPlayer serves GET /api/players/{player_id}/attendance for the coach, and GET
// /api/me/players/{player_id}/attendance for a guardian or student.
func (h handlers) ofPlayer(ctx context.Context, r api.Request[api.NoBody], playerID string) (api.Response, error) {
	by := r.Caller.Actor
	period, page := queryPeriod(r.Meta, &r.Faults), h.api.Page(r.Meta, &r.Faults)
	if len(r.Faults) > 0 { // not_found and the approval come first
		if _, err := h.OfPlayer(ctx, by, playerID, Period{}, Attended{}, 1); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, r.Faults.Err()
	}
	if api.PrefersCSV(r.Header) {
		titles := []string{"Date", "Batch", "Mark"}
		if by.Role == actor.Coach {
			titles = append(titles, "Note")
		}
		return api.CSVResponse("attendance.csv", titles, func(ctx context.Context, row func(...string) error) error {
			return h.EachOfPlayer(ctx, by, playerID, period, func(m Attended) error {
				return row([]string{string(m.Date), m.BatchName, string(m.Mark), m.Note}[:len(titles)]...)
			})
		}), nil
	}
	a, err := h.OfPlayer(ctx, by, playerID, period, Attended{Date: team.Date(page.After.Day), BatchID: page.After.ID}, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	list := endpoint.PageResponse(page, a.Marks, func(m Attended) any { return newAttended(by, m) }, func(m Attended) api.Keyset {
		return api.Keyset{Day: string(m.Date), ID: m.BatchID}
	}).Body.(wire.List[any])
	return endpoint.OK(attendanceResponse{list, a.Counts(), append([]MonthCounts{}, a.Months...)}), nil
}
