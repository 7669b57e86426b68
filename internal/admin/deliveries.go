package admin

import (
	"context"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type deliveryResponse struct {
	DeliveryID string  `json:"delivery_id"`
	Channel    string  `json:"channel"`
	Kind       string  `json:"kind"`
	State      string  `json:"state"`
	Reason     *string `json:"reason"`
	Cause      *string `json:"cause"`
	Attempts   int     `json:"attempts"`
	Recipient  *string `json:"recipient"`
	CoachID    *string `json:"coach_id"`
	CoachName  *string `json:"coach_name"`
	RequestID  *string `json:"request_id"`
	CreatedAt  string  `json:"created_at"`
	UpdatedAt  string  `json:"updated_at"`
	CanRetry   bool    `json:"can_retry"`
}

// DeliveryJSON returns a delivery as this API writes it, for the shell.
func DeliveryJSON(d message.DeliveryRecord) any { return newDeliveryResponse(d) }

func newDeliveryResponse(d message.DeliveryRecord) deliveryResponse {
	return deliveryResponse{
		DeliveryID: d.ID, Channel: string(d.Channel), Kind: string(d.Kind), State: d.State, Reason: wire.OrNull(d.Reason), Cause: wire.OrNull(string(d.Cause)),
		Attempts: d.Attempts, Recipient: wire.OrNull(d.MaskedTo()),
		CoachID: wire.OrNull(d.CoachID), CoachName: wire.OrNull(d.CoachName), RequestID: wire.OrNull(d.RequestID),
		CreatedAt: wire.Timestamp(d.CreatedAt), UpdatedAt: wire.Timestamp(d.UpdatedAt), CanRetry: d.CanRetry(),
	}
}

// listDeliveries serves GET /api/admin/deliveries: those that failed, the latest first.
func (s *Server) listDeliveries(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	if r.Query.Has("state") && r.Query.Get("state") != message.FailedState {
		f.Add("/state", "invalid_value", "This must be failed.")
	}
	search := message.FailedDeliverySearch{CoachID: QueryID(r, "coach_id", &f)}
	page := s.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	search.After = message.FailedDeliveryCursor{At: page.After.Time(), ID: page.After.ID}
	found, err := s.Deliveries.FailedDeliveries(ctx, r.Caller.Operator(), search, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, found, newDeliveryResponse, func(d message.DeliveryRecord) Keyset {
		return KeysetAt(d.UpdatedAt, d.ID)
	}), nil
}

type deliverySearchRequest struct {
	Number string  `json:"number" rule:"required,min=1,max=64"`
	Limit  *int    `json:"limit" rule:"min=1"`
	Cursor *string `json:"cursor" rule:"secret,min=1,max=512"`
}

// searchDeliveries serves POST /api/admin/deliveries/search: those to one number, newest first.
func (s *Server) searchDeliveries(ctx context.Context, r Request[deliverySearchRequest]) (Response, error) {
	in, f := r.Body, r.Faults
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	number, err := s.Phones.Parse(in.Number)
	if err != nil {
		f.Add("/number", "invalid_number", "This is not a complete mobile number.")
	}
	page := s.BodyPage(r.Meta, in.Limit, in.Cursor, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	found, err := s.Deliveries.DeliveriesTo(ctx, r.Caller.Operator(), message.NumberDeliverySearch{Number: number, After: page.After.ID}, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, found, newDeliveryResponse, func(d message.DeliveryRecord) Keyset { return Keyset{ID: d.ID} }), nil
}

// retryDelivery serves POST /api/admin/deliveries/{delivery_id}/retry.
func (s *Server) retryDelivery(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	d, err := s.Deliveries.RetryFailed(ctx, r.Caller.Operator(), id, message.DeliveryRecord.CheckRetry)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newDeliveryResponse(d)), nil
}
