package server

import (
	"context"

	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/server/service/public"
	"github.com/touchline/touchline/internal/team"
)

// checkFeature returns a tier_limit unless the tier with a stored name has a feature.
func (b base) checkFeature(tier, feature string) error {
	return b.tiers.CheckFeature(coach.TierStatus{Tier: tier}, feature)
}

func newTeam(o Options, b base, fees *fee.Service, batches *batch.Service, attended *attendance.Service) public.Team {
	return public.Team{
		Batch: batches.Batch, BatchNames: batches.Names,
		Messages: &team.Messages{
			Store:        b.db,
			PerDay:       func(tier string) int { return int(b.tiers.Of(tier).Limits.MessagesPerDay) },
			CheckFeature: b.checkFeature, HasChat: b.channels.hasChat(), Expand: b.db.ExpandAccepted, Now: o.Now, NewID: o.NewID,
		},
		UnpaidFees: fees.Unpaid,
		TeamToday:  attended.Today,
		Sheets: func(ctx context.Context, by actor.Actor, batchID string, limit int) ([]team.SheetSummary, error) {
			return attended.Sheets(ctx, by, batchID, attendance.Period{}, "", limit)
		},
	}
}

// messageRules returns the rules of the messages that coaches write.
func messageRules(cfg *config.Config, ch channels) team.MessageRules {
	channelOf := map[team.Channel]message.Channel{team.SMS: message.SMS, team.Chat: message.WhatsApp}
	rules := team.MessageRules{
		CopyGuardian: cfg.CopyGuardian,
		HasChat:      ch.hasChat(),
		Reachable:    func(c team.Channel, n phone.Number) bool { return ch.accepts(channelOf[c], n) },
		Render: func(l team.OutgoingText) string {
			return message.TeamText(message.TeamMessage{
				CoachName: l.CoachName, Text: l.Text, StudentName: l.StudentName, Restricted: l.Restricted, StopURL: message.StopURL(cfg.PublicURL), Language: l.Language,
			})
		},
		Segments: message.Segments,
	}
	if len(cfg.SMSPrices) > 0 {
		rules.Currency = cfg.SMSCurrency
		rules.Price = func(n phone.Number) team.Cost { return team.Cost(cfg.SegmentPrice(n)) }
	}
	return rules
}
