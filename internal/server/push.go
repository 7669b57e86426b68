package server

import (
	"net/mail"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message/push"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/worker"
)

// newPush returns the sender of push messages.
func newPush(cfg *config.Config, o Options, keys *auth.Keys, subscriptions push.Store) (worker.Sender, error) {
	c := push.Config{
		Store: subscriptions, Client: webhook.NewClient(cfg.Endpoints.PushNetworks), Key: keys.VAPID, Contact: pushContact(cfg), Now: o.Now,
	}
	if a, ok := cfg.ServiceAccount(); ok {
		fcm, err := push.NewFCM(push.FCMConfig{
			API: cfg.Endpoints.FCM, ProjectID: a.ProjectID, Email: a.ClientEmail, KeyID: a.PrivateKeyID, PrivateKey: a.PrivateKey, TokenURL: a.TokenURI, Now: o.Now,
		})
		if err != nil {
			return nil, err
		}
		c.FCM = fcm
	}
	return push.New(c), nil
}

// pushContact returns how a push service reaches the operator.
func pushContact(cfg *config.Config) string {
	if strings.HasPrefix(cfg.PublicURL, "https://") {
		return cfg.PublicURL
	}
	if from, err := mail.ParseAddress(cfg.MailServer().From); err == nil {
		return from.Address
	}
	return "touchline@localhost"
}

// newPushSubscriptions returns the subscriptions for push messages.
func newPushSubscriptions(cfg *config.Config, o Options, db *database.DB, keys *auth.Keys) *notice.PushSubscriptions {
	networks := webhook.Networks(cfg.Endpoints.PushNetworks)
	_, apps := cfg.ServiceAccount()
	return &notice.PushSubscriptions{
		DB: db, Vault: keys.Vault, Key: push.PublicKey(keys.VAPID), Reachable: networks.Allows, PlainHTTP: networks.AllowsHTTP, Apps: apps, NewID: o.NewID,
	}
}
