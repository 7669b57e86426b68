package doctor

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/webhook"
)

// maxWebhooks limits the endpoints to which the check connects.
const maxWebhooks = 50

// webhooks connects to the endpoints, and reports those that fail.
func (c *checkup) webhooks(ctx context.Context) []Result {
	if c.db == nil {
		return needsDatabase()
	}
	all, err := feed.ReadWebhooks(ctx, c.db, maxWebhooks)
	if err != nil {
		return one(failed("The webhooks cannot be read: %v.", err))
	}
	if len(all) == 0 {
		return one(ok("There are no webhooks."))
	}
	results := make([][]Result, len(all))
	var wait sync.WaitGroup // endpoints that do not respond must not take the time of the others
	for i, w := range all {
		wait.Go(func() { results[i] = c.webhook(ctx, w) })
	}
	wait.Wait()
	if found := slices.Concat(results...); len(found) > 0 {
		return found
	}
	return one(ok("Each enabled webhook can be reached and accepts messages."))
}

// webhook returns what is wrong with an endpoint.
func (c *checkup) webhook(ctx context.Context, w feed.Webhook) []Result {
	host := hostOf(w.URL)
	switch {
	case w.DisabledReason == feed.DisabledGone || w.DisabledReason == feed.DisabledFailing:
		return one(warning("Webhook %s (%s) is disabled (%s) since %s: repair its endpoint and enable it.", w.ID, host, w.DisabledReason, day(w.DisabledAt)))
	case !w.Enabled():
		return nil
	case !w.FailingSince.IsZero():
		return one(failed("Webhook %s (%s) accepts no messages since %s: repair its endpoint.", w.ID, host, day(w.FailingSince)))
	}
	if err := webhook.Check(ctx, c.cfg.WebhookNetworks, w.URL); err != nil {
		return one(failed("Webhook %s (%s) cannot be reached: %v. Repair its endpoint.", w.ID, host, err))
	}
	return nil
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
