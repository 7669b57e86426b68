package api

import (
	"context"

	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// reportResponse is the PerformanceReport of openapi.yaml.
type reportResponse struct {
	ReportID  string `json:"report_id"`
	PlayerID  string `json:"player_id"`
	Title     string `json:"title"`
	Text      string `json:"text"`
	From      string `json:"from"`
	To        string `json:"to"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

func newReportResponse(r team.Report) reportResponse {
	return reportResponse{
		ReportID: r.ID, PlayerID: r.PlayerID, Title: r.Title, Text: r.Text, From: r.From, To: r.To,
		CreatedAt: wire.Timestamp(r.CreatedAt), UpdatedAt: wire.Timestamp(r.UpdatedAt),
	}
}

func reportCreated(r team.Report) Response {
	return endpoint.Created("/api/players/"+r.PlayerID+"/reports/"+r.ID, newReportResponse(r)).WithSubject(r.PlayerID)
}

// addReport serves POST /api/players/{player_id}/reports.
func (s *Server) addReport(ctx context.Context, r Request[input.Report], playerID string) (Response, error) {
	in, f := r.Body, r.Faults
	report := in.Read(playerID, &f)
	if err := s.checkFaults(ctx, r.Caller.Actor, playerID, f); err != nil {
		return Response{}, err
	}
	saved, err := s.Records.Report(ctx, r.Caller.Actor, report)
	if err != nil {
		return Response{}, err
	}
	return reportCreated(*saved), nil
}

// rebuildReport returns the response of addReport again.
func (s *Server) rebuildReport(ctx context.Context, m Meta, w idempotency.Work) (Response, error) {
	playerID, _ := m.PathID("player_id")
	saved, err := s.Records.OneReport(ctx, m.Caller.Actor, playerID, w.ID)
	if err != nil {
		return Response{}, err
	}
	return reportCreated(saved), nil
}

// listReports serves GET /api/players/{player_id}/reports and, for a party, GET
// /api/me/players/{player_id}/reports: newest first.
func (s *Server) listReports(ctx context.Context, r Request[NoBody], playerID string) (Response, error) {
	page, failure := s.teamPage(r.Meta, r.Faults)
	list, err := s.Records.Reports(ctx, r.Caller.Actor, playerID, page.team())
	if err != nil {
		return Response{}, err
	}
	if failure != nil { // report a bad cursor or limit only if the caller may see the player
		return Response{}, failure
	}
	return endpoint.PageResponse(page.page, list, newReportResponse, func(r team.Report) Keyset { return Keyset{ID: r.ID} }), nil
}
