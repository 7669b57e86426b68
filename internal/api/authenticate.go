package api

import (
	"net/http"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
)

// signIn finds out who calls, as far as the route asks.
func (s *Server) signIn(r *http.Request, rt *route, c *call) error {
	if rt.access == open {
		return nil
	}
	token, err := httpx.Bearer(r.Header)
	if err != nil {
		return c.refuse(rt, err)
	}
	if c.by, c.claims, err = s.auth.Authenticate(r.Context(), token); err != nil {
		return c.refuse(rt, err)
	}
	return nil
}

// refuse notes err where sign-in is optional, and returns it elsewhere.
func (c *call) refuse(rt *route, err error) error {
	if rt.access == optional && fault.KindOf(err) == fault.Unauthenticated {
		c.refused = err
		return nil
	}
	return err
}
