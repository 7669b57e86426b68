package admin

import (
	"context"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/wire"
)

type entryResponse struct {
	ID           string  `json:"id"`
	At           string  `json:"at"`
	OperatorID   *string `json:"operator_id"`
	OperatorName string  `json:"operator_name"`
	Action       string  `json:"action"`
	ObjectKind   string  `json:"object_kind"`
	ObjectID     *string `json:"object_id"`
	Detail       *string `json:"detail"`
	Count        int64   `json:"count"`
}

func newEntryResponse(e operator.Entry) entryResponse {
	return entryResponse{
		ID: e.ID, At: wire.Timestamp(e.At), OperatorID: wire.OrNull(e.By.ID), OperatorName: e.By.Name, Action: e.Action,
		ObjectKind: e.ObjectKind, ObjectID: wire.OrNull(e.ObjectID), Detail: wire.OrNull(e.Detail), Count: e.Count,
	}
}

// audit serves GET /api/admin/audit, newest first. The audit log records the read after it.
func (s *Server) audit(ctx context.Context, r Request[noBody]) (Response, error) {
	f := r.Faults
	objectID := queryID(r, "object_id", &f)
	page := endpoint.QueryPage[keyset](r.Meta, s.Vault.For(auth.ForCursors), r.Caller.ID, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	entries, err := s.Tokens.Audit(ctx, r.Caller.Operator(), objectID, page.After.ID, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, entries, newEntryResponse, func(e operator.Entry) keyset { return keyset{ID: e.ID} }), nil
}

// keyset is the sort key of an item. Each list sets the fields that its order needs.
type keyset struct {
	At   int64  `json:"t,omitempty"` // microseconds
	ID   string `json:"i,omitempty"`
	Name string `json:"n,omitempty"`
}
