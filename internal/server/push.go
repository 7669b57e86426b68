package server

import (
	"net/mail"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/push"
	"github.com/touchline/touchline/internal/webhook"
)

// pushConfig returns the configuration of push messages.
func pushConfig(cfg *config.Config, o Options, keys *auth.Keys, subscriptions push.Store) push.Config {
	return push.Config{
		Store: subscriptions, Client: webhook.NewClient(cfg.PushNetworks), Key: keys.VAPID, Contact: pushContact(cfg), Now: o.Now,
	}
}

// pushContact returns how a push service reaches the operator.
func pushContact(cfg *config.Config) string {
	if strings.HasPrefix(cfg.PublicURL, "https://") {
		return cfg.PublicURL
	}
	if from, err := mail.ParseAddress(cfg.MailFrom); err == nil {
		return from.Address
	}
	return "touchline@localhost"
}

// newPushSubscriptions returns what the API and the pages use.
func newPushSubscriptions(cfg *config.Config, o Options, db notify.PushStore, keys *auth.Keys) *notify.PushSubscriptions {
	networks := webhook.Networks(cfg.PushNetworks)
	return &notify.PushSubscriptions{
		Store: db, Key: push.PublicKey(keys.VAPID), Reachable: networks.Allows, PlainHTTP: len(networks) > 0, Now: o.Now, NewID: o.NewID,
	}
}
