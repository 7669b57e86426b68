// Package server wires the service: it opens the database, the file store and the
// keys, makes the services, and serves them over HTTP until it shuts down. It holds no
// domain rule.
package server

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/clock"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/telemetry"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/worker"
)

// Options are the dependencies that tests replace. A zero field means the real one.
type Options struct {
	Now func() time.Time
	// NewTicker paces background work and streams; see worker.NewTicker.
	NewTicker worker.NewTicker
	NewID     func() string
	Rand      io.Reader
	Log       *slog.Logger
	// Terminal is where SMS=log prints messages. The default discards them.
	Terminal io.Writer
	// UploadTimeouts limit the time in which an upload arrives.
	UploadTimeouts upload.Timeouts
	// DiscardStall limits the wait for more of a body that the handler has not read.
	DiscardStall time.Duration
	// Silent makes a replica that sends nothing: it has no sender, no worker and no telemetry. It is for the copy of a service.
	Silent bool
	// Migration is told what migrations do while the service opens its database.
	Migration func(database.MigrationEvent)

	// telemetry exports traces and metrics; nil exports none.
	telemetry *telemetry.Exporter
	// advance moves the clock of a service for development.
	advance func(time.Duration)
}

func (o Options) withDefaults() Options {
	clock := o.Now
	if clock == nil {
		clock = time.Now
	}
	// The database stores microseconds. Truncate every time, so that a time that was
	// read back equals the original.
	o.Now = func() time.Time { return clock().UTC().Truncate(time.Microsecond) }
	if o.NewTicker == nil {
		o.NewTicker = func(period time.Duration) (<-chan time.Time, func()) {
			t := time.NewTicker(period)
			return t.C, t.Stop
		}
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Terminal == nil {
		o.Terminal = io.Discard
	}
	if o.Migration == nil {
		o.Migration = func(database.MigrationEvent) {}
	}
	if o.DiscardStall == 0 {
		o.DiscardStall = discardStall
	}
	return o
}

// App is one replica of the service.
type App struct {
	cfg         *config.Config
	log         *slog.Logger
	sql         *database.DB
	db          *store.DB
	files       blob.Store
	certificate *certificate      // nil without TLS_CERT
	acme        *acmeCertificates // nil without TLS_AUTOCERT_DOMAINS
	api         http.Handler
	admin       http.Handler
	worker      *worker.Worker
	hub         *notice.Hub // wakes the event streams
	streams     *notice.Streams
	newTicker   worker.NewTicker
	waiting     *notice.Hub // wakes the calls that wait for a change
	operators   *operator.Service
	players     *roster.Service
	readiness   *readiness
	load        *load
	silent      bool // see Options

	telemetry    *telemetry.Exporter
	discardStall time.Duration
	discards     *rate.Limiter // of bytes
}

// Open opens and migrates the database of cfg, opens its file store, and returns a
// replica that is ready to serve. Call Close afterwards.
func Open(ctx context.Context, cfg *config.Config, o Options) (*App, error) {
	ownTicker := o.NewTicker == nil
	o = o.withDefaults()
	if cfg.DevelopmentPhones() {
		movable := &clock.Clock{Base: o.Now}
		o.Now, o.advance = movable.Now, movable.Advance
		if ownTicker { // background work runs when POST /dev/clock makes it due
			o.NewTicker = movable.NewTicker
		}
	}
	warnOfPlainDatabase(cfg, o.Log)
	if !o.Silent {
		var err error
		if o.telemetry, err = telemetry.Open(ctx, buildinfo.Read(), o.Log); err != nil {
			return nil, err
		}
	}
	go func() { _, _ = renderer() }() // a third of the time of a start, beside the database
	sql, tiers, err := openDatabase(ctx, cfg, o)
	if err != nil {
		return nil, errors.Join(err, o.telemetry.Close())
	}
	warnOfClock(ctx, sql, o.Log)
	warnOfNewerDatabase(ctx, sql, o.Log)
	files, err := openFiles(ctx, cfg, auth.NewInstallation(sql), o)
	if err != nil {
		return nil, errors.Join(err, sql.Close(), o.telemetry.Close())
	}
	a, err := newApp(ctx, cfg, o, sql, files, tiers)
	if err != nil {
		return nil, errors.Join(err, files.Close(), sql.Close(), o.telemetry.Close())
	}
	return a, nil
}

func newApp(ctx context.Context, cfg *config.Config, o Options, sql *database.DB, files blob.Store, tiers coach.Tiers) (*App, error) {
	certificate, err := openCertificate(cfg, o)
	if err != nil {
		return nil, err
	}
	b, err := newBase(ctx, cfg, o, sql, tiers)
	if err != nil {
		return nil, err
	}
	s, err := newServices(cfg, o, b, b.metrics.Files(files))
	if err != nil {
		return nil, err
	}
	if err := s.proof.CheckFile(); err != nil {
		return nil, err
	}
	if err := repeatErasures(ctx, s.privacy, s.ledger, o.Log); err != nil {
		return nil, err
	}
	if _, err := s.proof.Number(ctx); err != nil { // before the first request: an older copy of the database proves no approval
		o.Log.Warn("the log of consents was not checked; it is checked again each second", "error", err)
	}
	acme, err := newACMECertificates(cfg, o, auth.TLSEntries{DB: sql, Vault: s.keys.Vault})
	if err != nil {
		return nil, err
	}
	s.certificateEnds = func() map[string]time.Time { return certificateEnds(certificate, acme) }
	public, err := newAPI(cfg, o, s)
	if err != nil {
		return nil, err
	}
	registry := s.metricsRegistry(cfg, o)
	operators, err := newAdmin(cfg, o, s, metrics.Handler(registry))
	if err != nil {
		return nil, err
	}
	proxies := &proxyWarner{trusted: cfg.TrustedProxies, log: o.Log, now: o.Now}
	return &App{
		cfg: cfg, log: o.Log, telemetry: o.telemetry, sql: sql, db: s.db, files: files, certificate: certificate, acme: acme,
		api: proxies.wrap(public), admin: proxies.wrap(operators),
		worker: newWorker(cfg, o, s), hub: s.delivery.hub, streams: s.operators.Streams, newTicker: o.NewTicker, waiting: s.delivery.waiting,
		operators: s.operators.Tokens, players: s.players, readiness: s.readiness, load: s.load, silent: o.Silent, discardStall: o.DiscardStall, discards: rate.NewLimiter(discardRate, discardBurst),
	}, nil
}

// Close closes the file store and the database, and exports the last spans. Call it after Serve has returned.
func (a *App) Close() error { return errors.Join(a.telemetry.Close(), a.files.Close(), a.sql.Close()) }
