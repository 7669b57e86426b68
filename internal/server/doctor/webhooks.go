package doctor

import (
	"context"
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
	var results []Result
	for _, w := range all {
		switch host := hostOf(w.URL); {
		case w.DisabledReason == feed.DisabledGone || w.DisabledReason == feed.DisabledFailing:
			results = append(results, warning("Webhook %s (%s) is disabled (%s) since %s: repair its endpoint and enable it.", w.ID, host, w.DisabledReason, day(w.DisabledAt)))
		case !w.Enabled():
		case !w.FailingSince.IsZero():
			results = append(results, failed("Webhook %s (%s) accepts no messages since %s: repair its endpoint.", w.ID, host, day(w.FailingSince)))
		default:
			if err := webhook.Check(ctx, c.cfg.WebhookNetworks, w.URL); err != nil {
				results = append(results, failed("Webhook %s (%s) cannot be reached: %v. Repair its endpoint.", w.ID, host, err))
			}
		}
	}
	if len(results) == 0 {
		return one(ok("All %d webhooks can be reached and accept messages.", len(all)))
	}
	return results
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
