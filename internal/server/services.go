package server

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/buildinfo"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/securitylog"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/upload"
)

// services are the services that the API, the operators' API and the worker share.
type services struct {
	db          *store.DB
	keys        *auth.Keys
	auth        *auth.Service
	approvals   *approval.Service
	imports     *roster.Service
	team        teamServices
	coach       coachServices
	operator    operatorServices
	tray        *notify.Tray
	streams     *notify.Streams
	delivery    delivery
	idempotency *idempotency.Service
	uploads     upload.Limiter
	readiness   *readiness
	security    *securitylog.Log
	logged      securitylog.Stores // db with its security events logged
	metrics     *metrics.Metrics
	budget      *smsBudget
	load        *load
}

func newServices(ctx context.Context, cfg *config.Config, o Options, sql *database.DB, files blob.Store, tiers coach.Tiers) (*services, error) {
	keys, err := openKeys(ctx, cfg, store.NewInstallation(sql), o.Now)
	if err != nil {
		return nil, err
	}
	var m *metrics.Metrics // assigned below, before the worker sends the first message
	ch := newChannels(cfg, o, keys, store.NewPushSubscriptions(sql, keys.Vault, o.Now), func(provider, outcome string) { m.SMSAttempt(provider, outcome) })
	d, err := newDelivery(ch, cfg.Streams)
	if err != nil {
		return nil, err
	}
	db := store.New(sql, store.Options{
		NewID: o.NewID, Rand: o.Rand, Settings: storeSettings(cfg, ch, tiers), Vault: keys.Vault,
		OnQueued:   d.queue.Wake,
		OnMessage:  d.expansion.Wake,
		OnNotified: func(accountIDs []string) { d.hub.Wake(accountIDs...) },
		OnChanged:  d.wakeFeed,
	})
	load := newLoad(cfg)
	m = metrics.New(buildinfo.Read(), db, d.queue.Lanes(), load.metrics(d.hub), o.Now)
	budget := &smsBudget{db: db, budget: cfg.SMSBudget, log: o.Log}
	if len(cfg.SMSPrices) > 0 {
		m.WatchSMSCosts(budget.spent, cfg.SMSBudget.Units())
	}
	security := securitylog.New(o.Log, m)
	logged := security.Stores(db)
	coaches, err := newCoachServices(cfg, o, db, files, tiers, logged)
	if err != nil {
		return nil, err
	}
	approvals := newApprovals(cfg, o, logged, ch, tiers)
	operators := newOperatorServices(cfg, o, db, logged, tiers, approvals)
	teams := newTeamServices(cfg, o, db, ch, tiers, operators)
	return &services{
		db:          db,
		keys:        keys,
		auth:        newAuth(cfg, o, logged, keys),
		approvals:   approvals,
		imports:     newImports(o, db, approvals, teams.batches, operators),
		team:        teams,
		coach:       coaches,
		operator:    operators,
		tray:        &notify.Tray{Store: db, Now: o.Now},
		streams:     &notify.Streams{Hub: d.hub, Store: db, Process: o.NewID(), Now: o.Now, NewID: o.NewID},
		delivery:    d,
		idempotency: idempotency.New(db, keys.Vault.For(auth.ForResponses), o.Now, o.NewID),
		readiness:   &readiness{db: sql},
		security:    security,
		budget:      budget,
		logged:      logged,
		metrics:     m,
		load:        load,
	}, nil
}

func newAuth(cfg *config.Config, o Options, db auth.Store, keys *auth.Keys) *auth.Service {
	newTokens := auth.NewTokens
	if !cfg.PublicURLSet() {
		newTokens = auth.NewTokensWithoutURL
	}
	return &auth.Service{
		Store:  db,
		Keys:   keys,
		Tokens: newTokens(keys, cfg.PublicURL, cfg.AccessTokenLifetime, o.Now),
		Settings: auth.Settings{
			OTPLength:           cfg.OTPLength,
			OTPValidity:         cfg.OTPValidity,
			OTPTries:            cfg.OTPTries,
			OTPResendAfter:      cfg.OTPResendAfter,
			OTPWrongPerDay:      cfg.OTPWrongPerDay,
			SendsPerHour:        cfg.OTPSendsPerHour,
			SendsPerDay:         cfg.OTPSendsPerDay,
			SendsPerAddressHour: cfg.OTPSendsPerAddressHour,
			SendsTotalHour:      cfg.OTPSendsTotalHour,
			AccessLifetime:      cfg.AccessTokenLifetime,
			RefreshIdle:         cfg.RefreshTokenIdle,
			RefreshLifetime:     cfg.RefreshTokenLifetime,
			RefreshGrace:        cfg.RefreshGrace,
			FraudRule:           cfg.OTPFraudRule,
			DefaultRegion:       cfg.DefaultRegion,
			OTPChannel:          string(otpChannel(cfg)),
			Reachable:           cfg.SMSAllowed,
			TestCode: func(n phone.Number, now time.Time) string {
				code, _ := cfg.TestCode(n, now)
				return code.Reveal()
			},
		},
		Now: o.Now, NewID: o.NewID, Rand: o.Rand,
	}
}

func newApprovals(cfg *config.Config, o Options, db approval.Store, ch channels, tiers coach.Tiers) *approval.Service {
	return approval.NewService(db, approval.Rules{
		ResendAfter:              cfg.ResendAfter,
		RemindersPerWindow:       cfg.RemindersPerWindow,
		ReminderWindow:           cfg.ReminderWindow,
		RequireGuardianForMinors: cfg.RequireGuardianForMinors,
		AllowCoachAsContact:      cfg.AllowCoachAsContact,
		Routes:                   ch.routes(),
		DefaultChannels:          ch.defaults(),
		TestNumber:               isTestNumber(cfg, o),
		TierHas:                  tiers.Has,
		CheckRoster:              checkRoster(tiers),
	}, o.Now, o.NewID)
}

// coachServices are the services of package coach that only coaches use.
type coachServices struct {
	profiles   *coach.Service
	dashboards *coach.Dashboards
	directory  *coach.Directory
	documents  *coach.Documents
}

func newCoachServices(cfg *config.Config, o Options, db *store.DB, files blob.Store, tiers coach.Tiers, logged coach.DirectoryStore) (coachServices, error) {
	directory := &coach.Directory{Store: logged, Tiers: tiers, Required: cfg.ProfileRequired, Now: o.Now}
	p, err := newFileProcessor(cfg)
	if err != nil {
		return coachServices{}, err
	}
	return coachServices{
		profiles:   &coach.Service{Store: db, Required: cfg.ProfileRequired, DefaultTimeZone: phone.RegionTimeZone(cfg.DefaultRegion), Now: o.Now},
		dashboards: &coach.Dashboards{Store: db, Required: cfg.ProfileRequired, Tiers: tiers, Now: o.Now},
		directory:  directory,
		documents: &coach.Documents{
			Store: db, Files: files, Processor: p, NewSpool: p.newUpload,
			CheckStorage: tiers.CheckStorage, PublicPicture: directory.ShowsPicture,
			Now: o.Now, NewID: o.NewID, Log: o.Log,
		},
	}, nil
}
