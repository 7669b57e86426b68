package admin

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/platform/wire"
)

// costDays is the length of the report of costs if no days are given.
const costDays = 30

type costResponse struct {
	Day      string  `json:"day"`
	CoachID  *string `json:"coach_id"`
	Channel  string  `json:"channel"`
	Messages int64   `json:"messages"`
	Segments int64   `json:"segments"`
	Cost     float64 `json:"cost"`
}

// costKey is the sort key of a costResponse.
type costKey struct {
	Day     int64  `json:"d"` // microseconds
	CoachID string `json:"c"`
	Channel string `json:"h"`
}

// listMessageCosts serves GET /api/admin/message-costs, the newest day first.
func (s *Server) listMessageCosts(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	today := s.Now().UTC()
	search := message.MessageCostSearch{CoachID: QueryID(r, "coach_id", &f)}
	search.To = queryDay(r, "to", today, &f)
	search.From = queryDay(r, "from", search.To.AddDate(0, 0, 1-costDays), &f)
	page := endpoint.QueryPage[costKey](r.Meta, s.Vault.For(vault.ForCursors), r.Caller.ID, &f)
	if search.From.After(search.To) {
		f.Add("/from", "invalid_value", "This must not be after to.")
	}
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	search.After = message.MessageCostCursor{CoachID: page.After.CoachID, Channel: message.Channel(page.After.Channel)}
	if page.After.Day != 0 {
		search.After.Day = time.UnixMicro(page.After.Day).UTC()
	}
	found, err := s.Deliveries.MessageCosts(ctx, r.Caller.Operator(), search, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, found, func(c message.MessageCost) costResponse {
		return costResponse{c.Day.Format(time.DateOnly), wire.OrNull(c.CoachID), string(c.Channel), c.Messages, c.Segments, c.Units()}
	}, func(c message.MessageCost) costKey { return costKey{c.Day.UnixMicro(), c.CoachID, string(c.Channel)} }), nil
}

// queryDay returns the day of a query parameter, or other if there is none.
func queryDay(r Request[NoBody], name string, other time.Time, f *wire.Faults) time.Time {
	if !r.Query.Has(name) {
		return other
	}
	day, err := time.Parse(time.DateOnly, r.Query.Get(name))
	if err != nil {
		f.Add("/"+name, "invalid_value", "This must be a day such as 2026-11-22.")
	}
	return day
}
