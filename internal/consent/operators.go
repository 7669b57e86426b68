package consent

import (
	"context"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/player"
)

// operators serves disputes to operators. They cannot decide about consent.
type operators struct {
	*player.Service
	admin *admin.Server
}

// OperatorOperations returns the operations with which operators find and lift disputes.
func OperatorOperations(s *player.Service) func(*admin.Server) []admin.Route {
	return func(a *admin.Server) []admin.Route {
		o, disputes := operators{s, a}, a.Scope(operator.Disputes)
		return []admin.Route{
			{Method: "GET", Pattern: "/api/admin/disputes", Handle: endpoint.Handle(o.listDisputes), Authorize: disputes, Query: endpoint.Paged("coach_id")},
			{Method: "POST", Pattern: "/api/admin/disputes/search", Handle: endpoint.Handle(o.searchDisputes), Authorize: disputes, Body: endpoint.JSON},
			{Method: "DELETE", Pattern: "/api/admin/disputes/{request_id}", Handle: endpoint.HandleID("request_id", o.liftDispute), Authorize: disputes},
		}
	}
}

type disputeResponse struct {
	RequestID    string  `json:"request_id"`
	CoachID      string  `json:"coach_id"`
	CoachName    *string `json:"coach_name"`
	ApproverType string  `json:"approver_type"`
	DisputedAt   string  `json:"disputed_at"`
}

func newDisputeResponse(d approval.Dispute) disputeResponse {
	return disputeResponse{
		RequestID: d.RequestID, CoachID: d.CoachID, CoachName: wire.OrNull(d.CoachName), ApproverType: string(d.Party), DisputedAt: wire.Timestamp(d.At),
	}
}

// listDisputes serves GET /api/admin/disputes: all, or the disputes of one coach, newest first.
func (o operators) listDisputes(ctx context.Context, r admin.Request[admin.NoBody]) (admin.Response, error) {
	f := r.Faults
	search := approval.DisputeSearch{CoachID: admin.QueryID(r, "coach_id", &f)}
	page := o.admin.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	return o.findDisputes(ctx, r.Caller, search, page)
}

type disputeSearchRequest struct {
	Number string  `json:"number" rule:"required,min=1,max=64"`
	Limit  *int    `json:"limit" rule:"min=1"`
	Cursor *string `json:"cursor" rule:"secret,min=1,max=512"`
}

// searchDisputes serves POST /api/admin/disputes/search: the disputes of one number, newest first.
func (o operators) searchDisputes(ctx context.Context, r admin.Request[disputeSearchRequest]) (admin.Response, error) {
	in, f := r.Body, r.Faults
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	number, err := o.admin.Phones.Parse(in.Number)
	if err != nil {
		f.Add("/number", "invalid_number", "This is not a complete mobile number.")
	}
	page := o.admin.BodyPage(r.Meta, in.Limit, in.Cursor, &f)
	if err := f.Err(); err != nil {
		return admin.Response{}, err
	}
	return o.findDisputes(ctx, r.Caller, approval.DisputeSearch{Number: number}, page)
}

func (o operators) findDisputes(ctx context.Context, caller admin.Caller, search approval.DisputeSearch, page endpoint.Page[admin.Keyset]) (admin.Response, error) {
	search.After = approval.DisputeCursor{At: page.After.Time(), RequestID: page.After.ID}
	found, err := player.FindDisputes(ctx, o.DB, caller.Operator(), search, page.ReadLimit())
	if err != nil {
		return admin.Response{}, err
	}
	return endpoint.PageResponse(page, found, newDisputeResponse, func(d approval.Dispute) admin.Keyset {
		return admin.KeysetAt(d.At, d.RequestID)
	}), nil
}

// liftDispute serves DELETE /api/admin/disputes/{request_id}.
func (o operators) liftDispute(ctx context.Context, r admin.Request[admin.NoBody], id string) (admin.Response, error) {
	if err := o.LiftForOperator(ctx, r.Caller.Operator(), id); err != nil {
		return admin.Response{}, err
	}
	return endpoint.NoContent(), nil
}
