package api

import (
	"net/http"
	"net/url"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/wire"
)

// addPlayer serves POST /api/players/add.
func (s *Server) addPlayer(w http.ResponseWriter, r *http.Request) error {
	in, f := decode[addPlayerRequest](r)
	student, guardian := in.player(s.entry(&f))
	if err := f.err(); err != nil {
		return err
	}
	p, err := s.approvals.Add(r.Context(), caller(r), student, guardian)
	if err != nil {
		return err
	}
	about(r, p.ID)
	return created(w, "/api/players/"+p.ID, s.view(r).player(p))
}

// listPlayers serves GET /api/players.
func (s *Server) listPlayers(w http.ResponseWriter, r *http.Request) error {
	var f faults
	query := r.URL.Query()
	filter := playerFilter(query, &f)
	page := s.page(r, query, &f)
	if err := f.err(); err != nil {
		return err
	}
	players, err := s.approvals.Players(r.Context(), caller(r), filter, approval.Page{Limit: page.more(), After: page.after.approval()})
	if err != nil {
		return err
	}
	return answerPage(w, page, players, s.view(r).player, byPlayerID)
}

// byPlayerID is the order of players: newest first, as their ids were made.
func byPlayerID(p *approval.Player) keyset { return keyset{ID: p.ID} }

// playerFilter reads what narrows the list of players.
func playerFilter(query url.Values, f *faults) approval.Filter {
	status := wire.ParseRules("oneof=pending|approved|rejected")
	return approval.Filter{
		GuardianStatus: queryText(query, "guardian_status", f, status),
		StudentStatus:  queryText(query, "student_status", f, status),
		Search:         queryText(query, "q", f, wire.ParseRules("max=100")), // a search box that is empty finds all
	}
}

// getPlayer serves GET /api/players/{player_id}.
func (s *Server) getPlayer(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "player_id")
	if err != nil {
		return err
	}
	p, err := s.approvals.Player(r.Context(), caller(r), id)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, s.view(r).player(p))
}

// updatePlayer serves PATCH /api/players/{player_id}.
func (s *Server) updatePlayer(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "player_id")
	if err != nil {
		return err
	}
	in, f := decode[playerPatch](r)
	patch := in.patch(s.entry(&f))
	if err := s.invalid(r, id, f); err != nil {
		return err
	}
	if patch.MayOpenRequest() {
		if err := s.visible(r.Context(), caller(r), id); err != nil {
			return err
		}
		if err := s.coaches.Complete(r.Context(), caller(r)); err != nil {
			return err
		}
	}
	p, err := s.approvals.Edit(r.Context(), caller(r), id, patch)
	if err != nil {
		return err
	}
	return encode(w, http.StatusOK, s.view(r).player(p))
}

// deletePlayer serves DELETE /api/players/{player_id}.
func (s *Server) deletePlayer(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "player_id")
	if err != nil {
		return err
	}
	if err := s.approvals.Remove(r.Context(), caller(r), id); err != nil {
		return err
	}
	return nothing(w)
}

// listMyPlayers serves GET /api/me/players.
func (s *Server) listMyPlayers(w http.ResponseWriter, r *http.Request) error {
	var f faults
	page := s.page(r, r.URL.Query(), &f)
	if err := f.err(); err != nil {
		return err
	}
	links, err := s.approvals.Links(r.Context(), caller(r), approval.Page{Limit: page.more(), After: page.after.approval()})
	if err != nil {
		return err
	}
	return answerPage(w, page, links, s.view(r).myPlayer, byPlayerID)
}
