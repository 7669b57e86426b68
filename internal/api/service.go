package api

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

type jwksResponse struct {
	Keys []auth.JWK `json:"keys"`
}

// jwks serves GET /.well-known/jwks.json, the newest key first. A key is published an
// hour before it signs, so caches may keep the set for five minutes.
func (s *Server) jwks(context.Context, Request[NoBody]) (Response, error) {
	keys, err := s.Auth.Keys.JWKS()
	if err != nil {
		return Response{}, err
	}
	slices.Reverse(keys)
	return endpoint.OK(jwksResponse{keys}).WithHeader("Cache-Control", "public, max-age=300"), nil
}

// metadataResponse is RFC 8414, section 2. It names no endpoint of OAuth, because people sign in
// with an OTP and not by a grant.
type metadataResponse struct {
	Issuer        string   `json:"issuer"`
	JWKS          string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	GrantTypes    []string `json:"grant_types_supported"`
	Documentation string   `json:"service_documentation"`
}

// metadata serves GET /.well-known/oauth-authorization-server.
func (s *Server) metadata(context.Context, Request[NoBody]) (Response, error) {
	return endpoint.OK(metadataResponse{
		Issuer: s.PublicURL, JWKS: s.PublicURL + "/.well-known/jwks.json", ResponseTypes: []string{}, GrantTypes: []string{},
		Documentation: s.PublicURL + "/docs",
	}).WithHeader("Cache-Control", "public, max-age=300"), nil
}

// healthz serves GET /healthz.
func (s *Server) healthz(context.Context, Request[NoBody]) (Response, error) {
	return endpoint.Healthy(), nil
}

// readyz serves GET /readyz.
func (s *Server) readyz(ctx context.Context, _ Request[NoBody]) (Response, error) {
	return endpoint.Ready(ctx, s.Ready, s.Limited)
}
