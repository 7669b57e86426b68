package api

import (
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

// view returns what the caller reads now.
func (s *Server) view(caller Caller) view {
	return view{caller.Actor, s.Approvals.Rules, s.Now()}
}
