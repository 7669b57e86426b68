package console

import (
	"context"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/web"
)

// deliveries serves GET /deliveries: messages that failed, newest first.
func (p pages) deliveries(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	var search message.FailedDeliverySearch
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		search.After = message.FailedDeliveryCursor{At: at, ID: r.Value("after")}
	}
	failed, err := p.Deliveries.FailedDeliveries(ctx, by, search, web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "deliveries", "operator.deliveries.title")
	v.Form = new(web.Form)
	v.Data = map[string]any{"Deliveries": failed, "Last": web.LastOfFull(failed), "Retried": r.Value("done") == "yes", "Refused": r.Value("done") == "no"}
	return web.Page("operator_deliveries", v), nil
}

// searchDeliveries serves POST /deliveries/search: the messages to a number in any state. It is a
// form that is sent, because a URL must not hold a number.
func (p pages) searchDeliveries(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	v := p.site.NewView(r, "deliveries", "operator.deliveries.title")
	v.Path = "/deliveries" // a change of the language cannot repeat the search
	v.Form = &web.Form{Values: r.Form}
	number, err := p.Phones.Parse(v.Form.Value("number"))
	if err != nil {
		v.Form.Add("number", v.MustT("invalid.invalid_number"))
		v.Data = map[string]any{"Searched": true}
		return web.FormPage("operator_number", v), nil
	}
	found, err := p.Deliveries.DeliveriesTo(ctx, by, message.NumberDeliverySearch{Number: number, After: v.Form.Value("after")}, web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v.Data = map[string]any{"Deliveries": found, "Last": web.LastOfFull(found), "Number": number}
	return web.Page("operator_number", v), nil
}

// tierRequests serves GET /tier-requests: coaches who asked for a tier, oldest request first.
func (p pages) tierRequests(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	var after coach.TierRequestCursor
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		after = coach.TierRequestCursor{At: at, CoachID: r.Value("after")}
	}
	requests, err := p.Subscriptions.Requests(ctx, by, after, web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "tier-requests", "operator.tier_requests.title")
	v.Form = new(web.Form)
	v.Data = map[string]any{"Requests": requests, "Last": web.LastOfFull(requests), "Done": r.Value("done"), "Tiers": p.Subscriptions.Tiers}
	return web.Page("operator_tier_requests", v), nil
}

// decideTier serves POST /tier-requests/{coach_id}: it approves or refuses the tier that the operator
// saw.
func (p pages) decideTier(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	id, tier, done := r.PathValue("coach_id"), r.Form.Get("tier"), "approved"
	var err error
	if r.Form.Get("decision") == "refuse" {
		done = "refused"
		_, err = p.Subscriptions.Refuse(ctx, by, id, tier, strings.TrimSpace(r.Form.Get("reason")))
	} else {
		_, err = p.Subscriptions.Approve(ctx, by, id, tier)
	}
	switch fault.KindOf(err) {
	case fault.Conflict: // decided or changed since
		done = "changed"
	case fault.Invalid:
		done = "reason"
	default:
		if err != nil {
			return web.Response{}, err
		}
	}
	return web.Redirect("/tier-requests?done=" + done), nil
}

// retryDelivery serves POST /deliveries/{delivery_id}: it sends a message again.
func (p pages) retryDelivery(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	_, err := p.Deliveries.RetryFailed(ctx, by, r.PathValue("delivery_id"), message.DeliveryRecord.CheckRetry)
	if fault.KindOf(err) == fault.Conflict {
		return web.Redirect("/deliveries?done=no"), nil
	}
	if err != nil {
		return web.Response{}, err
	}
	return web.Redirect("/deliveries?done=yes"), nil
}

// audit serves GET /audit: what operators did, newest first.
func (p pages) audit(ctx context.Context, r *web.Request, by actor.Operator) (web.Response, error) {
	entries, err := p.Tokens.Audit(ctx, by, "", r.Value("after"), web.ListPage)
	if err != nil {
		return web.Response{}, err
	}
	v := p.site.NewView(r, "audit", "operator.audit.title")
	v.Data = map[string]any{"Entries": entries, "Last": web.LastOfFull(entries)}
	return web.Page("operator_audit", v), nil
}
