package server

import (
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
)

// newConversations returns the service of the messages that coaches write.
func newConversations(cfg *config.Config, o Options, b base, coaches *coach.Service, subscriptions *coach.Subscriptions) *conversation.Service {
	return &conversation.Service{
		DB: b.db, Approvals: b.approvals, Coaches: coaches, Subscriptions: subscriptions, Consent: b.approvals.Access(), Rules: messageRules(cfg, b.channels), CheckFeature: b.checkFeature, ExpandNow: true, Wake: b.delivery.expansion.Wake, Now: o.Now, NewID: o.NewID,
		PerDay: func(tier string) int { return int(b.tiers.Of(tier).Limits.MessagesPerDay) },
	}
}

func messageRules(cfg *config.Config, ch channels) conversation.Rules {
	rules := conversation.Rules{
		CopyGuardian: cfg.CopyGuardian,
		HasChat:      ch.hasChat(),
		Reachable: func(c conversation.Channel, n phone.Number) bool {
			return ch.accepts(c, n)
		},
		Render: func(m message.TeamMessage) string {
			m.StopURL = message.StopURL(cfg.PublicURL)
			return message.TeamText(m)
		},
	}
	if len(cfg.SMSPrices) > 0 {
		rules.Currency = cfg.SMSCurrency
		rules.Price = func(n phone.Number) conversation.Cost { return conversation.Cost(cfg.SegmentPrice(n)) }
		rules.ChatPrice = func(n phone.Number) conversation.Cost { return conversation.Cost(cfg.ChatPrice(n)) }
	}
	return rules
}
