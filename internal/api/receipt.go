package api

import (
	"context"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
)

// receiveReceipt serves GET /receipts/{message_id}/{secret}, which the provider of SMS calls.
func (s *Server) receiveReceipt(ctx context.Context, r Request[noBody]) (Response, error) {
	if s.Receipts == nil {
		return Response{}, fault.Missing()
	}
	if err := s.Receipts.Receive(ctx, r.PathPart("message_id"), r.PathPart("secret"), r.Query); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}
