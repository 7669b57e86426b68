package operator

import (
	"context"
	"time"
)

// WebhookTarget is where the messages of a webhook go, and how they are signed.
type WebhookTarget struct {
	URL string
	// Secrets sign each message: the current one, then the one before while both are valid.
	Secrets []string
}

// WebhookQueue has the messages that wait to be sent; package store implements it.
//
// The messages of one player to one webhook are sent one after the other, in the order of
// their sequence: while one waits for its next attempt, the later ones wait too.
type WebhookQueue interface {
	// DueWebhooks gives positions to new changes and returns the webhooks that have something
	// to send. anyEnabled says whether there is a webhook at all.
	DueWebhooks(ctx context.Context) (ids []string, anyEnabled bool, err error)
	// QueueWebhookMessages queues messages for the next changes of the feed and moves the
	// position of the webhook behind them, in one transaction. It returns how many changes it
	// handled.
	QueueWebhookMessages(ctx context.Context, id string) (int64, error)
	// ClaimWebhookMessages claims up to n due messages until a time; after that another claim
	// may take them. There are none if the webhook is disabled, pauses or was deleted.
	ClaimWebhookMessages(ctx context.Context, id, lease string, until time.Time, n int) (WebhookTarget, []WebhookMessage, error)
	// SaveWebhookResult saves the result of an attempt. It changes nothing if the claim has
	// ended.
	SaveWebhookResult(ctx context.Context, id string, m WebhookMessage, r WebhookResult) (WebhookHealth, error)
}

// WebhookHealth is a change of the endpoint's state, for the log.
type WebhookHealth struct {
	// FirstFailure says that the attempt failed and the one before did not.
	FirstFailure bool
	// Disabled is the reason if the result disabled the webhook, or "".
	Disabled string
}
