package admin

import (
	_ "embed"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"github.com/touchline/touchline/internal/apidocs"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wire"
)

// openAPI describes this listener, kept by hand.
//
//go:embed openapi.yaml
var openAPI []byte

// Document returns the OpenAPI document as JSON. It is made at the first call.
var Document = sync.OnceValues(func() ([]byte, error) { return apidocs.JSON(openAPI) })

// openAPI serves GET /openapi.json.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	document, err := Document()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(document) // a caller who is gone needs no answer
	return nil
}

type healthResponse struct {
	Status string `json:"status"`
}

// healthz serves GET /healthz: the process answers.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	return wire.Encode(w, http.StatusOK, healthResponse{"ok"})
}

// readyz serves GET /readyz: the service can serve.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if s.Ready != nil {
		if err := s.Ready(r.Context()); err != nil {
			return fault.Down(err)
		}
	}
	return wire.Encode(w, http.StatusOK, healthResponse{"ok"})
}

// metrics serves GET /metrics.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	if s.Metrics == nil {
		return fault.Missing()
	}
	w.Header().Set("Cache-Control", "no-store")
	s.Metrics.ServeHTTP(w, r)
	return nil
}

// metadataResponse is RFC 8414, section 2. People do not get tokens by a grant of
// OAuth, so there is no endpoint for that.
type metadataResponse struct {
	Issuer            string   `json:"issuer"`
	JWKS              string   `json:"jwks_uri"`
	ResponseTypes     []string `json:"response_types_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	Introspection     string   `json:"introspection_endpoint"`
	IntrospectionAuth []string `json:"introspection_endpoint_auth_methods_supported"`
	Revocation        string   `json:"revocation_endpoint"`
	RevocationAuth    []string `json:"revocation_endpoint_auth_methods_supported"`
	Documentation     string   `json:"service_documentation"`
}

// metadata serves GET /.well-known/oauth-authorization-server.
func (s *Server) metadata(w http.ResponseWriter, r *http.Request) error {
	here := s.here(r)
	w.Header().Set("Cache-Control", "no-store") // it names the address that was asked
	return wire.Encode(w, http.StatusOK, metadataResponse{
		Issuer: s.PublicURL, JWKS: s.PublicURL + "/.well-known/jwks.json", ResponseTypes: []string{}, GrantTypes: []string{},
		Introspection: here + "/auth/introspect", IntrospectionAuth: []string{"Bearer"},
		Revocation: here + "/auth/revoke", RevocationAuth: []string{"Bearer"},
		Documentation: here + "/openapi.json",
	})
}

// here returns how the caller reached this listener.
func (s *Server) here(r *http.Request) string {
	scheme := "http"
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	proxied := err == nil && slices.ContainsFunc(s.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap()) })
	if r.TLS != nil || proxied && r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
