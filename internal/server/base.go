package server

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/securitylog"
	"github.com/touchline/touchline/internal/server/devphone"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/training"
)

// base has the parts that the services, the listeners and the worker of a replica share.
type base struct {
	sql       *database.DB
	db        *store.DB
	accounts  auth.Store
	approvals *player.Service
	keys      *auth.Keys
	tiers     coach.Tiers
	channels  channels
	delivery  delivery
	readiness *readiness
	// gate is closed while the log of consents cannot prove the approvals.
	gate     *proof.Gate
	security *securitylog.Log
	metrics  *metrics.Metrics
	budgets  budgets
	load     *load
	push     *notice.PushSubscriptions
	privacy  *privacy.Service
	ledger   *privacy.Ledger
	// certificateEnds returns when the TLS certificates end, by name; nil without TLS.
	certificateEnds func() map[string]time.Time
	// phones are nil where a message can reach a person.
	phones *devphone.Phones
}

// Hooks list what features do in the transactions of the store. Tests of the store use them, too.
func Hooks(rules approval.Rules, retention privacy.Retention) store.Hooks {
	return store.Hooks{
		CoachLeft:   []func(context.Context, *store.Tx, string) error{conversation.CoachLeft, progress.CoachLeft, roster.CoachLeft, fee.CoachLeft, training.CoachLeft, notice.CoachLeft},
		Consents:    player.Consents{Rules: rules, Hooks: PlayerHooks},
		Erased:      proof.Erased,
		BeforeSweep: []func(context.Context, *store.DB, time.Time) (int64, error){feed.BeforeSweep, player.DeleteLinks, player.FreeShortCodes(), retention.BeforeSweep},
		Expired:     slices.Concat(auth.Expired, player.Expired, []store.Expired{identity.Expired}, notice.Expired, feed.Expired, []store.Expired{progress.Expired}, roster.Expired, training.Expired),
	}
}

// PlayerHooks list what features do in the transactions of consents.
var PlayerHooks = player.Hooks{
	PlayerAdded:    roster.PlayerAdded,
	ConsentChanged: proof.ConsentChanged,
	OpenShown:      proof.OpenShown,
	PlayerRemoved:  []func(context.Context, *store.Tx, string, string) error{conversation.PlayerRemoved, progress.PlayerRemoved, training.PlayerRemoved},
}

func newBase(ctx context.Context, cfg *config.Config, o Options, sql *database.DB, tiers coach.Tiers) (base, error) {
	keys, err := openKeys(ctx, cfg, o, auth.NewInstallation(sql))
	if err != nil {
		return base{}, err
	}
	m := metrics.New(buildinfo.Read())
	phones := newPhones(cfg, o)
	var db *store.DB
	subscriptions := newPushSubscriptions(cfg, o, sql, keys)
	accepted := func(ctx context.Context, deliveryID, providerID string) error {
		return db.Outbox.SaveProviderID(ctx, deliveryID, providerID)
	}
	ch := newChannels(cfg, o, keys, subscriptions, phones, m.SMSAttempt, accepted)
	senders := ch
	if o.Silent {
		senders = nil
	}
	d, err := newDelivery(senders, cfg.Streams)
	if err != nil {
		return base{}, err
	}
	if phones != nil {
		phones.Hub = d.hub
	}
	names, err := RefusedNames(cfg)
	if err != nil {
		return base{}, err
	}
	approvals := newApprovals(cfg, o, ch, tiers)
	gate := &proof.Gate{}
	approvals.Rules.Unproved = gate.Closed
	approvals.Rules.Claims = names
	db = store.New(sql, store.Options{
		NewID: o.NewID, Rand: o.Rand, Settings: storeSettings(cfg, ch, tiers), Vault: keys.Vault,
		OnQueued:   d.queue.Wake,
		OnNotified: func(accountIDs []string) { d.hub.Wake(accountIDs...) },
		OnChanged:  d.wakeFeed,
		Hooks:      Hooks(approvals.Rules, retention(cfg)),
	})
	texts, err := noticeTexts(cfg)
	if err != nil {
		return base{}, err
	}
	kept, err := privacy.Keep(ctx, db, texts)
	if err != nil {
		return base{}, err
	}
	security := securitylog.New(o.Log, m)
	approvals.NoticeHash = func(language string) string { return kept.Current(language).Hash }
	approvals.DB, approvals.SecurityEvent, approvals.CountDecision = db, security.Event, m.Decided
	return base{
		sql:       sql,
		db:        db,
		accounts:  auth.Store{DB: db, Observer: auth.Observer{SecurityEvent: security.Event, Requested: m.Requested, Verified: m.Verified, Sessions: m.Sessions}},
		approvals: approvals,
		keys:      keys,
		tiers:     tiers,
		channels:  ch,
		delivery:  d,
		readiness: &readiness{checkDatabase: databaseCheck(sql, keys), limited: gate.Reason},
		gate:      gate,
		security:  security,
		metrics:   m,
		budgets:   newBudgets(cfg, db, o.Log),
		load:      newLoad(cfg, o.Log),
		phones:    phones,
		push:      subscriptions,
		privacy:   kept,
		ledger:    &privacy.Ledger{Path: cfg.ErasuresFile(), DB: db},
	}, nil
}

// metricsRegistry returns the metrics of the process.
func (b base) metricsRegistry(cfg *config.Config, o Options) *metrics.Registry {
	s := metrics.Sources{Database: b.db, Lanes: b.delivery.queue.Lanes(), Load: b.load.metrics(b.delivery.hub), Certificates: b.certificateEnds, Now: o.Now}
	if len(cfg.SMSPrices) > 0 {
		for _, line := range b.budgets {
			s.Costs = append(s.Costs, metrics.Costs{Name: line.name, Spent: line.spent, Budget: line.budget.Units()})
		}
	}
	return b.metrics.Registry(s)
}

// coaches stores the profiles, tiers and listings of coaches.
func (b base) coaches() coach.Store { return coach.Store{DB: b.db, Event: b.security.Event} }

// checkFeature returns a tier_limit unless the tier with a stored name has a feature.
func (b base) checkFeature(tier, feature string) error {
	return b.tiers.CheckFeature(coach.TierStatus{Tier: tier}, feature)
}
