package api

import (
	"context"
	"net/url"
	"strconv"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
)

// listCoaches serves GET /api/coaches, to anybody.
func (s *Server) listCoaches(ctx context.Context, r Request[noBody]) (Response, error) {
	var f wire.Faults
	query := r.Query
	wanted := coachQuery(query, &f)
	page := s.page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	coaches, next, err := s.directory.List(ctx, wanted, page.After.ID, page.Limit())
	if err != nil {
		return Response{}, err
	}
	out := wire.List[publicCoach]{Items: []publicCoach{}}
	if next != "" {
		cursor := page.Cursor(keyset{ID: next})
		out.NextCursor = &cursor
	}
	for _, l := range coaches {
		out.Items = append(out.Items, s.publicCoach(l))
	}
	return publicResponse(r.Meta, out)
}

// coachQuery reads what the directory is searched for.
func coachQuery(query url.Values, f *wire.Faults) coach.Query {
	sport := queryText(query, "sport", f, wire.ParseRules("min=1,max="+strconv.Itoa(coach.MaxSport)))
	text := queryText(query, "q", f, wire.ParseRules("min=1,max=100"))
	if len(*f) > 0 {
		return coach.Query{}
	}
	wanted, ok := coach.NewQuery(sport, text)
	if !ok {
		f.Add("/q", "too_many", "There may be at most "+strconv.Itoa(coach.MaxWords)+" words.")
	}
	return wanted
}

// getCoach serves GET /api/coaches/{coach_id}, to anybody.
func (s *Server) getCoach(ctx context.Context, r Request[noBody]) (Response, error) {
	id, err := r.PathID("coach_id")
	if err != nil {
		return Response{}, err
	}
	l, err := s.directory.Coach(ctx, id)
	if err != nil {
		return Response{}, err
	}
	return publicResponse(r.Meta, s.publicCoach(l))
}
