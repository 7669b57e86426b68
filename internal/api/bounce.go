package api

import (
	"context"

	"github.com/touchline/touchline/internal/platform/endpoint"
)

// receiveBounce serves POST /bounces/{secret}, which a mail server or provider calls.
func (s *Server) receiveBounce(ctx context.Context, r Request[NoBody]) (Response, error) {
	if err := s.Bounces.Receive(ctx, r.PathPart("secret"), r.Header.Get("Content-Type"), r.Raw); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}
