package web

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/notify"
)

// deliveries serves GET /deliveries: messages that failed, newest first.
func (c *Console) deliveries(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	var search notify.FailedDeliverySearch
	if at, err := time.Parse(time.RFC3339Nano, r.Value("at")); err == nil {
		search.After = notify.FailedDeliveryCursor{At: at, ID: r.Value("after")}
	}
	failed, err := c.Deliveries.Failed(ctx, by, search, listPage)
	if err != nil {
		return Response{}, err
	}
	v := c.view(r, "deliveries", "operator.deliveries.title")
	v.Data = map[string]any{"Deliveries": failed, "Last": lastOfFull(failed), "Retried": r.Value("done") == "yes", "Refused": r.Value("done") == "no"}
	return page("operator_deliveries", v), nil
}

// retryDelivery serves POST /deliveries/{delivery_id}: it sends a message again.
func (c *Console) retryDelivery(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	id, err := r.PathID("delivery_id")
	if err != nil {
		return Response{}, err
	}
	_, err = c.Deliveries.Retry(ctx, by, id)
	if fault.KindOf(err) == fault.Conflict {
		return redirect("/deliveries?done=no"), nil
	}
	if err != nil {
		return Response{}, err
	}
	return redirect("/deliveries?done=yes"), nil
}

// audit serves GET /audit: what operators did, newest first.
func (c *Console) audit(ctx context.Context, r *Request, by actor.Operator) (Response, error) {
	entries, err := c.Tokens.Audit(ctx, by, "", r.Value("after"), listPage)
	if err != nil {
		return Response{}, err
	}
	v := c.view(r, "audit", "operator.audit.title")
	v.Data = map[string]any{"Entries": entries, "Last": lastOfFull(entries)}
	return page("operator_audit", v), nil
}
