package web

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

const (
	// PlayersPerPage is the length of one page of the roster.
	PlayersPerPage = 50
	// SelectedPlayers is the number of players that a form can name.
	SelectedPlayers = 200
	// maxSearch is the number of characters of a search.
	maxSearch = 100
)

// PlayerFilter reads the filter of the list of players.
func PlayerFilter(r *Request) approval.Filter {
	search := []rune(r.Value("q"))
	filter := approval.Filter{Search: string(search[:min(len(search), maxSearch)])}
	switch status := r.Value("guardian"); status {
	case "pending", "approved", "rejected":
		filter.GuardianStatus = status
	}
	switch status := r.Value("student"); status {
	case "pending", "approved", "rejected":
		filter.StudentStatus = status
	}
	if id := r.Value("batch"); endpoint.IsID(id) {
		filter.BatchID = id
	}
	return filter
}

// PlayerInPath returns the coach's player that the path names.
func (p *Pages) PlayerInPath(ctx context.Context, r *Request, by actor.Actor) (*approval.Player, error) {
	return p.Approvals.Player(ctx, by, r.PathValue("player_id"))
}

// SetGiven sets a member unless the field of the form is empty.
func SetGiven(object map[string]any, name, value string) {
	if value != "" {
		object[name] = value
	}
}

// CoachPlayer returns the page of a player for its coach.
func CoachPlayer(id string) string { return "/coach/players/" + id }
