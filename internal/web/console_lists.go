package web

import (
	"context"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// ListPage is the length of one page of a list on the operators' pages.
const ListPage = 50

// LastOfFull returns the last entry of a full page, after which the next page begins, or nil.
func LastOfFull[T any](list []T) *T {
	if len(list) < ListPage {
		return nil
	}
	return &list[len(list)-1]
}

// deliveries serves GET /deliveries: messages that failed, newest first.
func (c *Console) deliveries(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	var search message.FailedDeliverySearch
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		search.After = message.FailedDeliveryCursor{At: at, ID: r.Value("after")}
	}
	failed, err := c.Deliveries.Failed(ctx, by, search, ListPage)
	if err != nil {
		return Response{}, err
	}
	v := c.NewView(r, "deliveries", "operator.deliveries.title")
	v.Form = new(Form)
	v.Data = map[string]any{"Deliveries": failed, "Last": LastOfFull(failed), "Retried": r.Value("done") == "yes", "Refused": r.Value("done") == "no"}
	return Page("operator_deliveries", v), nil
}

// searchDeliveries serves POST /deliveries/search: the messages to a number in any state. It is a
// form that is sent, because a URL must not hold a number.
func (c *Console) searchDeliveries(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	v := c.NewView(r, "deliveries", "operator.deliveries.title")
	v.Path = "/deliveries" // a change of the language cannot repeat the search
	v.Form = &Form{Values: r.Form}
	number, err := c.Phones.Parse(v.Form.Value("number"))
	if err != nil {
		v.Form.Add("number", v.MustT("invalid.invalid_number"))
		v.Data = map[string]any{"Searched": true}
		return FormPage("operator_number", v), nil
	}
	found, err := c.Deliveries.To(ctx, by, message.NumberDeliverySearch{Number: number, After: v.Form.Value("after")}, ListPage)
	if err != nil {
		return Response{}, err
	}
	v.Data = map[string]any{"Deliveries": found, "Last": LastOfFull(found), "Number": number}
	return Page("operator_number", v), nil
}

// DeliveryReason explains why a message is in its state, or returns "".
func (v *View) DeliveryReason(d message.DeliveryRecord) string {
	text, err := v.T("operator.reason." + d.Reason)
	if d.Cause != "" {
		text, err = v.T("operator.cause." + string(d.Cause))
	}
	if err != nil {
		return ""
	}
	return text
}

// tierRequests serves GET /tier-requests: coaches who asked for a tier, oldest request first.
func (c *Console) tierRequests(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	var after coach.TierRequestCursor
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		after = coach.TierRequestCursor{At: at, CoachID: r.Value("after")}
	}
	requests, err := c.Subscriptions.Requests(ctx, by, after, ListPage)
	if err != nil {
		return Response{}, err
	}
	v := c.NewView(r, "tier-requests", "operator.tier_requests.title")
	v.Form = new(Form)
	v.Data = map[string]any{"Requests": requests, "Last": LastOfFull(requests), "Done": r.Value("done"), "Tiers": c.Subscriptions.Tiers}
	return Page("operator_tier_requests", v), nil
}

// decideTier serves POST /tier-requests/{coach_id}: it approves or refuses the tier that the operator
// saw.
func (c *Console) decideTier(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	id, tier, done := r.PathValue("coach_id"), r.Form.Get("tier"), "approved"
	var err error
	if r.Form.Get("decision") == "refuse" {
		done = "refused"
		_, err = c.Subscriptions.Refuse(ctx, by, id, tier, strings.TrimSpace(r.Form.Get("reason")))
	} else {
		_, err = c.Subscriptions.Approve(ctx, by, id, tier)
	}
	switch fault.KindOf(err) {
	case fault.Conflict: // decided or changed since
		done = "changed"
	case fault.Invalid:
		done = "reason"
	default:
		if err != nil {
			return Response{}, err
		}
	}
	return Redirect("/tier-requests?done=" + done), nil
}

// retryDelivery serves POST /deliveries/{delivery_id}: it sends a message again.
func (c *Console) retryDelivery(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	_, err := c.Deliveries.Retry(ctx, by, r.PathValue("delivery_id"))
	if fault.KindOf(err) == fault.Conflict {
		return Redirect("/deliveries?done=no"), nil
	}
	if err != nil {
		return Response{}, err
	}
	return Redirect("/deliveries?done=yes"), nil
}

// audit serves GET /audit: what operators did, newest first.
func (c *Console) audit(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	entries, err := c.Tokens.Audit(ctx, by, "", r.Value("after"), ListPage)
	if err != nil {
		return Response{}, err
	}
	v := c.NewView(r, "audit", "operator.audit.title")
	v.Data = map[string]any{"Entries": entries, "Last": LastOfFull(entries)}
	return Page("operator_audit", v), nil
}
