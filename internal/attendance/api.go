package attendance

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// handlers serves attendance as JSON.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of the attendance of batches and of players.
func (s *Service) Operations(a *api.Server) []api.Route {
	const sheet = "/api/batches/{batch_id}/attendance/{date}"
	h := handlers{s, a}
	return []api.Route{
		{Method: "GET", Pattern: "/api/batches/{batch_id}/attendance", Handle: endpoint.HandleID("batch_id", h.listSheets), Authorize: api.CoachOnly, Alternative: api.MediaCSV, Query: endpoint.Paged("from", "to")},
		{Method: "GET", Pattern: sheet, Handle: endpoint.HandleID("batch_id", h.getSheet), Authorize: api.CoachOnly, Alternative: api.MediaCSV},
		{Method: "PUT", Pattern: sheet, Handle: endpoint.HandleID("batch_id", h.change(s.Replace)), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "PATCH", Pattern: sheet, Handle: endpoint.HandleID("batch_id", h.change(s.Merge)), Authorize: api.CoachOnly, Body: endpoint.MergePatch},
		{Method: "GET", Pattern: sheet + "/superseded", Handle: endpoint.HandleID("batch_id", h.listSuperseded), Authorize: api.CoachOnly, Alternative: api.MediaCSV},
		{Method: "GET", Pattern: "/api/players/{player_id}/attendance", Handle: endpoint.HandleID("player_id", h.ofPlayer), Authorize: api.CoachOnly, Alternative: api.MediaCSV, Query: endpoint.Paged("from", "to")},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/attendance", Handle: endpoint.HandleID("player_id", h.ofPlayer), Authorize: api.PartyOnly, Alternative: api.MediaCSV, Query: endpoint.Paged("from", "to")},
	}
}

// sheetResponse is the AttendanceSheet of openapi.yaml.
type sheetResponse struct {
	BatchID         string         `json:"batch_id"`
	Date            string         `json:"date"`
	Version         int64          `json:"version"`
	Marks           []markResponse `json:"marks"`
	OutsideSchedule bool           `json:"outside_schedule"`
	TakenAt         *string        `json:"taken_at"`
	UpdatedAt       *string        `json:"updated_at"`
	Players         []sheetPlayer  `json:"players,omitempty"`
	Counts          team.Counts    `json:"counts"`
}

// markResponse has the members of markRequest, so that a sheet can be sent back.
type markResponse struct {
	PlayerID string    `json:"player_id"`
	Mark     team.Mark `json:"mark"`
	Note     *string   `json:"note"`
	MarkedAt string    `json:"marked_at"`
}

func newMarkResponse(m PlayerMark) markResponse {
	return markResponse{m.PlayerID, m.Mark, wire.OrNull(m.Note), wire.Timestamp(m.MarkedAt)}
}

type sheetPlayer struct {
	PlayerID    string `json:"player_id"`
	StudentName string `json:"student_name"`
	InBatch     bool   `json:"in_batch"`
	CannotCome  bool   `json:"cannot_come"`
}

func newSheetResponse(s *Sheet) sheetResponse {
	a := sheetResponse{
		BatchID: s.Batch.ID, Date: string(s.Date), Version: s.Version, Marks: make([]markResponse, len(s.Marks)), OutsideSchedule: s.OutsideSchedule,
		TakenAt: wire.TimestampOrNull(s.TakenAt), UpdatedAt: wire.TimestampOrNull(s.UpdatedAt), Counts: s.Counts().All(),
	}
	for i, m := range s.Marks {
		a.Marks[i] = newMarkResponse(m)
	}
	return a
}

func readDate(at, text string, f *wire.Faults) team.Date {
	d, err := team.ParseDate(text)
	if err != nil {
		f.Add(at, "invalid_date", "Write a day of this century as YYYY-MM-DD.")
	}
	return d
}

// checkBatch returns the faults of a request that names a batch, as an error. A batch that is
// not the caller's is not_found, whatever the faults.
func (h handlers) checkBatch(ctx context.Context, m api.Meta, batchID string, f wire.Faults) error {
	if len(f) > 0 {
		if _, err := store.BatchOf(ctx, h.DB, m.Caller.AccountID, batchID); err != nil {
			return err
		}
	}
	return f.Err()
}

// getSheet serves GET /api/batches/{batch_id}/attendance/{date}.
func (h handlers) getSheet(ctx context.Context, r api.Request[api.NoBody], batchID string) (api.Response, error) {
	date := readDate("/date", r.PathPart("date"), &r.Faults)
	if err := h.checkBatch(ctx, r.Meta, batchID, r.Faults); err != nil {
		return api.Response{}, err
	}
	sheet, members, err := h.Service.Sheet(ctx, r.Caller.Actor, batchID, date)
	if err != nil {
		return api.Response{}, err
	}
	rows := sheet.rows(members)
	if api.PrefersCSV(r.Header) {
		return api.CSVResponse("attendance-"+string(date)+".csv", []string{"Batch", "Date", "Student name", "Mark", "Note", "Marked at"}, func(_ context.Context, row func(...string) error) error {
			for _, m := range rows { // also those without a mark
				at := ""
				if m.Mark != "" {
					at = wire.Timestamp(m.MarkedAt)
				}
				if err := row(sheet.Batch.Name, string(date), m.StudentName, string(m.Mark), m.Note, at); err != nil {
					return err
				}
			}
			return nil
		}).WithHeader("ETag", VersionTag(sheet.Version)), nil
	}
	body := newSheetResponse(sheet)
	for _, m := range rows {
		body.Players = append(body.Players, sheetPlayer{m.PlayerID, m.StudentName, m.inBatch, sheet.CannotCome[m.PlayerID]})
	}
	return endpoint.OK(body).WithHeader("ETag", VersionTag(sheet.Version)), nil
}

