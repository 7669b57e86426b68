package metrics

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
)

// Webhooks returns queue with attempts counted.
func (m *Metrics) Webhooks(queue operator.WebhookQueue) operator.WebhookQueue {
	return &webhookQueue{queue, m}
}

type webhookQueue struct {
	operator.WebhookQueue
	m *Metrics
}

// webhookOutcomes are the label values of the states after an attempt.
var webhookOutcomes = map[string]string{
	operator.MessageDelivered: "delivered", operator.MessageQueued: "retried", operator.MessageFailed: "failed",
}

func (q *webhookQueue) SaveWebhookResult(ctx context.Context, id string, msg operator.WebhookMessage, r operator.WebhookResult) (operator.WebhookHealth, error) {
	health, err := q.WebhookQueue.SaveWebhookResult(ctx, id, msg, r)
	if err == nil {
		q.m.webhooks.WithLabelValues(webhookOutcomes[r.State]).Inc()
	}
	return health, err
}
