package server

import (
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/sms"
	"github.com/touchline/touchline/internal/worker"
)

// newSenders returns the sender of each channel that leaves the service.
func newSenders(cfg *config.Config, o Options) (map[notify.Channel]worker.Sender, error) {
	provider, err := sms.New(cfg.SMS.Reveal(), o.Terminal)
	if err != nil {
		return nil, err
	}
	return map[notify.Channel]worker.Sender{
		notify.SMS: sms.NewOutboxSender(provider, isTestNumber(cfg, o)),
	}, nil
}
