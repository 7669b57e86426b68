package server

import (
	"net/http"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/ratelimit"
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
		Services:    s.public,
		Challenge:   callbacks(cfg).Challenge,
		ChatReplies: chatReplies(cfg, s.public.Phones),

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
		Now:               o.Now,
		NewTicker:         o.NewTicker,
		Log:               o.Log,
	}).Handler()), nil
}

// newPages returns the pages for families, coaches and visitors.
func newPages(cfg *config.Config, o Options, s *services) (*web.Pages, error) {
	return web.New(web.Config{
		Services:    s.public,
		MailAddress: s.keys.Vault.MailAddress,
		Sealer:      s.keys.Vault.For(auth.ForSignIn),

		Brand:          cfg.Brand,
		AppURL:         cfg.App(),
		PublicURL:      cfg.PublicURL,
		TrustedProxies: cfg.TrustedProxies,
		Limiter:        ratelimit.New(cfg.RequestsPerAddressMinute),
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
		Operators: s.operators,
		Ready:     s.readiness.check,
		Metrics:   s.metricsHandler(cfg, o),
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
		Operators: s.operators,
		TLS:       cfg.TLSCert != "off",
	})
}
