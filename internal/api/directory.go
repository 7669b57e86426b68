package api

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/wire"
)

// listCoaches serves GET /api/coaches, to anybody.
func (s *Server) listCoaches(w http.ResponseWriter, r *http.Request) error {
	var f faults
	query := r.URL.Query()
	wanted := coachQuery(query, &f)
	page := s.page(r, query, &f)
	if err := f.err(); err != nil {
		return err
	}
	coaches, next, err := s.directory.List(r.Context(), wanted, page.after.ID, page.limit)
	if err != nil {
		return err
	}
	out := wire.List[publicCoach]{Items: []publicCoach{}}
	if next != "" {
		cursor := page.cursor(keyset{ID: next})
		out.NextCursor = &cursor
	}
	for _, l := range coaches {
		out.Items = append(out.Items, s.publicCoach(l))
	}
	return encodePublic(w, r, out)
}

// coachQuery reads what the directory is searched for.
func coachQuery(query url.Values, f *faults) coach.Query {
	sport := queryText(query, "sport", f, wire.ParseRules("min=1,max="+strconv.Itoa(coach.MaxSport)))
	text := queryText(query, "q", f, wire.ParseRules("min=1,max=100"))
	if len(*f) > 0 {
		return coach.Query{}
	}
	wanted, ok := coach.NewQuery(sport, text)
	if !ok {
		f.add("/q", "too_many", "There may be at most "+strconv.Itoa(coach.MaxWords)+" words.")
	}
	return wanted
}

// getCoach serves GET /api/coaches/{coach_id}, to anybody.
func (s *Server) getCoach(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "coach_id")
	if err != nil {
		return err
	}
	l, err := s.directory.Coach(r.Context(), id)
	if err != nil {
		return err
	}
	return encodePublic(w, r, s.publicCoach(l))
}
