package api

import (
	"net/http"
	"strconv"

	"github.com/touchline/touchline/internal/fault"
)

// availability serves GET /api/services/availability/{playerId}, the call that
// is made most: the session and the player cost one statement together, and the
// answer is ready but for its id.
func (s *Server) availability(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("playerId")
	if !isID(id) {
		id = "" // the session still comes first
	}
	session, standing, found, err := s.reader.Availability(r.Context(), claims(r).SessionID, id)
	if err != nil {
		return err
	}
	if _, err := s.admit(r, session); err != nil {
		return err
	}
	if !found {
		return fault.Missing()
	}
	first, rest := availabilityJSON(standing.Availability(s.approvals.Rules, s.now()))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(first)+len(rest)))
	_, _ = w.Write(first) // a caller who is gone needs no answer
	_, _ = w.Write(rest)
	return nil
}
