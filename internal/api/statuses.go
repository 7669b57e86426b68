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
	p, history, err := s.approvals.Status(r.Context(), caller(r), id)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, s.view(r).status(p, history))
}

// respond serves PUT /api/approval/guardian-response and student-response. The
// party is the role of the session; the routes let in one role each.
func (s *Server) respond(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[decisionRequest](r)
	if err := s.named(r, in.PlayerID, f); err != nil {
		return err
	}
	p, history, err := s.approvals.Decide(r.Context(), caller(r), in.PlayerID, in.decision())
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
