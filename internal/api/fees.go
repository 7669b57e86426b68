package api

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/wire"
)

// feeRoutes are fees and their payments for coaches, and fees for families.
func (s *Server) feeRoutes() []route {
	const fee, payment = "/api/fees/{fee_id}", "/api/fees/{fee_id}/payments/{payment_id}"
	const family = "/api/me/players/{player_id}/fees"
	return []route{
		{Method: "POST", Pattern: "/api/fees", Handle: s.idempotent(handle(s.addFees), s.rebuildFees), Authorize: coachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/fees", Handle: handle(s.listFees), Authorize: coachOnly, Alternative: mediaCSV, Query: endpoint.Paged("player_id", "batch_id", "state", "month")},
		{Method: "GET", Pattern: "/api/fee-repeats", Handle: handle(s.listFeeRepeats), Authorize: coachOnly, Query: endpoint.Paged()},
		{Method: "DELETE", Pattern: "/api/fee-repeats/{repeat_id}", Handle: handleID("repeat_id", s.endFeeRepeat), Authorize: coachOnly},
		{Method: "GET", Pattern: fee, Handle: handleID("fee_id", s.getFee), Authorize: coachOnly},
		{Method: "POST", Pattern: fee + "/waive", Handle: s.idempotent(handleID("fee_id", s.waiveFee), s.rebuildFee), Authorize: coachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: fee + "/void", Handle: s.idempotent(handleID("fee_id", s.voidFee), s.rebuildFee), Authorize: coachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: fee + "/remind", Handle: s.idempotent(handleID("fee_id", s.remindFee), s.rebuildFeeReminder), Authorize: coachOnly, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: fee + "/payments", Handle: s.idempotent(handleID("fee_id", s.addPayment), s.rebuildPayment), Authorize: coachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: payment + "/reverse", Handle: s.idempotent(handleID("fee_id", s.reversePayment), s.rebuildPayment), Authorize: coachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: payment + "/receipt", Handle: handleID("fee_id", s.getReceipt), Authorize: coachOnly, Alternative: mediaHTML},
		{Method: "GET", Pattern: family, Handle: handleID("player_id", s.listFamilyFees), Authorize: partyOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: family + "/{fee_id}", Handle: handleID("player_id", s.getFamilyFee), Authorize: partyOnly},
		{Method: "GET", Pattern: family + "/{fee_id}/qr", Handle: handleID("player_id", s.familyFeeQR), Authorize: partyOnly, Produces: mediaSVG},
	}
}

// addFees serves POST /api/fees.
func (s *Server) addFees(ctx context.Context, r Request[input.Fee]) (Response, error) {
	in, f := r.Body, r.Faults
	order := in.Read(&f)
	for _, id := range []string{order.PlayerID, order.BatchID} {
		if id != "" && !endpoint.IsID(id) {
			return Response{}, fault.Missing()
		}
	}
	if len(f) > 0 {
		// The dates may have faults too, and a player or batch of another coach is not_found.
		if err := addFaults(&f, s.Fees.Check(ctx, r.Caller.Actor, order)); err != nil {
			return Response{}, err
		}
		return Response{}, f.Err()
	}
	fees, err := s.Fees.Add(ctx, r.Caller.Actor, order)
	if err != nil {
		return Response{}, err
	}
	return s.feesAdded(ctx, r.Meta, order.BatchID != "", fees)
}

// feesAdded is the response of addFees: the fee of a player, or the list of those of a
// batch.
func (s *Server) feesAdded(ctx context.Context, m meta, ofBatch bool, fees []*team.Fee) (Response, error) {
	today, err := s.Fees.Today(ctx, m.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	if !ofBatch {
		return endpoint.Created("/api/fees/"+fees[0].ID, newFeeDetails(fees[0], today)), nil
	}
	list := wire.List[feeResponse]{Items: []feeResponse{}}
	for _, f := range fees {
		list.Items = append(list.Items, newFeeResponse(f, today))
	}
	return endpoint.Created("/api/fees?batch_id="+fees[0].BatchID, list), nil
}

// rebuildFees returns the response of addFees again.
func (s *Server) rebuildFees(ctx context.Context, m meta, w idempotency.Work) (Response, error) {
	fees, err := s.Fees.Added(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return Response{}, err
	}
	return s.feesAdded(ctx, m, fees[0].BatchID != "", fees)
}

// listFees serves GET /api/fees.
func (s *Server) listFees(ctx context.Context, r Request[noBody]) (Response, error) {
	f := r.Faults
	filter := feeFilter(r.Query, &f)
	page := s.page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return Response{}, err
	}
	if prefersCSV(r.Header) {
		return s.exportFees(r.Caller.Actor, filter), nil
	}
	today, err := s.Fees.Today(ctx, r.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	fees, err := s.Fees.List(ctx, r.Caller.Actor, filter, team.FeePage{Limit: page.ReadLimit(), After: page.After.fee()})
	if err != nil {
		return Response{}, err
	}
	return endpoint.PageResponse(page, fees, func(f *team.Fee) feeResponse { return newFeeResponse(f, today) }, byFee), nil
}

// byFee orders fees by their due date.
func byFee(f *team.Fee) keyset { return keyset{ID: f.ID, Day: string(f.DueOn)} }

// fee converts k for package team.
func (k keyset) fee() team.FeePosition { return team.FeePosition{DueOn: team.Date(k.Day), ID: k.ID} }

// feeFilter reads the filter of the list of fees.
func feeFilter(query url.Values, f *wire.Faults) team.FeeFilter {
	id := wire.ParseRules("id")
	filter := team.FeeFilter{
		PlayerID: queryText(query, "player_id", f, id),
		BatchID:  queryText(query, "batch_id", f, id),
		State:    team.FeeState(queryText(query, "state", f, wire.ParseRules("oneof=due|overdue|unpaid|paid|waived|void"))),
	}
	if month := queryText(query, "month", f, wire.ParseRules("min=7,max=7")); month != "" {
		first, err := team.ParseDate(month + "-01")
		if err != nil {
			f.Add("/month", "invalid_date", "Write the month as YYYY-MM.")
			return filter
		}
		filter = filter.Month(first)
	}
	return filter
}

// getFee serves GET /api/fees/{fee_id}.
func (s *Server) getFee(ctx context.Context, r Request[noBody], id string) (Response, error) {
	fee, err := s.Fees.Fee(ctx, r.Caller.Actor, id)
	return s.feeResponse(ctx, r.Meta, fee, err)
}

// feeResponse is the response of a call that reads or changes one fee.
func (s *Server) feeResponse(ctx context.Context, m meta, fee *team.Fee, err error) (Response, error) {
	if err != nil {
		return Response{}, err
	}
	today, err := s.Fees.Today(ctx, m.Caller.Actor)
	if err != nil {
		return Response{}, err
	}
	return endpoint.OK(newFeeDetails(fee, today)), nil
}

type reasonRequest struct {
	Reason string `json:"reason" rule:"required,name,min=1,max=500"`
}

// waiveFee serves POST /api/fees/{fee_id}/waive.
func (s *Server) waiveFee(ctx context.Context, r Request[reasonRequest], id string) (Response, error) {
	if err := s.feeFaults(ctx, r.Meta, id, r.Faults); err != nil {
		return Response{}, err
	}
	fee, err := s.Fees.Waive(ctx, r.Caller.Actor, id, r.Body.Reason)
	return s.feeResponse(ctx, r.Meta, fee, err)
}

// voidFee serves POST /api/fees/{fee_id}/void.
func (s *Server) voidFee(ctx context.Context, r Request[reasonRequest], id string) (Response, error) {
	if err := s.feeFaults(ctx, r.Meta, id, r.Faults); err != nil {
		return Response{}, err
	}
	fee, err := s.Fees.Void(ctx, r.Caller.Actor, id, r.Body.Reason)
	return s.feeResponse(ctx, r.Meta, fee, err)
}

// feeFaults returns the faults of a request about a fee. A fee of another coach is
// not_found, whatever the faults.
func (s *Server) feeFaults(ctx context.Context, m meta, id string, f wire.Faults) error {
	if len(f) > 0 {
		if _, err := s.Fees.Fee(ctx, m.Caller.Actor, id); err != nil {
			return err
		}
	}
	return f.Err()
}

// rebuildFee returns the response of waiveFee or voidFee again.
func (s *Server) rebuildFee(ctx context.Context, m meta, w idempotency.Work) (Response, error) {
	fee, err := s.Fees.Fee(ctx, m.Caller.Actor, w.ID)
	return s.feeResponse(ctx, m, fee, err)
}
