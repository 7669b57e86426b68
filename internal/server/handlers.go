package server

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/ratelimit"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/web"
)

// newAPI returns the handler of the API, its documentation and its pages.
func newAPI(cfg *config.Config, o Options, s *services) (http.Handler, error) {
	documentation, err := api.NewDocumentation()
	if err != nil {
		return nil, err
	}
	limiter := ratelimit.New(cfg.RequestsPerAddressMinute)
	pages, err := newPages(cfg, o, s, limiter)
	if err != nil {
		return nil, err
	}
	c := s.api
	c.Settings, c.Origins, c.Limiter = s.publicSettings(cfg, o), origins(cfg, o.Log), limiter
	c.Challenge, c.ChatReplies = callbacks(cfg).Challenge, chatReplies(cfg, c.Phones)
	c.Documentation, c.NotFoundPage, c.Ready, c.Limited = documentation, pages.NotFound, s.readiness.check, s.readiness.limited
	c.Features = s.operationsOfFeatures()
	return pages.Handler(api.New(c).Handler()), nil
}

// origins are the origins of browser apps. In development every port of this machine is one of them.
func origins(cfg *config.Config, log *slog.Logger) httpx.Origins {
	return httpx.Origins{Allowed: cfg.CORSOrigins, Loopback: cfg.Development(), Refused: func(origin string) {
		log.Info("a browser app of this origin may not read responses: add it to TOUCHLINE_CORS_ORIGINS if it is yours", "origin", origin)
	}}
}

// newPages returns the pages for families, coaches and visitors.
func newPages(cfg *config.Config, o Options, s *services, limiter *ratelimit.Limiter) (*web.Pages, error) {
	r, err := renderer()
	if err != nil {
		return nil, err
	}
	c := s.web
	c.Renderer, c.Features, c.Settings, c.Limiter = r, s.pages(), s.publicSettings(cfg, o), limiter
	c.MailAddress, c.Sealer = s.keys.Vault.MailAddress, s.keys.Vault.For(vault.ForSignIn)
	c.Brand, c.AppURL, c.DevelopmentPhones, c.HasNotice, c.WholeHistory = cfg.Brand, cfg.App(), s.phones != nil, true, wholeHistory(cfg)
	return web.New(c)
}

// newAdmin returns the handler of the operators' API. scraped serves the metrics.
func newAdmin(cfg *config.Config, o Options, s *services, scraped http.Handler) (http.Handler, error) {
	console, err := newConsole(cfg, o, s)
	if err != nil {
		return nil, err
	}
	return console.Handler(admin.New(admin.Config{
		Operators: s.operators, Settings: s.settings(cfg, o, "operators", s.security.RefusedOperator),
		Ready: s.readiness.check, Limited: s.readiness.limited, Metrics: scraped,
		Features: partsOf(s.features(), func(f feature) (func(*admin.Server) []admin.Route, bool) { return f.operators, f.operators != nil }),
	}).Handler()), nil
}

// newConsole returns the pages of the operators' listener.
func newConsole(cfg *config.Config, o Options, s *services) (*web.Console, error) {
	r, err := renderer()
	if err != nil {
		return nil, err
	}
	return web.NewConsole(web.ConsoleConfig{
		Renderer: r, Tokens: s.operators.Tokens, Phones: s.operators.Phones, Settings: s.settings(cfg, o, "operators", s.security.RefusedOperator), Brand: cfg.Brand, HTTPS: cfg.TLSOn() || cfg.PublicHTTPS(),
		Features: s.consolePages(),
	})
}

// publicSettings returns the settings of the public listener. PUBLIC_URL is its address.
func (s *services) publicSettings(cfg *config.Config, o Options) httpx.Settings {
	settings := s.settings(cfg, o, "public", s.security.Refused)
	settings.HTTPSOnly = cfg.HTTPSOnly()
	return settings
}

// settings returns the settings of a listener. refused logs refusals.
func (b base) settings(cfg *config.Config, o Options, listener string, refused func(context.Context, *httpx.RequestInfo, error)) httpx.Settings {
	return httpx.Settings{
		PublicURL: cfg.PublicURL, TrustedProxies: cfg.TrustedProxies, Now: o.Now, NewTicker: o.NewTicker,
		Log: o.Log, AccessLog: cfg.AccessLog, Observe: b.metrics.Observe(listener), Tracer: o.telemetry.Tracer(), Refused: refused,
	}
}
