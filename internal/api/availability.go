package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/touchline/touchline/internal/fault"
)

// jsonType is shared by all answers: nothing adds to it.
var jsonType = []string{"application/json"}

// availability serves GET /api/services/availability/{playerId}, the call that
// is made most: the session and the player cost one statement together, and the
// answer is ready but for its id.
func (s *Server) availability(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("playerId")
	if !isID(id) {
		id = "" // the session still comes first
	}
	ctx := context.WithoutCancel(r.Context()) // as httpx.WithTimeout
	session, standing, found, err := s.reader.Availability(ctx, claims(r).SessionID, id)
	if err != nil {
		return err
	}
	if _, err := s.admit(ctx, session); err != nil {
		return err
	}
	if !found {
		return fault.Missing()
	}
	first, rest := availabilityJSON(standing.Availability(s.approvals.Rules, s.now()))
	w.Header()["Content-Type"] = jsonType
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(first) + len(rest))}
	_, _ = w.Write(first) // a caller who is gone needs no answer
	_, _ = w.Write(rest)
	return nil
}
