package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// attendanceRoutes are the attendance of batches and of players.
func (s *Server) attendanceRoutes() []Route {
	const sheet = "/api/batches/{batch_id}/attendance/{date}"
	return []Route{
		{Method: "GET", Pattern: "/api/batches/{batch_id}/attendance", Handle: endpoint.HandleID("batch_id", s.listSheets), Authorize: CoachOnly, Alternative: MediaCSV, Query: endpoint.Paged("from", "to")},
		{Method: "GET", Pattern: sheet, Handle: endpoint.HandleID("batch_id", s.getSheet), Authorize: CoachOnly, Alternative: MediaCSV},
		{Method: "PUT", Pattern: sheet, Handle: endpoint.HandleID("batch_id", s.replaceSheet), Authorize: CoachOnly, Body: endpoint.JSON},
		{Method: "PATCH", Pattern: sheet, Handle: endpoint.HandleID("batch_id", s.mergeSheet), Authorize: CoachOnly, Body: endpoint.MergePatch},
		{Method: "GET", Pattern: sheet + "/superseded", Handle: endpoint.HandleID("batch_id", s.listSuperseded), Authorize: CoachOnly, Alternative: MediaCSV},
		{Method: "GET", Pattern: "/api/players/{player_id}/attendance", Handle: endpoint.HandleID("player_id", s.playerAttendance), Authorize: CoachOnly, Alternative: MediaCSV, Query: endpoint.Paged("from", "to")},
		{Method: "GET", Pattern: "/api/me/players/{player_id}/attendance", Handle: endpoint.HandleID("player_id", s.playerAttendance), Authorize: PartyOnly, Alternative: MediaCSV, Query: endpoint.Paged("from", "to")},
	}
}

// sheetResponse is the AttendanceSheet of openapi.yaml.
type sheetResponse struct {
	BatchID         string            `json:"batch_id"`
	Date            string            `json:"date"`
	Version         int64             `json:"version"`
	Marks           []markResponse    `json:"marks"`
	OutsideSchedule bool              `json:"outside_schedule"`
	TakenAt         *string           `json:"taken_at"`
	UpdatedAt       *string           `json:"updated_at"`
	Players         []sheetPlayer     `json:"players,omitempty"`
	Counts          map[team.Mark]int `json:"counts"`
}

// markResponse has the members of markRequest, so that a sheet can be sent back.
type markResponse struct {
	PlayerID string    `json:"player_id"`
	Mark     team.Mark `json:"mark"`
	Note     *string   `json:"note"`
	MarkedAt string    `json:"marked_at"`
}

type sheetPlayer struct {
	PlayerID    string `json:"player_id"`
	StudentName string `json:"student_name"`
	InBatch     bool   `json:"in_batch"`
}

func newSheetResponse(s *team.Sheet) sheetResponse {
	a := sheetResponse{
		BatchID: s.Batch.ID, Date: string(s.Date), Version: s.Version, Marks: make([]markResponse, len(s.Marks)), OutsideSchedule: s.OutsideSchedule,
		TakenAt: wire.TimestampOrNull(s.TakenAt), UpdatedAt: wire.TimestampOrNull(s.UpdatedAt), Counts: newCounts(s.Counts()),
	}
	for i, m := range s.Marks {
		a.Marks[i] = markResponse{m.PlayerID, m.Mark, wire.OrNull(m.Note), wire.Timestamp(m.MarkedAt)}
	}
	return a
}

// newCounts returns the counts of every mark.
func newCounts(c team.Counts) map[team.Mark]int {
	all := map[team.Mark]int{}
	for _, mark := range team.Marks {
		all[mark] = c[mark]
	}
	return all
}

// sheetPlayers lists the players of the batch by name, then those who left it and have a mark.
func sheetPlayers(s *team.Sheet, members []team.Membership) []sheetPlayer {
	players := make([]sheetPlayer, 0, len(members))
	listed := map[string]bool{}
	for _, m := range members {
		listed[m.PlayerID] = true
		players = append(players, sheetPlayer{m.PlayerID, m.StudentName, true})
	}
	for _, m := range s.Marks {
		if !listed[m.PlayerID] {
			players = append(players, sheetPlayer{m.PlayerID, m.StudentName, false})
		}
	}
	return players
}

// sheetDate returns the day in the path, or a fault.
func sheetDate(m Meta, f *wire.Faults) team.Date { return readDate("/date", m.PathPart("date"), f) }

func readDate(at, text string, f *wire.Faults) team.Date {
	d, err := team.ParseDate(text)
	if err != nil {
		f.Add(at, "invalid_date", "Write a day of this century as YYYY-MM-DD.")
	}
	return d
}

// checkBatch returns the faults of a request that names a batch, as an error. A batch that is
// not the caller's is not_found, whatever the faults.
func (s *Server) checkBatch(ctx context.Context, m Meta, batchID string, f wire.Faults) error {
	if len(f) == 0 {
		return nil
	}
	if _, err := s.Batches.Batch(ctx, m.Caller.Actor, batchID); err != nil {
		return err
	}
	return f.Err()
}

