package admin

import (
	"context"
	_ "embed"
	"net/http"
	"sync"

	"github.com/touchline/touchline/internal/platform/apidocs"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
)

// openAPI is the OpenAPI document of this listener. It is written by hand.
//
//go:embed openapi.yaml
var openAPI []byte

// Document returns the OpenAPI document as JSON. The first call converts it.
var Document = sync.OnceValues(func() ([]byte, error) { return apidocs.JSON(openAPI) })

// healthz serves GET /healthz.
func (s *Server) healthz(context.Context, Request[NoBody]) (Response, error) {
	return endpoint.Healthy(), nil
}

// readyz serves GET /readyz.
func (s *Server) readyz(ctx context.Context, _ Request[NoBody]) (Response, error) {
	return endpoint.Ready(ctx, s.Ready, s.Limited)
}

// metrics serves GET /metrics.
func (s *Server) metrics(context.Context, Request[NoBody]) (Response, error) {
	if s.Metrics == nil {
		return Response{}, fault.Missing()
	}
	return Response{Write: func(w http.ResponseWriter, r *http.Request) error {
		s.Metrics.ServeHTTP(w, r)
		return nil
	}}.WithHeader("Cache-Control", "no-store"), nil
}

// metadataResponse is RFC 8414, section 2. There is no token endpoint, because users do
// not get tokens by an OAuth grant.
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
func (s *Server) metadata(_ context.Context, r Request[NoBody]) (Response, error) {
	return endpoint.OK(metadataResponse{
		Issuer: s.PublicURL, JWKS: s.PublicURL + "/.well-known/jwks.json", ResponseTypes: []string{}, GrantTypes: []string{},
		Introspection: r.BaseURL + "/auth/introspect", IntrospectionAuth: []string{"Bearer"},
		Revocation: r.BaseURL + "/auth/revoke", RevocationAuth: []string{"Bearer"},
		Documentation: r.BaseURL + "/openapi.json",
	}).WithHeader("Cache-Control", "no-store"), nil // it depends on the Host header
}
