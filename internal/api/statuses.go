package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/approval"
)

// approvalStatus serves GET /api/players/approval-status/{playerId}.
func (s *Server) approvalStatus(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "playerId")
	if err != nil {
		return err
	}
	return s.answerStatus(w, r, id)
}

// respond serves PUT /api/approval/guardian-response and student-response. The
// party is the role of the session; the routes let in one role each.
func (s *Server) respond(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[decisionRequest](r)
	if err := s.named(r, in.PlayerID, f); err != nil {
		return err
	}
	if _, err := s.approvals.Decide(r.Context(), caller(r), in.PlayerID, in.decision()); err != nil {
		return err
	}
	return s.answerStatus(w, r, in.PlayerID)
}

// answerStatus answers where both parties stand, with the history.
func (s *Server) answerStatus(w http.ResponseWriter, r *http.Request, playerID string) error {
	p, history, err := s.approvals.Status(r.Context(), caller(r), playerID)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, s.view(r).status(p, history))
}

// listPending serves GET /api/coach/pending-approvals.
func (s *Server) listPending(w http.ResponseWriter, r *http.Request) error {
	var f faults
	page := s.page(r, r.URL.Query(), &f)
	if err := f.err(); err != nil {
		return err
	}
	items, err := s.approvals.Pending(r.Context(), caller(r), approval.Page{Limit: page.more(), After: page.after.approval()})
	if err != nil {
		return err
	}
	return answerPage(w, page, items, s.view(r).pending, func(i approval.PendingItem) keyset {
		return keysetOf(approval.Keyset{At: i.PendingSince, ID: i.PlayerID, Party: i.Party})
	})
}
