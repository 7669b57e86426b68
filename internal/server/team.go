package server

import (
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// teamServices are the services of package team.
type teamServices struct {
	batches    *team.Batches
	attendance *team.Attendance
	messages   *team.Messages
	records    *team.Records
	fees       *team.Fees
	// feeServices are what families have of fees.
	feeServices *team.FeeServices
}

func newTeamServices(cfg *config.Config, o Options, db *store.DB, ch channels, tiers coach.Tiers, operator operatorServices) teamServices {
	checkFeature := func(tier, feature string) error {
		return tiers.CheckFeature(coach.TierStatus{Tier: tier}, feature)
	}
	return teamServices{
		batches:    &team.Batches{Store: db, CheckFeature: checkFeature, Now: o.Now, NewID: o.NewID},
		attendance: &team.Attendance{Store: db, CheckFeature: checkFeature, Now: o.Now},
		messages: &team.Messages{
			Store:        db,
			PerDay:       func(tier string) int { return int(tiers.Of(tier).Limits.MessagesPerDay) },
			CheckFeature: checkFeature, HasChat: ch.hasChat(), Now: o.Now, NewID: o.NewID,
		},
		records:     &team.Records{Store: db, CheckFeature: checkFeature, NewID: o.NewID},
		fees:        newFees(cfg, o, db, operator),
		feeServices: &team.FeeServices{Families: db, Reminders: db, CheckFeature: operator.Subscriptions.CheckFeature, Now: o.Now},
	}
}

// messageRules returns the rules of the messages that coaches write.
func messageRules(cfg *config.Config, ch channels) team.MessageRules {
	channelOf := map[team.Channel]notify.Channel{team.SMS: notify.SMS, team.Chat: notify.WhatsApp}
	rules := team.MessageRules{
		CopyGuardian: cfg.CopyGuardian,
		HasChat:      ch.hasChat(),
		Reachable:    func(c team.Channel, n phone.Number) bool { return ch.accepts(channelOf[c], n) },
		Render: func(l team.Letter) string {
			return notify.TeamText(notify.TeamMessage{
				CoachName: l.CoachName, Text: l.Text, StudentName: l.StudentName, Restricted: l.Restricted, StopURL: notify.StopURL(cfg.PublicURL), Language: l.Language,
			})
		},
		Segments: notify.Segments,
	}
	if len(cfg.SMSPrices) > 0 {
		rules.Currency = cfg.SMSCurrency
		rules.Price = func(n phone.Number) team.Cost { return team.Cost(cfg.SegmentPrice(n)) }
	}
	return rules
}
