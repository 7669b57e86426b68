package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/fault"
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

func newTeam(fees *fee.Service, batches *batch.Service, attended *attendance.Service, trainings *training.Service, conversations *conversation.Service, records *progress.Service) public.Team {
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
		FamilyNews: func(ctx context.Context, by actor.Actor, playerIDs []string) (map[string]public.FamilyNews, error) {
			all := map[string]public.FamilyNews{}
			for _, id := range playerIDs {
				news, err := familyNews(ctx, by, id, fees, records, conversations)
				if err != nil {
					return nil, err
				}
				all[id] = news
			}
			return all, nil
		},
		PlayerStrip: func(ctx context.Context, by actor.Actor, playerID string) (public.PlayerStrip, error) {
			return playerStrip(ctx, by, playerID, attended, fees, records)
		},
		TeamToday: attended.Today, TookAttendance: attended.Taken,
		TrainingsToday: func(ctx context.Context, by actor.Actor, open []*team.Batch) (any, error) {
			return trainings.Today(ctx, by, open)
		},
		BatchTrainings: func(ctx context.Context, by actor.Actor, b *team.Batch) (any, error) {
			return trainings.OfBatch(ctx, by, b)
		},
		NextTrainings: func(ctx context.Context, by actor.Actor, playerIDs []string) (any, error) {
			return trainings.Next(ctx, by, playerIDs)
		},
		FamilyTrainings: func(ctx context.Context, by actor.Actor, playerID string) (any, error) {
			return trainings.OfFamily(ctx, by, playerID)
		},
		Sheets: func(ctx context.Context, by actor.Actor, batchID string, limit int) ([]team.SheetSummary, error) {
			return attended.Sheets(ctx, by, batchID, attendance.Period{}, "", limit)
		},
	}
}

// openFeesRead is how many open fees of a player the balance at the top of its page counts.
const openFeesRead = 100

func playerStrip(ctx context.Context, by actor.Actor, playerID string, attended *attendance.Service, fees *fee.Service, records *progress.Service) (strip public.PlayerStrip, err error) {
	since := team.DateOf(attended.Now().AddDate(0, 0, -90), time.UTC)
	days, err := attended.OfPlayer(ctx, by, playerID, attendance.Period{From: since}, attendance.Attended{}, 1)
	if err != nil {
		return strip, err
	}
	counts := days.Counts()
	strip.Attended = counts.Attended()
	for _, n := range counts {
		strip.Marks += n
	}
	open, err := fees.List(ctx, by, fee.Filter{PlayerID: playerID, State: fee.Unpaid, OldestFirst: true}, fee.Page{Limit: openFeesRead})
	if err != nil {
		return strip, err
	}
	for _, f := range open {
		if strip.Currency == "" || strip.Currency == f.Currency {
			strip.Currency = f.Currency
			strip.Balance += f.Balance()
		}
	}
	results, err := records.Measurements(ctx, by, playerID, "", progress.Measurement{}, 1)
	if err != nil {
		return strip, err
	}
	for _, m := range results {
		strip.Metric, strip.Result = m.Metric, m.Text()
	}
	return strip, nil
}

// familyNews leaves out what the caller may not see at the moment.
func familyNews(ctx context.Context, by actor.Actor, playerID string, fees *fee.Service, records *progress.Service, conversations *conversation.Service) (news public.FamilyNews, err error) {
	list, err := fees.ListForFamily(ctx, by, playerID, fee.Page{Limit: openFeesRead})
	if err != nil && fault.KindOf(err) != fault.Forbidden {
		return news, err
	}
	now := fees.Now()
	for _, f := range list { // the latest due date first
		if state := f.State(now); (state == fee.Due || state == fee.Overdue) && (news.Currency == "" || news.Currency == f.Currency) {
			news.Due, news.Currency, news.DueOn, news.Overdue = news.Due+f.Balance(), f.Currency, f.DueOn, state == fee.Overdue
		}
	}
	reports, err := records.Reports(ctx, by, playerID, "", 1)
	if err != nil && fault.KindOf(err) != fault.Forbidden {
		return news, err
	}
	for _, r := range reports {
		news.Report, news.ReportAt = r.Title, r.CreatedAt
	}
	results, err := records.Measurements(ctx, by, playerID, "", progress.Measurement{}, 1)
	if err != nil && fault.KindOf(err) != fault.Forbidden {
		return news, err
	}
	for _, m := range results {
		news.Metric, news.Result = m.Metric, m.Text()
	}
	written, err := conversations.Conversation(ctx, by, playerID, "", 1)
	if err != nil && fault.KindOf(err) != fault.Forbidden {
		return news, err
	}
	for _, e := range written {
		news.Message, news.FromCoach, news.MessageAt = e.Text, e.FromCoach, e.CreatedAt
	}
	return news, nil
}

// newConversations returns the service of the messages that coaches write.
func newConversations(cfg *config.Config, o Options, b base) *conversation.Service {
	return &conversation.Service{
		DB: b.db, Consent: b.approvals.Rules, Rules: messageRules(cfg, b.channels), CheckFeature: b.checkFeature, ExpandNow: true, Wake: b.delivery.expansion.Wake, Now: o.Now, NewID: o.NewID,
		PerDay: func(tier string) int { return int(b.tiers.Of(tier).Limits.MessagesPerDay) },
	}
}

func messageRules(cfg *config.Config, ch channels) conversation.Rules {
	rules := conversation.Rules{
		CopyGuardian: cfg.CopyGuardian,
		HasChat:      ch.hasChat(),
		Reachable: func(c conversation.Channel, n phone.Number) bool {
			return ch.accepts(conversation.DeliveryChannels[c], n)
		},
		Render: func(m message.TeamMessage) string {
			m.StopURL = message.StopURL(cfg.PublicURL)
			return message.TeamText(m)
		},
	}
	if len(cfg.SMSPrices) > 0 {
		rules.Currency = cfg.SMSCurrency
		rules.Price = func(n phone.Number) conversation.Cost { return conversation.Cost(cfg.SegmentPrice(n)) }
	}
	return rules
}
