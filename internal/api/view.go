package api

import (
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// view builds the responses about players and requests for one caller at one time. The
// caller decides which fields they have.
type view struct {
	by    actor.Actor
	rules approval.Rules
	now   time.Time
}

func (s *Server) view(caller Caller) view {
	return view{caller.Actor, s.Approvals.Rules, s.Now()}
}
