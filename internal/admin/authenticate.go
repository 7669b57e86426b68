package admin

import (
	"net/http"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/exchange"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wall"
)

// signIn finds out whose token is presented, and whether it may do this. An
// address from which too many came that do not work waits before another is
// looked at, so that nobody guesses quickly.
func (s *Server) signIn(r *http.Request, rt *route, c *call) error {
	if rt.scope == "" {
		return nil
	}
	from, now := wall.Address(r, s.TrustedProxies), s.Now()
	if wait := s.failures.Full(from, now); wait > 0 {
		return wall.Refusal(wait, now)
	}
	secret, err := exchange.Bearer(r.Header)
	if err == nil {
		c.token, err = s.Operators.Authenticate(r.Context(), secret)
	}
	if fault.KindOf(err) == fault.Unauthenticated {
		s.failures.Wait(from, now)
		return fault.New(fault.Unauthenticated, fault.CodeOf(err), "Send an operator's token that works as Authorization: Bearer. Whoever runs the service makes one with: touchline admin token create.")
	}
	if err != nil {
		return err
	}
	return s.Operators.Admit(c.token, rt.scope)
}

// operator returns who asks.
func (c *call) operator() actor.Operator { return c.token.Operator() }
