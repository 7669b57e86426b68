package api

import (
	"net/http"
	"slices"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
)

type jwksResponse struct {
	Keys []auth.JWK `json:"keys"`
}

// jwks serves GET /.well-known/jwks.json, the newest key first. A key is
// published an hour before it signs, so that five minutes of a cache are nothing.
func (s *Server) jwks(w http.ResponseWriter, _ *http.Request) error {
	keys, err := s.auth.Keys.JWKS()
	if err != nil {
		return err
	}
	slices.Reverse(keys)
	w.Header().Set("Cache-Control", "public, max-age=300")
	return encode(w, http.StatusOK, jwksResponse{keys})
}

type healthResponse struct {
	Status string `json:"status"`
}

// healthz serves GET /healthz: the process answers.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	return encode(w, http.StatusOK, healthResponse{"ok"})
}

// readyz serves GET /readyz: the service can serve.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if s.ready != nil {
		if err := s.ready(r.Context()); err != nil {
			return fault.Down(err)
		}
	}
	return encode(w, http.StatusOK, healthResponse{"ok"})
}