// getSheet serves GET /api/batches/{batch_id}/attendance/{date}.
func (s *Server) getSheet(ctx context.Context, r Request[NoBody], batchID string) (Response, error) {
	f := r.Faults
	date := sheetDate(r.Meta, &f)
	if err := s.checkBatch(ctx, r.Meta, batchID, f); err != nil {
		return Response{}, err
	}
	sheet, members, err := s.Attendance.Sheet(ctx, r.Caller.Actor, batchID, date)
	if err != nil {
		return Response{}, err
	}
	players := sheetPlayers(sheet, members)
	if PrefersCSV(r.Header) {
		return CSVResponse("attendance-"+string(date)+".csv", []string{"Batch", "Date", "Student name", "Mark", "Note", "Marked at"}, func(_ context.Context, row func(...string) error) error {
			return eachSheetRow(sheet, players, row)
		}).WithHeader("ETag", team.VersionTag(sheet.Version)), nil
	}
	body := newSheetResponse(sheet)
	body.Players = players
	return endpoint.OK(body).WithHeader("ETag", team.VersionTag(sheet.Version)), nil
}

// eachSheetRow calls row with the cells of each player, also of those without a mark.
func eachSheetRow(sheet *team.Sheet, players []sheetPlayer, row func(...string) error) error {
	marks := map[string]team.PlayerMark{}
	for _, m := range sheet.Marks {
		marks[m.PlayerID] = m
	}
	for _, p := range players {
		m, marked := marks[p.PlayerID]
		at := ""
		if marked {
			at = wire.Timestamp(m.MarkedAt)
		}
		if err := row(sheet.Batch.Name, string(sheet.Date), p.StudentName, string(m.Mark), m.Note, at); err != nil {
			return err
		}
	}
	return nil
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

func (in sheetRequest) read(match team.Precondition, f *wire.Faults) []team.NewMark {
	if in.Version != nil && match.Given && !match.Any && !match.Has(int64(*in.Version)) {
		f.Add("/version", "invalid_value", "This is another version than that of If-Match.")
	}
	marks := make([]team.NewMark, len(in.Marks))
	for i, m := range in.Marks {
		marks[i] = team.NewMark{PlayerID: m.PlayerID, Mark: team.Mark(m.Mark)}
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

// replaceSheet serves PUT /api/batches/{batch_id}/attendance/{date}.
func (s *Server) replaceSheet(ctx context.Context, r Request[sheetRequest], batchID string) (Response, error) {
	return s.changeSheet(ctx, r, batchID, s.Attendance.Replace)
}

// mergeSheet serves PATCH /api/batches/{batch_id}/attendance/{date}.
func (s *Server) mergeSheet(ctx context.Context, r Request[sheetRequest], batchID string) (Response, error) {
	return s.changeSheet(ctx, r, batchID, s.Attendance.Merge)
}

func (s *Server) changeSheet(ctx context.Context, r Request[sheetRequest], batchID string, change team.ChangeSheet) (Response, error) {
	f := r.Faults
	match := team.ParsePrecondition(r.Header.Values("If-Match"))
	date, marks := sheetDate(r.Meta, &f), r.Body.read(match, &f)
	if err := s.checkBatch(ctx, r.Meta, batchID, f); err != nil {
		return Response{}, err
	}
	sheet, err := change(ctx, r.Caller.Actor, batchID, date, marks, match)
	if sheet == nil {
		return Response{}, err
	}
	body, tag := newSheetResponse(sheet), http.Header{"Etag": {team.VersionTag(sheet.Version)}}
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return Response{Header: tag}, refused.With("sheet", body)
	}
	return Response{Header: tag, Body: body}, err
}

// supersededMark is a mark that no longer counts.
type supersededMark struct {
	markResponse
	RecordedAt string  `json:"recorded_at"`
	AccountID  string  `json:"account_id"`
	SessionID  *string `json:"session_id"`
}

var supersededTitles = []string{"Player", "Mark", "Note", "Marked at", "Recorded at", "Account", "Session"}

// listSuperseded serves GET /api/batches/{batch_id}/attendance/{date}/superseded.
func (s *Server) listSuperseded(ctx context.Context, r Request[NoBody], batchID string) (Response, error) {
	f := r.Faults
	date := sheetDate(r.Meta, &f)
	if err := s.checkBatch(ctx, r.Meta, batchID, f); err != nil {
		return Response{}, err
	}
	marks, err := s.Attendance.Superseded(ctx, r.Caller.Actor, batchID, date)
	if err != nil {
		return Response{}, err
	}
	if PrefersCSV(r.Header) {
		return CSVResponse("superseded.csv", supersededTitles, func(_ context.Context, row func(...string) error) error {
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
		list.Items = append(list.Items, supersededMark{
			markResponse{m.PlayerID, m.Mark, wire.OrNull(m.Note), wire.Timestamp(m.MarkedAt)}, wire.Timestamp(m.RecordedAt), m.Account, wire.OrNull(m.Session),
		})
	}
	return endpoint.OK(list), nil
}
