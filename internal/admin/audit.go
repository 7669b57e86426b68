package admin

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
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

// audit serves GET /api/admin/audit, newest first. The read itself becomes the next entry.
func (s *Server) audit(ctx context.Context, r Request[NoBody]) (Response, error) {
	f := r.Faults
	objectID := QueryID(r, "object_id", &f)
	page := s.QueryPage(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	entries, err := s.Tokens.Audit(ctx, r.Caller.Operator(), objectID, page.After.ID, page.ReadLimit())
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, entries, newEntryResponse, func(e operator.Entry) Keyset { return Keyset{ID: e.ID} }), nil
}
