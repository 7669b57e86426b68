package admin

import (
	"context"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

type disputeResponse struct {
	RequestID    string  `json:"request_id"`
	CoachID      string  `json:"coach_id"`
	CoachName    *string `json:"coach_name"`
	ApproverType string  `json:"approver_type"`
	DisputedAt   string  `json:"disputed_at"`
}

func newDisputeResponse(d operator.Dispute) disputeResponse {
	return disputeResponse{
		RequestID: d.RequestID, CoachID: d.CoachID, CoachName: wire.OrNull(d.CoachName), ApproverType: string(d.Party), DisputedAt: wire.Timestamp(d.At),
	}
}

// listDisputes serves GET /api/admin/disputes: all, or those of one coach, newest first.
func (s *Server) listDisputes(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	search := operator.DisputeSearch{CoachID: queryID(r, "coach_id", &f)}
	page := s.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	return s.findDisputes(ctx, r.Caller, search, page)
}

type disputeSearchRequest struct {
	Number string  `json:"number" rule:"required,min=1,max=64"`
	Limit  *int    `json:"limit" rule:"min=1"`
	Cursor *string `json:"cursor" rule:"secret,min=1,max=512"`
}

// searchDisputes serves POST /api/admin/disputes/search: those of one number, newest first.
func (s *Server) searchDisputes(ctx context.Context, r Request[disputeSearchRequest]) (Response, error) {
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
	return s.findDisputes(ctx, r.Caller, operator.DisputeSearch{Number: number}, page)
}

func (s *Server) findDisputes(ctx context.Context, caller Caller, search operator.DisputeSearch, page page) (Response, error) {
	search.After = operator.DisputeCursor{At: page.After.Time(), RequestID: page.After.ID}
	found, err := s.Disputes.Find(ctx, caller.Operator(), search, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, found, newDisputeResponse, func(d operator.Dispute) Keyset {
		return KeysetAt(d.At, d.RequestID)
	}), nil
}

// liftDispute serves DELETE /api/admin/disputes/{request_id}.
func (s *Server) liftDispute(ctx context.Context, r Request[NoBody], id string) (Response, error) {
	if err := s.Disputes.Lift(ctx, r.Caller.Operator(), id); err != nil {
		return Response{}, err
	}
	return endpoint.NoContent(), nil
}

// queryID returns the id in a query parameter, or "" without one.
func queryID(r Request[NoBody], name string, f *wire.Faults) string {
	value := r.Query.Get(name)
	if id, err := uuid.Parse(value); r.Query.Has(name) && (err != nil || id.String() != value) {
		f.Add("/"+name, "invalid_id", "This must be a UUID.")
	}
	return value
}