// sheetRequest is the AttendanceRequest of openapi.yaml.
type sheetRequest struct {
	Marks   []markRequest `json:"marks" rule:"required,max=500"`
	Version *int          `json:"version" rule:"min=0"`
}

type markRequest struct {
	PlayerID string           `json:"player_id" rule:"required,id"`
	Mark     string           `json:"mark" rule:"required,oneof=present|absent|late|excused"`
	Note     wire.Opt[string] `json:"note" rule:"lines,max=500"`
	MarkedAt wire.Opt[string] `json:"marked_at" rule:"min=1,max=64"`
}

func (in sheetRequest) read(match Precondition, f *wire.Faults) []NewMark {
	if in.Version != nil && match.Given && !match.Any && !match.Has(int64(*in.Version)) {
		f.Add("/version", "invalid_value", "This is another version than that of If-Match.")
	}
	marks := make([]NewMark, len(in.Marks))
	for i, m := range in.Marks {
		marks[i] = NewMark{PlayerID: m.PlayerID, Mark: team.Mark(m.Mark)}
		if m.Note.Set {
			marks[i].Note = &m.Note.Value
		}
		if at := m.MarkedAt.Some(); at != nil {
			marks[i].MarkedAt = readTime(wire.PointTo("/marks", i)+"/marked_at", *at, f)
		}
	}
	return marks
}

// readTime reads an RFC 3339 time of this century, in the precision of the database.
func readTime(at, text string, f *wire.Faults) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 2000 || t.Year() > 2200 {
		f.Add(at, "invalid_time", "Write a time as in 2026-03-02T17:45:00Z.")
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// change serves PUT and PATCH /api/batches/{batch_id}/attendance/{date}.
func (h handlers) change(change Change) func(context.Context, api.Request[sheetRequest], string) (api.Response, error) {
	return func(ctx context.Context, r api.Request[sheetRequest], batchID string) (api.Response, error) {
		match := ParsePrecondition(r.Header.Values("If-Match"))
		date, marks := readDate("/date", r.PathPart("date"), &r.Faults), r.Body.read(match, &r.Faults)
		if err := h.checkBatch(ctx, r.Meta, batchID, r.Faults); err != nil {
			return api.Response{}, err
		}
		sheet, err := change(ctx, r.Caller.Actor, batchID, date, marks, match)
		if sheet == nil {
			return api.Response{}, err
		}
		body, tag := newSheetResponse(sheet), http.Header{"Etag": {VersionTag(sheet.Version)}}
		if refused, ok := errors.AsType[*fault.Error](err); ok {
			return api.Response{Header: tag}, refused.With("sheet", body)
		}
		return api.Response{Header: tag, Body: body}, err
	}
}

// supersededMark is a mark that no longer counts.
type supersededMark struct {
	markResponse
	RecordedAt string  `json:"recorded_at"`
	AccountID  string  `json:"account_id"`
	SessionID  *string `json:"session_id"`
}

// listSuperseded serves GET /api/batches/{batch_id}/attendance/{date}/superseded.
func (h handlers) listSuperseded(ctx context.Context, r api.Request[api.NoBody], batchID string) (api.Response, error) {
	date := readDate("/date", r.PathPart("date"), &r.Faults)
	if err := h.checkBatch(ctx, r.Meta, batchID, r.Faults); err != nil {
		return api.Response{}, err
	}
	marks, err := h.Superseded(ctx, r.Caller.Actor, batchID, date)
	if err != nil {
		return api.Response{}, err
	}
	if api.PrefersCSV(r.Header) {
		return api.CSVResponse("superseded.csv", []string{"Player", "Mark", "Note", "Marked at", "Recorded at", "Account", "Session"}, func(_ context.Context, row func(...string) error) error {
			for _, m := range marks {
				if err := row(m.PlayerID, string(m.Mark), m.Note, wire.Timestamp(m.MarkedAt), wire.Timestamp(m.RecordedAt), m.Account, m.Session); err != nil {
					return err
				}
			}
			return nil
		}), nil
	}
	list := wire.List[supersededMark]{Items: []supersededMark{}}
	for _, m := range marks {
		list.Items = append(list.Items, supersededMark{newMarkResponse(m), wire.Timestamp(m.RecordedAt), m.Account, wire.OrNull(m.Session)})
	}
	return endpoint.OK(list), nil
}
