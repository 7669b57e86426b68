package server

import (
	"context"
	"encoding/json"

	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/service/public"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/training"
)

// checkFeature returns a tier_limit unless the tier with a stored name has a feature.
func (b base) checkFeature(tier, feature string) error {
	return b.tiers.CheckFeature(coach.TierStatus{Tier: tier}, feature)
}

func newTeam(fees *fee.Service, batches *batch.Service, attended *attendance.Service, trainings *training.Service, conversations *conversation.Service) public.Team {
	return public.Team{
		Batch: batches.Batch, BatchNames: batches.Names,
		RecentMessages: func(ctx context.Context, by actor.Actor) (list []json.Marshaler, unread int, err error) {
			messages, unread, err := conversations.Recent(ctx, by)
			list = []json.Marshaler{}
			for _, m := range messages {
				list = append(list, m)
			}
			return list, unread, err
		},
		NewReplies:    conversations.NewReplies,
		UnreadReplies: conversations.Unread,
		UnpaidFees:    fees.Unpaid,
		TeamToday:     attended.Today, TookAttendance: attended.Taken,
		TrainingsToday: func(ctx context.Context, by actor.Actor, open []*team.Batch) (any, error) {
			return trainings.Today(ctx, by, open)
		},
	}
}

// shownOnBatches returns what other features show on the pages of batches.
func shownOnBatches(attended *attendance.Service, trainings *training.Service) batch.Shown {
	return batch.Shown{
		Sheets: func(ctx context.Context, by actor.Actor, batchID string, limit int) ([]team.SheetSummary, error) {
			return attended.Sheets(ctx, by, batchID, attendance.Period{}, "", limit)
		},
		Trainings: func(ctx context.Context, by actor.Actor, b *team.Batch) (any, error) {
			return trainings.OfBatch(ctx, by, b)
		},
		FamilyTrainings: func(ctx context.Context, by actor.Actor, playerID string) (any, error) {
			return trainings.OfFamily(ctx, by, playerID)
		},
	}
}

// shownOnConsent returns what other features show on the pages of consent.
func shownOnConsent(identities *identity.Service, fees *fee.Service, attended *attendance.Service, trainings *training.Service, records *progress.Service, conversations *conversation.Service) consent.Shown {
	return consent.Shown{
		Providers: identities.Choices,
		News: func(ctx context.Context, by actor.Actor, playerIDs []string) (map[string]public.FamilyNews, error) {
			return familyNews(ctx, by, playerIDs, fees, records, conversations)
		},
		Trainings: func(ctx context.Context, by actor.Actor, playerIDs []string) (any, error) {
			return trainings.Next(ctx, by, playerIDs)
		},
		Strip: func(ctx context.Context, by actor.Actor, playerID string) (consent.Strip, error) {
			return playerStrip(ctx, by, playerID, attended, fees, records)
		},
	}
}

func playerStrip(ctx context.Context, by actor.Actor, playerID string, attended *attendance.Service, fees *fee.Service, records *progress.Service) (strip consent.Strip, err error) {
	if strip.Attended, strip.Marks, err = attended.Share(ctx, by, playerID); err != nil {
		return strip, err
	}
	owed, err := fees.Owed(ctx, by, []string{playerID})
	if err != nil {
		return strip, err
	}
	strip.Balance, strip.Currency = owed[playerID].Amount, owed[playerID].Currency
	results, err := records.Measurements(ctx, by, playerID, "", progress.Measurement{}, 1)
	if err != nil || len(results) == 0 {
		return strip, err
	}
	strip.Metric, strip.Result = results[0].Metric, results[0].Text()
	return strip, nil
}

func familyNews(ctx context.Context, by actor.Actor, playerIDs []string, fees *fee.Service, records *progress.Service, conversations *conversation.Service) (map[string]public.FamilyNews, error) {
	owed, err := fees.Owed(ctx, by, playerIDs)
	if err != nil {
		return nil, err
	}
	reports, err := records.NewestReports(ctx, by, playerIDs)
	if err != nil {
		return nil, err
	}
	results, err := records.NewestMeasurements(ctx, by, playerIDs)
	if err != nil {
		return nil, err
	}
	written, err := conversations.NewestEntries(ctx, by, playerIDs)
	if err != nil {
		return nil, err
	}
	all := map[string]public.FamilyNews{}
	for _, id := range playerIDs {
		due, report, message := owed[id], reports[id], written[id]
		news := public.FamilyNews{
			Due: due.Amount, Currency: due.Currency, DueOn: due.DueOn, Overdue: due.Overdue,
			Report: report.Title, ReportAt: report.CreatedAt, Message: message.Text, FromCoach: message.FromCoach, MessageAt: message.CreatedAt,
		}
		if m, found := results[id]; found {
			news.Metric, news.Result = m.Metric, m.Text()
		}
		all[id] = news
	}
	return all, nil
}

// newConversations returns the service of the messages that coaches write.
func newConversations(cfg *config.Config, o Options, b base) *conversation.Service {
	return &conversation.Service{
		DB: b.db, Consent: b.approvals.Access(), Rules: messageRules(cfg, b.channels), CheckFeature: b.checkFeature, ExpandNow: true, Wake: b.delivery.expansion.Wake, Now: o.Now, NewID: o.NewID,
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
