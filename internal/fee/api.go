package fee

import (
	"context"
	"net/url"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// handlers serves fees as JSON.
type handlers struct {
	*Service
	api *api.Server
}

// Operations returns the operations of fees and their payments for coaches, and of fees for families.
func (s *Service) Operations(a *api.Server) []api.Route {
	const fee, payment = "/api/fees/{fee_id}", "/api/fees/{fee_id}/payments/{payment_id}"
	const family = "/api/me/players/{player_id}/fees"
	h := handlers{s, a}
	return []api.Route{
		{Method: "POST", Pattern: "/api/fees", Handle: a.Idempotent(endpoint.Handle(h.add), h.rebuildAdded), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/fees", Handle: endpoint.Handle(h.list), Authorize: api.CoachOnly, Alternative: api.MediaCSV, Query: endpoint.Paged("player_id", "batch_id", "state", "month")},
		{Method: "GET", Pattern: "/api/fee-repeats", Handle: endpoint.Handle(h.listRepeats), Authorize: api.CoachOnly, Query: endpoint.Paged()},
		{Method: "DELETE", Pattern: "/api/fee-repeats/{repeat_id}", Handle: endpoint.HandleID("repeat_id", h.endRepeat), Authorize: api.CoachOnly},
		{Method: "GET", Pattern: fee, Handle: endpoint.HandleID("fee_id", h.get), Authorize: api.CoachOnly},
		{Method: "POST", Pattern: fee + "/waive", Handle: h.end(s.Waive), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: fee + "/void", Handle: h.end(s.Void), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: fee + "/remind", Handle: a.Idempotent(endpoint.HandleID("fee_id", h.remind), h.rebuildReminder), Authorize: api.CoachOnly, Body: endpoint.OptionalJSON},
		{Method: "POST", Pattern: fee + "/payments", Handle: a.Idempotent(endpoint.HandleID("fee_id", h.pay), h.rebuildPayment), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "POST", Pattern: payment + "/reverse", Handle: a.Idempotent(endpoint.HandleID("fee_id", h.reverse), h.rebuildPayment), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: payment + "/receipt", Handle: endpoint.HandleID("fee_id", h.receipt), Authorize: api.CoachOnly, Alternative: mediaHTML},
		{Method: "DELETE", Pattern: fee + "/told", Handle: endpoint.HandleID("fee_id", h.untell), Authorize: api.CoachOnly},
		{Method: "GET", Pattern: family, Handle: endpoint.HandleID("player_id", h.listForFamily), Authorize: api.PartyOnly, Query: endpoint.Paged()},
		{Method: "GET", Pattern: family + "/{fee_id}", Handle: endpoint.HandleID("player_id", h.getForFamily), Authorize: api.PartyOnly},
		{Method: "PUT", Pattern: family + "/{fee_id}/told", Handle: endpoint.HandleID("player_id", h.tell(true)), Authorize: api.PartyOnly},
		{Method: "DELETE", Pattern: family + "/{fee_id}/told", Handle: endpoint.HandleID("player_id", h.tell(false)), Authorize: api.PartyOnly},
		{Method: "GET", Pattern: family + "/{fee_id}/qr", Handle: endpoint.HandleID("player_id", h.qrForFamily), Authorize: api.PartyOnly, Produces: mediaSVG},
	}
}

// add serves POST /api/fees.
func (h handlers) add(ctx context.Context, r api.Request[orderRequest]) (api.Response, error) {
	in, f := r.Body, r.Faults
	order := in.read(&f)
	for _, id := range []string{order.PlayerID, order.BatchID} {
		if id != "" && !endpoint.IsID(id) {
			return api.Response{}, fault.Missing()
		}
	}
	if len(f) > 0 {
		// The dates may have faults too, and a player or batch of another coach is not_found.
		if err := f.Merge(h.Check(ctx, r.Caller.Actor, order)); err != nil {
			return api.Response{}, err
		}
		return api.Response{}, f.Err()
	}
	fees, err := h.Add(ctx, r.Caller.Actor, order)
	if err != nil {
		return api.Response{}, err
	}
	return h.added(order.BatchID != "", fees), nil
}

// added is the response of add: the fee of a player, or the list of the fees of a batch.
func (h handlers) added(ofBatch bool, fees []*Fee) api.Response {
	if !ofBatch {
		return endpoint.Created("/api/fees/"+fees[0].ID, newDetailsResponse(fees[0], h.Now()))
	}
	list := wire.List[feeResponse]{Items: []feeResponse{}}
	for _, f := range fees {
		list.Items = append(list.Items, newFeeResponse(f, h.Now()))
	}
	return endpoint.Created("/api/fees?batch_id="+fees[0].BatchID, list)
}

// rebuildAdded returns the response of add again.
func (h handlers) rebuildAdded(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	fees, err := h.Added(ctx, m.Caller.Actor, w.ID)
	if err != nil {
		return api.Response{}, err
	}
	return h.added(fees[0].BatchID != "", fees), nil
}

// list serves GET /api/fees.
func (h handlers) list(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	by, filter, page := r.Caller.Actor, readFilter(r.Query, &f), h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	if api.PrefersCSV(r.Header) {
		return api.CSVResponse("fees.csv", Titles, func(ctx context.Context, row func(...string) error) error { return h.Each(ctx, by, filter, row) }), nil
	}
	fees, err := h.List(ctx, by, filter, Page{Limit: page.ReadLimit(), After: after(page.After)})
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, fees, func(f *Fee) feeResponse { return newFeeResponse(f, h.Now()) }, keyOf), nil
}

// keyOf orders fees by their due date.
func keyOf(f *Fee) api.Keyset { return api.Keyset{ID: f.ID, Day: string(f.DueOn)} }

func after(k api.Keyset) Position { return Position{DueOn: team.Date(k.Day), ID: k.ID} }

// readFilter reads the filter of the list of fees.
func readFilter(query url.Values, f *wire.Faults) Filter {
	id := wire.ParseRules("id")
	filter := Filter{
		PlayerID: api.QueryText(query, "player_id", f, id),
		BatchID:  api.QueryText(query, "batch_id", f, id),
		State:    State(api.QueryText(query, "state", f, wire.ParseRules("oneof=due|overdue|unpaid|paid|waived|void"))),
	}
	if month := api.QueryText(query, "month", f, wire.ParseRules("min=7,max=7")); month != "" {
		first, err := team.ParseDate(month + "-01")
		if err != nil {
			f.Add("/month", "invalid_date", "Write the month as YYYY-MM.")
			return filter
		}
		filter = filter.Month(first)
	}
	return filter
}

// get serves GET /api/fees/{fee_id}.
func (h handlers) get(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	return h.details(h.Fee(ctx, r.Caller.Actor, id))
}

// details is the response of a call that reads or changes one fee.
func (h handlers) details(fee *Fee, err error) (api.Response, error) {
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.OK(newDetailsResponse(fee, h.Now())), nil
}

type reasonRequest struct {
	Reason string `json:"reason" rule:"required,name,min=1,max=500"`
}

// end serves POST /api/fees/{fee_id}/waive and …/void.
func (h handlers) end(do func(ctx context.Context, by actor.Actor, id, reason string) (*Fee, error)) endpoint.Handler[api.Caller] {
	return h.api.Idempotent(endpoint.HandleID("fee_id", func(ctx context.Context, r api.Request[reasonRequest], id string) (api.Response, error) {
		if err := h.faults(ctx, r.Meta, id, r.Faults); err != nil {
			return api.Response{}, err
		}
		return h.details(do(ctx, r.Caller.Actor, id, r.Body.Reason))
	}), h.rebuild)
}

// faults returns the faults of a request about a fee. A fee of another coach is
// not_found, whatever the faults.
func (h handlers) faults(ctx context.Context, m api.Meta, id string, f wire.Faults) error {
	if len(f) > 0 {
		if _, err := h.Fee(ctx, m.Caller.Actor, id); err != nil {
			return err
		}
	}
	return f.Err()
}

// rebuild returns the response of end again.
func (h handlers) rebuild(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	return h.details(h.Fee(ctx, m.Caller.Actor, w.ID))
}

// listRepeats serves GET /api/fee-repeats.
func (h handlers) listRepeats(ctx context.Context, r api.Request[api.NoBody]) (api.Response, error) {
	f := r.Faults
	page := h.api.Page(r.Meta, &f)
	if err := f.Err(); err != nil {
		return api.Response{}, err
	}
	repeats, err := h.Repeats(ctx, r.Caller.Actor, page.After.ID, page.ReadLimit())
	if err != nil {
		return api.Response{}, err
	}
	return endpoint.PageResponse(page, repeats, newRepeatResponse, func(r *Repeat) api.Keyset { return api.Keyset{ID: r.ID} }), nil
}

// endRepeat serves DELETE /api/fee-repeats/{repeat_id}.
func (h handlers) endRepeat(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	if err := h.EndRepeat(ctx, r.Caller.Actor, id); err != nil {
		return api.Response{}, err
	}
	return endpoint.NoContent(), nil
}

// partyReason is a party that a reminder does not reach.
type partyReason struct {
	Party  string `json:"party"`
	Reason string `json:"reason"`
}

// reminderResponse is the FeeReminder of openapi.yaml.
type reminderResponse struct {
	FeeID    string            `json:"fee_id"`
	Reminded []string          `json:"reminded"`
	LeftOut  []partyReason     `json:"left_out"`
	Left     int               `json:"reminders_left"`
	Told     *api.ToldResponse `json:"told"`
}

// remind serves POST /api/fees/{fee_id}/remind.
func (h handlers) remind(ctx context.Context, r api.Request[api.NoBody], id string) (api.Response, error) {
	if err := h.faults(ctx, r.Meta, id, r.Faults); err != nil {
		return api.Response{}, err
	}
	return h.reminded(ctx, r.Caller.Actor, h.Remind, id)
}

// rebuildReminder returns the response of remind again, with the approvals as they are now.
func (h handlers) rebuildReminder(ctx context.Context, m api.Meta, w idempotency.Work) (api.Response, error) {
	return h.reminded(ctx, m.Caller.Actor, h.Reminder, w.ID)
}

// leftOutReasons say why a party was not reminded.
var leftOutReasons = map[team.Access]string{
	team.ApprovalPending: "approval_pending", team.ApprovalRequired: "approval_required", team.NotInTier: "tier_limit", team.NotLinked: "not_linked",
}

// reminded is the response of remind.
func (h handlers) reminded(ctx context.Context, by actor.Actor, remind func(context.Context, actor.Actor, string) (Reminder, error), id string) (api.Response, error) {
	sent, err := remind(ctx, by, id)
	if err != nil {
		return api.Response{}, err
	}
	told, err := notice.ReadTelling(ctx, h.DB, by.AccountID, id, string(event.FeeReminded))
	if err != nil {
		return api.Response{}, err
	}
	r := reminderResponse{FeeID: sent.Fee.ID, Reminded: []string{}, LeftOut: []partyReason{}, Left: sent.Left, Told: api.NewTold(told)}
	for _, p := range sent.Parties {
		if p.Access == team.Granted {
			r.Reminded = append(r.Reminded, string(p.Role))
		} else {
			r.LeftOut = append(r.LeftOut, partyReason{string(p.Role), leftOutReasons[p.Access]})
		}
	}
	return endpoint.Accepted(r), nil
}
