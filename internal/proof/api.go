package proof

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/wire"
)

// handlers serves the receipts of a party.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of receipts.
func (s *Service) Operations(a *api.Server) []api.Route {
	h := handlers{s, a}
	return append([]api.Route{
		{Method: "GET", Pattern: "/api/me/receipts", Handle: endpoint.Handle(h.list), Authorize: api.PartyOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: "/api/me/receipts/{record_id}", Handle: endpoint.HandleID("record_id", h.get), Authorize: api.PartyOnly, Produces: MediaReceipt},
	}, s.publicLog()...)
}

// receiptResponse is the Receipt of openapi.yaml.
type receiptResponse struct {
	RecordID      string      `json:"record_id"`
	PlayerID      string      `json:"player_id"`
	ApproverType  string      `json:"approver_type"`
	Event         string      `json:"event"`
	PreviousState string      `json:"previous_state"`
	State         string      `json:"state"`
	CoachName     string      `json:"coach_name"`
	StudentName   string      `json:"student_name"`
	At            string      `json:"at"`
	Index         *int64      `json:"index"`
	Shown         *Shown      `json:"shown"`
	Proof         *AdultProof `json:"proof"`
}

func newReceiptResponse(e Record) receiptResponse {
	r := receiptResponse{
		RecordID: e.Body.RecordID, PlayerID: e.Claims["player_id"], ApproverType: e.Body.PartyRole, Event: e.Body.EventType,
		PreviousState: e.Body.PreviousState, State: e.Body.EventState, CoachName: e.Claims["coach_name"], StudentName: e.Claims["student_name"], At: wire.Timestamp(e.At),
		Shown: e.Claims.Shown(), Proof: e.Claims.Proof(),
	}
	if e.Position >= 0 {
		r.Index = &e.Position
	}
	return r
}

// list serves GET /api/me/receipts.
func (h handlers) list(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	records, err := h.Receipts(ctx, r.Caller.Actor, page.After.ID, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, records, newReceiptResponse, func(e Record) api.Keyset { return api.Keyset{ID: e.Body.RecordID} }), nil
}

// get serves GET /api/me/receipts/{record_id}: the file.
func (h handlers) get(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	receipt, err := h.Receipt(ctx, r.Caller.Actor, id)
	if err != nil {
		return api.Response{}, err
	}
	header := http.Header{"Content-Type": {MediaReceipt}, "Content-Disposition": {`attachment; filename="` + id + `.tlog-proof"`}}
	return api.Response{Header: header, Raw: receipt.Encode()}, nil
}
