package server

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/worker"
)

func newWebhookAdmin(cfg *config.Config, o Options, db operator.WebhookStore) *operator.WebhookAdmin {
	networks := webhook.Networks(cfg.WebhookNetworks)
	return &operator.WebhookAdmin{
		Store: db, Reachable: networks.Allows, PlainHTTP: networks.AllowsHTTP, Now: o.Now, NewID: o.NewID, Rand: o.Rand,
	}
}

func newWebhooks(cfg *config.Config, o Options, s *services) *worker.Webhooks {
	sender := webhook.NewSender(cfg.WebhookNetworks, o.Now)
	return worker.NewWebhooks(worker.WebhooksConfig{
		Queue: s.metrics.Webhooks(s.db),
		Send: func(ctx context.Context, target operator.WebhookTarget, m operator.WebhookMessage) (operator.WebhookAttempt, error) {
			body, err := m.Payload()
			if err != nil {
				return operator.WebhookAttempt{}, err
			}
			r, err := sender.Send(ctx, webhook.Message{ID: m.ID, URL: target.URL, Body: body, Secrets: target.Secrets})
			return operator.WebhookAttempt(r), err
		},
		Signal: s.delivery.webhooks,
		Now:    o.Now, NewTicker: o.NewTicker, NewID: o.NewID, Log: o.Log,
	})
}
