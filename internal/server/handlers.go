package server

import (
	"net/http"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/ratelimit"
	"github.com/touchline/touchline/internal/upload"
	"github.com/touchline/touchline/internal/web"
)

// newAPI returns the handler of the API, its documentation and its pages.
func newAPI(cfg *config.Config, o Options, s *services) (http.Handler, error) {
	documentation, err := api.NewDocumentation()
	if err != nil {
		return nil, err
	}
	pages, err := newPages(cfg, o, s)
	if err != nil {
		return nil, err
	}
	return pages.Handler(api.New(api.Config{
		Auth:          s.auth,
		Approvals:     s.approvals,
		Imports:       s.imports,
		Coaches:       s.coach.profiles,
		Dashboards:    s.coach.dashboards,
		Directory:     s.coach.directory,
		Documents:     s.coach.documents,
		Subscriptions: s.operator.Subscriptions,
		Verifications: s.operator.Verifications,
		Batches:       s.team.batches,
		Attendance:    s.team.attendance,
		Fees:          s.team.fees,
		FeeServices:   s.team.feeServices,
		Messages:      s.team.messages,
		Records:       s.team.records,
		Tray:          s.tray,
		Preferences:   s.db,
		Streams:       s.streams,
		Challenge:     callbacks(cfg).Challenge,
		ChatReplies:   chatReplies(cfg, s.operator.Phones),
		Replies:       newReplies(cfg, o, s.db, s.operator.Phones),
		Receipts:      newReceipts(cfg, o, s.db, s.keys.Vault, s.metrics),
		Bounces:       newBounces(cfg, o, s.db),
		Push:          newPushSubscriptions(cfg, o, s.db, s.keys),
		Idempotency:   s.idempotency,
		Phones:        s.operator.Phones,
		ExportPlayers: newExport(s.approvals, s.operator.Subscriptions),
		ExportAll:     newArchive(s),

		Documentation: documentation,
		NotFoundPage:  pages.NotFound,
		Ready:         s.readiness.check,
		AccessLog:     cfg.AccessLog,
		Observe:       s.metrics.Observe("public"),
		Refused:       s.security.Refused,

		PublicURL:         cfg.PublicURL,
		TrustedProxies:    cfg.TrustedProxies,
		CORSOrigins:       cfg.CORSOrigins,
		RequestsPerMinute: cfg.RequestsPerAddressMinute,
		InFlight:          s.load.inFlight,
		UploadTimeouts:    upload.Timeouts{Stall: o.UploadStallTimeout, Arrive: o.UploadTimeout},
		Uploads:           &s.uploads,
		Now:               o.Now,
		NewTicker:         o.NewTicker,
		Log:               o.Log,
	}).Handler()), nil
}

// newPages returns the pages for families, coaches and visitors.
func newPages(cfg *config.Config, o Options, s *services) (*web.Pages, error) {
	return web.New(web.Config{
		Auth:          s.auth,
		Approvals:     s.approvals,
		Imports:       s.imports,
		Coaches:       s.coach.profiles,
		Dashboards:    s.coach.dashboards,
		Directory:     s.coach.directory,
		Documents:     s.coach.documents,
		Subscriptions: s.operator.Subscriptions,
		Verifications: s.operator.Verifications,
		Messages:      s.team.messages,
		Records:       s.team.records,
		Batches:       s.team.batches,
		Attendance:    s.team.attendance,
		Fees:          s.team.fees,
		FeeServices:   s.team.feeServices,
		Tray:          s.tray,
		Streams:       s.streams,
		Idempotency:   s.idempotency,
		Preferences:   s.db,
		Addresses:     s.db,
		MailAddress:   s.keys.Vault.MailAddress,
		Push:          newPushSubscriptions(cfg, o, s.db, s.keys),
		Phones:        s.operator.Phones,
		ExportPlayers: newExport(s.approvals, s.operator.Subscriptions),
		ExportAll:     newArchive(s),
		Sealer:        s.keys.Vault.For(auth.ForSignIn),

		Brand:          cfg.Brand,
		AppURL:         cfg.App(),
		PublicURL:      cfg.PublicURL,
		TrustedProxies: cfg.TrustedProxies,
		Limiter:        ratelimit.New(cfg.RequestsPerAddressMinute),
		InFlight:       s.load.inFlight,
		UploadTimeouts: upload.Timeouts{Stall: o.UploadStallTimeout, Arrive: o.UploadTimeout},
		Uploads:        &s.uploads,
		Now:            o.Now,
		NewTicker:      o.NewTicker,
		Log:            o.Log,
		AccessLog:      cfg.AccessLog,
		Observe:        s.metrics.Observe("public"),
	})
}

// newAdmin returns the handler of the operators' API.
func newAdmin(cfg *config.Config, o Options, s *services) (http.Handler, error) {
	console, err := newConsole(cfg, o, s)
	if err != nil {
		return nil, err
	}
	return console.Handler(admin.New(admin.Config{
		Operators:     s.operator.Tokens,
		Inspector:     &auth.Introspector{Auth: s.auth, Store: s.logged},
		Accounts:      s.operator.Accounts,
		Subscriptions: s.operator.Subscriptions,
		Verifications: s.operator.Verifications,
		Documents:     s.coach.documents,
		Disputes:      s.operator.Disputes,
		Deliveries:    s.operator.Deliveries,
		Webhooks:      s.operator.Webhooks,
		Safeguarding:  s.operator.Safeguarding,
		Phones:        s.operator.Phones,
		Vault:         s.keys.Vault,

		Availabilities: availability{db: s.db, rules: s.approvals.Rules, now: o.Now},
		Changes:        &operator.ChangeFeed{Store: s.db, Now: o.Now},
		Waiting:        s.delivery.waiting,

		Wake:      s.delivery.hub.Wake,
		Ready:     s.readiness.check,
		Metrics:   s.metrics.Handler(),
		AccessLog: cfg.AccessLog,
		Observe:   s.metrics.Observe("operators"),
		Refused:   s.security.RefusedOperator,

		PublicURL:      cfg.PublicURL,
		TrustedProxies: cfg.TrustedProxies,
		Now:            o.Now,
		NewTicker:      o.NewTicker,
		Log:            o.Log,
	}).Handler()), nil
}

// newConsole returns the pages of the operators' listener.
func newConsole(cfg *config.Config, o Options, s *services) (*web.Console, error) {
	return web.NewConsole(web.ConsoleConfig{
		Pages: web.Config{
			Brand: cfg.Brand, PublicURL: cfg.PublicURL, TrustedProxies: cfg.TrustedProxies,
			Now: o.Now, Log: o.Log, AccessLog: cfg.AccessLog, Observe: s.metrics.Observe("operators"),
		},
		Operators:     s.operator.Tokens,
		Accounts:      s.operator.Accounts,
		Subscriptions: s.operator.Subscriptions,
		Verifications: s.operator.Verifications,
		Documents:     s.coach.documents,
		Deliveries:    s.operator.Deliveries,
		Phones:        s.operator.Phones,
		TLS:           cfg.TLSCert != "off",
		Wake:          s.delivery.hub.Wake,
	})
}
