package server

import (
	"context"

	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/store"
)

func newWebhooks(cfg *config.Config, o Options, db *store.DB, queued func()) *feed.Webhooks {
	networks := webhook.Networks(cfg.WebhookNetworks)
	sender := webhook.NewSender(networks, o.Now)
	return &feed.Webhooks{
		DB: db, Reachable: networks.Allows, PlainHTTP: networks.AllowsHTTP, OnQueued: queued, Now: o.Now, NewID: o.NewID, Rand: o.Rand,
		Send: func(ctx context.Context, target feed.WebhookTarget, m feed.WebhookMessage) (feed.WebhookAttempt, error) {
			body, err := m.Payload()
			if err != nil {
				return feed.WebhookAttempt{}, err
			}
			r, err := sender.Send(ctx, webhook.Message{ID: m.ID, URL: target.URL, Body: body, Secrets: target.Secrets})
			return feed.WebhookAttempt(r), err
		},
	}
}

func newWebhookSender(o Options, s *services) *feed.Sender {
	return feed.NewSender(feed.SenderConfig{
		Webhooks: s.feed.Webhooks, Attempted: s.metrics.WebhookAttempted, Signal: s.delivery.webhooks,
		Now: o.Now, NewTicker: o.NewTicker, NewID: o.NewID, Log: o.Log,
	})
}
