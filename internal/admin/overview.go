package admin

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

// overviewResponse has null for what the token may not list.
type overviewResponse struct {
	Verifications    *int `json:"verifications"`
	TierRequests     *int `json:"tier_requests"`
	FailedDeliveries *int `json:"failed_deliveries"`
}

// overview serves GET /api/admin/overview: what waits for operators.
func (s *Server) overview(ctx context.Context, r Request[NoBody]) (Response, error) {
	if err := r.Faults.Err(); err != nil {
		return Response{}, err
	}
	counts, err := s.Tokens.Counts(ctx)
	if err != nil {
		return Response{}, err
	}
	allowed := func(scope operator.Scope, n *int) *int {
		if !r.Caller.HasScope(scope) {
			return nil
		}
		return n
	}
	return endpoint.OK(overviewResponse{
		Verifications: allowed(operator.KYC, &counts.Verifications), TierRequests: allowed(operator.Coaches, &counts.TierRequests),
		FailedDeliveries: allowed(operator.Deliveries, &counts.FailedDeliveries),
	}), nil
}
