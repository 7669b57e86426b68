package server

import (
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/mail"
	"github.com/touchline/touchline/internal/message/push"
	"github.com/touchline/touchline/internal/message/sms"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/server/devphone"
	"github.com/touchline/touchline/internal/worker"
)

// channel is one way to reach people.
type channel struct {
	// route is nil if coaches cannot choose the channel and no address leads there.
	route message.Route
	// ofTeam is true if only messages of coaches choose the channel: a request names SMS.
	ofTeam bool
	// byDefault is true if a request for which the coach names no channel uses it.
	byDefault bool
	// newSender is nil if nothing leaves the service.
	newSender func() (worker.Sender, error)
}

type channels map[message.Channel]channel

// newChannels returns the channels of the service. A new channel is one more entry. Without
// keys they send nothing. observe is called with each attempt to send an SMS.
func newChannels(cfg *config.Config, o Options, keys *auth.Keys, subscriptions push.Store, phones *devphone.Phones, observe func(provider, outcome string), accepted acceptedFunc) channels {
	isTest := isTestNumber(cfg, o)
	all := channels{
		message.InApp: {route: message.RouteInApp, byDefault: true},
		message.SMS: {
			byDefault: true,
			route:     message.RouteToNumber(cfg.SMSAllowed, isTest),
			newSender: func() (worker.Sender, error) {
				c := smsConfig(cfg, o, keys.Vault)
				c.Observe = observe
				if phones != nil {
					c.Received = receiveSMS(phones)
				}
				provider, err := sms.New(c)
				if err != nil {
					return nil, err
				}
				return sms.NewOutboxSender(provider, c.SendsRegistered(), isTest), nil
			},
		},
		message.Push: {
			newSender: func() (worker.Sender, error) { return newPush(cfg, o, keys, subscriptions) },
		},
	}
	if cfg.HasWhatsApp() {
		all[message.Chat] = channel{
			ofTeam: true, route: all[message.SMS].route,
			newSender: func() (worker.Sender, error) { return newWhatsApp(cfg, o, isTest, phones, accepted) },
		}
	}
	if cfg.HasVoice() { // without a route: only OTPs leave by call
		all[message.Voice] = channel{newSender: func() (worker.Sender, error) { return newVoice(cfg, o, keys.Vault, isTest, phones, accepted) }}
	}
	if cfg.MailServer().URL != "" {
		all[message.Email] = channel{
			byDefault: true,
			route:     message.RouteToEmail(isTest),
			newSender: func() (worker.Sender, error) { return mail.New(mailConfig(cfg, o, keys.Vault)) },
		}
	}
	return all
}

// mailConfig returns the configuration of mail.
func mailConfig(cfg *config.Config, o Options, vault *vault.Vault) mail.Config {
	m := cfg.MailServer()
	return mail.Config{
		Server: m.URL, Password: m.Password, CAFile: m.CAFile, From: m.From, FromName: cfg.Brand,
		StopURL:   func(address string) string { return cfg.PublicURL + "/unsubscribe/" + vault.MailToken(address) },
		NoticeURL: cfg.PublicURL + "/notice", Now: o.Now,
	}
}

// newBounces returns the receiver of reports about mails that did not arrive.
func newBounces(cfg *config.Config, o Options, db *outbox.Store) *message.Bounces {
	return &message.Bounces{Store: db, Secret: cfg.MailServer().BounceSecret, Read: mail.ReadBounce, Log: o.Log}
}

// defaults returns the channels of a request for which the coach names none, where the party
// has an address on them.
func (c channels) defaults() []message.Channel {
	var names []message.Channel
	for _, name := range append([]message.Channel{message.InApp}, message.ChosenChannels...) {
		if channel, ok := c[name]; ok && channel.byDefault {
			names = append(names, name)
		}
	}
	return names
}

func (c channels) routes() map[message.Channel]message.Route {
	routes := map[message.Channel]message.Route{}
	for name, channel := range c {
		if channel.route != nil && !channel.ofTeam {
			routes[name] = channel.route
		}
	}
	return routes
}

// delivery has the channels by which the store, the API and the worker deliver notifications.
type delivery struct {
	senders map[message.Channel]worker.Sender
	queue   *message.QueueSignal // wakes the outbox
	hub     *notice.Hub          // wakes the event streams
	waiting *notice.Hub          // calls that wait for a change
	// expansion wakes the job that gives the recipients of a message their deliveries.
	expansion *worker.Signal
	// webhooks wakes the job that sends changes to other services.
	webhooks *worker.Signal
}

// maxWaitingCalls is how many calls of a token may wait for a change in this process. One
// more ends the oldest.
const maxWaitingCalls = 10

func newDelivery(c channels, maxStreams int) (delivery, error) {
	senders, err := c.newSenders()
	if err != nil {
		return delivery{}, err
	}
	queue := message.NewQueueSignal(slices.Sorted(maps.Keys(senders))...)
	return delivery{senders: senders, queue: queue, hub: &notice.Hub{MaxStreams: maxStreams}, waiting: &notice.Hub{KeepNewest: maxWaitingCalls}, expansion: worker.NewSignal(), webhooks: worker.NewSignal()}, nil
}

// wakeFeed wakes the calls that wait for a change and, if this replica added it, the webhooks:
// the replica that adds a change sends it.
func (d delivery) wakeFeed(here bool) {
	d.waiting.WakeAll()
	if here {
		d.webhooks.Wake()
	}
}

func (c channels) newSenders() (map[message.Channel]worker.Sender, error) {
	senders := map[message.Channel]worker.Sender{}
	for name, channel := range c {
		if channel.newSender == nil {
			continue
		}
		sender, err := channel.newSender()
		if err != nil {
			return nil, err
		}
		senders[name] = sender
	}
	return senders, nil
}

// hasChat reports whether the service has a transport for the chat.
func (c channels) hasChat() bool { return c[message.Chat].route != nil }

// accepts reports whether a channel takes messages to a number, also if it sends none to it
// because it is a test number.
func (c channels) accepts(name message.Channel, n phone.Number) bool {
	channel, ok := c[name]
	return ok && channel.route != nil && channel.route(message.Addresses{Number: n}).State != message.FailedState
}

// destination returns where a channel sends messages to a person.
func (c channels) destination(name message.Channel, a message.Addresses) message.Destination {
	channel, ok := c[name]
	if !ok || channel.route == nil {
		return message.Destination{}
	}
	return channel.route(a)
}
