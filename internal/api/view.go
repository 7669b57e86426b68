package api

import (
	"net/http"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
)

// view turns what the core answers into what one caller reads at one moment.
// Its methods are the only ones that make wire types of players and requests.
type view struct {
	by    actor.Actor
	rules approval.Rules
	now   time.Time
}

// view returns what the caller of r reads now.
func (s *Server) view(r *http.Request) view {
	return view{caller(r), s.approvals.Rules, s.now()}
}
