package server

import (
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/sms"
	"github.com/touchline/touchline/internal/worker"
)

// newSenders returns the sender of each channel that leaves the service.
func (a *App) newSenders() (map[notify.Channel]worker.Sender, error) {
	provider, err := sms.New(a.cfg.SMS.Reveal(), a.edges.Terminal)
	if err != nil {
		return nil, err
	}
	return map[notify.Channel]worker.Sender{
		notify.SMS: sms.NewOutboxSender(provider, a.testNumber),
	}, nil
}
