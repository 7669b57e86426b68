package admin

import (
	"context"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/wire"
)

type deliveryResponse struct {
	DeliveryID string  `json:"delivery_id"`
	Channel    string  `json:"channel"`
	Kind       string  `json:"kind"`
	State      string  `json:"state"`
	Reason     *string `json:"reason"`
	Cause      *string `json:"cause"`
	Attempts   int     `json:"attempts"`
	CoachID    *string `json:"coach_id"`
	RequestID  *string `json:"request_id"`
	CreatedAt  string  `json:"created_at"`
	UpdatedAt  string  `json:"updated_at"`
	CanRetry   bool    `json:"can_retry"`
}

func newDeliveryResponse(d notify.FailedDelivery) deliveryResponse {
	return deliveryResponse{
		DeliveryID: d.ID, Channel: string(d.Channel), Kind: string(d.Kind), State: d.State, Reason: wire.OrNull(d.Reason), Cause: wire.OrNull(string(d.Cause)), Attempts: d.Attempts,
		CoachID: wire.OrNull(d.CoachID), RequestID: wire.OrNull(d.RequestID),
		CreatedAt: wire.Timestamp(d.CreatedAt), UpdatedAt: wire.Timestamp(d.UpdatedAt), CanRetry: d.CanRetry(),
	}
}

// listDeliveries serves GET /api/admin/deliveries: those that failed, the latest first.
func (s *Server) listDeliveries(ctx context.Context, r Request[noBody]) (Response, error) {
	f := r.Faults
	if r.Query.Has("state") && r.Query.Get("state") != notify.FailedState {
		f.Add("/state", "invalid_value", "This must be failed.")
	}
	search := notify.FailedDeliverySearch{CoachID: queryID(r, "coach_id", &f)}
	page := s.queryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	search.After = notify.FailedDeliveryCursor{At: page.After.at(), ID: page.After.ID}
	found, err := s.Deliveries.Failed(ctx, r.Caller.Operator(), search, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, found, newDeliveryResponse, func(d notify.FailedDelivery) keyset {
		return keyset{At: d.UpdatedAt.UnixMicro(), ID: d.ID}
	}), nil
}

// retryDelivery serves POST /api/admin/deliveries/{delivery_id}/retry.
func (s *Server) retryDelivery(ctx context.Context, r Request[noBody], id string) (Response, error) {
	d, err := s.Deliveries.Retry(ctx, r.Caller.Operator(), id)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newDeliveryResponse(d)), nil
}
