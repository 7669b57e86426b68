package admin

import (
	"net/http"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/ratelimit"
)

// signIn finds out whose token is presented, and whether it may do this. An
// address from which too many came that do not work waits before it hears of the
// next one that does not; a token that works is never kept waiting, for others may
// share its address, and who sends none guesses nothing.
func (s *Server) signIn(r *http.Request, rt *route, c *call) error {
	if rt.scope == "" {
		return nil
	}
	secret, err := httpx.Bearer(r.Header)
	if err == nil {
		c.token, err = s.Operators.Authenticate(r.Context(), secret)
	}
	if fault.KindOf(err) == fault.Unauthenticated {
		return s.turnedAway(r, fault.CodeOf(err))
	}
	if err != nil {
		return err
	}
	return s.Operators.RequireScope(c.token, rt.scope)
}

// turnedAway is the answer without a token that works.
func (s *Server) turnedAway(r *http.Request, code string) error {
	if code != httpx.CodeTokenMissing {
		if err := s.failures.Allow(ratelimit.Address(r, s.TrustedProxies), s.Now()); err != nil {
			return err
		}
	}
	return fault.New(fault.Unauthenticated, code, "Send an operator's token that works as Authorization: Bearer. Whoever runs the service makes one with: touchline admin token create.")
}

// operator returns who asks.
func (c *call) operator() actor.Operator { return c.token.Operator() }
