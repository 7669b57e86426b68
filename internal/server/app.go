// Package server puts the house together: it opens the database and the keys,
// makes the services, mounts what answers over HTTP, and starts and stops it all
// without dropping a request. It holds no rule of its own.
package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/web"
	"github.com/touchline/touchline/internal/worker"
)

// Edges is where the service meets the world. The zero value of each field is
// the real one; tests put their own in.
type Edges struct {
	Now   func() time.Time
	NewID func() string
	Rand  io.Reader
	Log   *slog.Logger
	// Terminal is where SMS=log prints.
	Terminal io.Writer
	// UploadStall and UploadWhole bound an upload in time; see api.Config.
	UploadStall, UploadWhole time.Duration
}

func (e Edges) filled() Edges {
	clock := e.Now
	if clock == nil {
		clock = time.Now
	}
	// The database keeps microseconds: so does everything, lest a time that was
	// kept differs from the one that was meant.
	e.Now = func() time.Time { return clock().UTC().Truncate(time.Microsecond) }
	if e.NewID == nil {
		e.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if e.Rand == nil {
		e.Rand = rand.Reader
	}
	if e.Log == nil {
		e.Log = slog.Default()
	}
	if e.Terminal == nil {
		e.Terminal = io.Discard
	}
	return e
}

// App is one replica of the service.
type App struct {
	cfg     *config.Config
	edges   Edges
	db      *store.DB
	files   blob.Store
	worker  *worker.Worker
	hub     *notify.Hub
	handler http.Handler
	// certificate is nil where a proxy speaks TLS.
	certificate *certificate
	// tiers are what coaches are judged by.
	tiers coach.Tiers
	// operators answers those who run the service.
	operators http.Handler
	// draining says that the replica is about to stop: it is not ready any more.
	draining atomic.Bool
}

// Open opens the database of cfg, migrates it, opens the file store that belongs
// to it, and makes a replica that is ready to serve. Close must follow.
func Open(ctx context.Context, cfg *config.Config, edges Edges) (*App, error) {
	edges = edges.filled()
	tiers, err := Tiers(cfg)
	if err != nil {
		return nil, err
	}
	db, err := OpenStore(ctx, cfg, edges)
	if err != nil {
		return nil, err
	}
	if cfg.MessagesByTier() {
		db.Settings.MessagesByTier = &tiers
	}
	files, err := openFiles(ctx, cfg, db, edges)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a := &App{cfg: cfg, edges: edges, db: db, files: files, tiers: tiers}
	if a.certificate, err = openCertificate(cfg, edges); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if err := a.assemble(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// OpenStore opens the database of cfg and migrates it.
func OpenStore(ctx context.Context, cfg *config.Config, edges Edges) (*store.DB, error) {
	edges = edges.filled()
	if err := cfg.CreateDataDir(); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, cfg.DatabaseURL.Reveal(), store.Options{MaxConns: cfg.DatabaseConnections})
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	db.Now, db.NewID = edges.Now, edges.NewID
	db.Settings = store.Settings{
		LinkValidity: cfg.LinkValidity,
		DigestAfter:  cfg.PendingReminderAfter, DigestEvery: cfg.PendingReminderEvery,
		MessagesPerNumberFromCoach: cfg.MessagesPerNumberFromCoach,
		MessagesPerNumber:          cfg.MessagesPerNumber,
		MessagesPerCoach:           cfg.MessagesPerCoach,
		AllowCoachAsContact:        cfg.AllowCoachAsContact,
		Reachable: func(_ notify.Channel, n phone.Number) bool {
			_, test := cfg.TestCode(n, edges.Now())
			return !test && cfg.SMSAllowed(n)
		},
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate the database: %w", err), db.Close())
	}
	return db, nil
}

// assemble makes the services over the open database.
func (a *App) assemble(ctx context.Context) error {
	cfg, edges := a.cfg, a.edges
	keys, err := openKeys(ctx, cfg, a.db, edges.Now)
	if err != nil {
		return err
	}
	a.db.SetVault(keys.Vault)
	senders, err := a.newSenders()
	if err != nil {
		return err
	}
	signal := notify.NewQueueSignal(slices.Sorted(maps.Keys(senders))...)
	testCode := func(n phone.Number, now time.Time) string {
		code, _ := cfg.TestCode(n, now)
		return code.Reveal()
	}
	watched := a.watch(signal.Lanes())
	auths := &auth.Service{
		Store: watched.auth, Keys: keys, Tokens: auth.NewTokens(keys, cfg.PublicURL, cfg.AccessTokenLifetime, edges.Now),
		Settings: authSettings(cfg, testCode), Now: edges.Now, NewID: edges.NewID, Rand: edges.Rand,
	}
	approvals := approval.NewService(watched.approvals, approval.Rules{
		ResendAfter: cfg.ResendAfter, RemindersPerWindow: cfg.RemindersPerWindow, ReminderWindow: cfg.ReminderWindow,
		RequireGuardianForMinors: cfg.RequireGuardianForMinors, AllowCoachAsContact: cfg.AllowCoachAsContact,
		Reachable:   cfg.SMSAllowed,
		TestNumber:  a.testNumber,
		CheckRoster: checkRoster(a.tiers),
	}, edges.Now, edges.NewID)
	a.hub = new(notify.Hub)
	docs, err := api.NewDocs()
	if err != nil {
		return err
	}
	pages, err := web.New(a.db, edges.Now, edges.Log)
	if err != nil {
		return err
	}
	directory := &coach.Directory{Store: a.db, Tiers: a.tiers, Required: cfg.ProfileRequired, Now: edges.Now}
	documents, err := a.newDocuments(directory)
	if err != nil {
		return err
	}
	a.handler = api.New(api.Config{
		Auth: auths, Approvals: approvals,
		Coaches:     &coach.Service{Store: a.db, Required: cfg.ProfileRequired, Now: edges.Now},
		Dashboards:  &coach.Dashboards{Store: a.db, Required: cfg.ProfileRequired, Tiers: a.tiers, Now: edges.Now},
		Directory:   directory,
		Documents:   documents,
		Tray:        &notify.Tray{Store: a.db, Now: edges.Now},
		Hub:         a.hub,
		Idempotency: idempotency.New(a.db, keys.Vault.For(auth.ForAnswers), edges.Now, edges.NewID),
		Phones:      phone.Parser{DefaultRegion: cfg.DefaultRegion},
		Docs:        docs,
		Pages:       pages.Handlers(),
		Ready:       a.ready,
		PublicURL:   cfg.PublicURL, TrustedProxies: cfg.TrustedProxies, RequestsPerMinute: cfg.RequestsPerAddressMinute,

		UploadStall: edges.UploadStall, UploadWhole: edges.UploadWhole,

		Subscriptions: &coach.Subscriptions{Store: a.db, Tiers: a.tiers},
		Verifications: &coach.Verifications{Store: a.db, On: cfg.KYC, Now: edges.Now, NewID: edges.NewID},

		Now: edges.Now, Log: edges.Log, Observe: watched.public,
	}).Handler()
	a.operators = admin.New(admin.Config{
		Operators: newOperators(a.db, edges),
		Inspector: &auth.Inspector{Auth: auths, Store: a.db},
		Accounts:  &coach.AccountAdmin{Store: a.db},

		Subscriptions: &coach.Subscriptions{Store: a.db, Tiers: a.tiers},
		Verifications: &coach.Verifications{Store: a.db, On: cfg.KYC, Now: edges.Now, NewID: edges.NewID},
		Documents:     documents,
		Phones:        phone.Parser{DefaultRegion: cfg.DefaultRegion},

		Vault: keys.Vault, Wake: a.hub.Wake, Ready: a.ready,
		PublicURL: cfg.PublicURL, TrustedProxies: cfg.TrustedProxies, Now: edges.Now, Log: edges.Log,
		Metrics: watched.metrics, Observe: watched.operators,
	}).Handler()
	a.worker = a.newWorker(auths, documents, watched.outbox, senders, signal)
	a.db.OnQueued = signal.Wake
	a.db.OnNotified = func(accountIDs []string) {
		a.hub.Wake(accountIDs...)
		a.db.Announce(accountIDs)
	}
	return nil
}

func authSettings(cfg *config.Config, testCode func(phone.Number, time.Time) string) auth.Settings {
	return auth.Settings{
		OTPLength: cfg.OTPLength, OTPValidity: cfg.OTPValidity, OTPTries: cfg.OTPTries,
		OTPResendAfter: cfg.OTPResendAfter, OTPWrongPerDay: cfg.OTPWrongPerDay,
		SendsPerHour: cfg.OTPSendsPerHour, SendsPerDay: cfg.OTPSendsPerDay,
		SendsPerAddressHour: cfg.OTPSendsPerAddressHour, SendsTotalHour: cfg.OTPSendsTotalHour,
		AccessLifetime: cfg.AccessTokenLifetime, RefreshIdle: cfg.RefreshTokenIdle,
		RefreshLifetime: cfg.RefreshTokenLifetime, RefreshGrace: cfg.RefreshGrace,
		Reachable: cfg.SMSAllowed, TestCode: testCode,
	}
}

// testNumber says whether n has a fixed code today, and so gets no SMS.
func (a *App) testNumber(n phone.Number) bool {
	_, test := a.cfg.TestCode(n, a.edges.Now())
	return test
}

// newWorker returns the background work of this replica.
func (a *App) newWorker(auths *auth.Service, documents *coach.Documents, deliveries worker.Store, senders map[notify.Channel]worker.Sender, signal *notify.QueueSignal) *worker.Worker {
	return worker.New(worker.Config{
		Outbox: worker.NewOutbox(worker.OutboxConfig{
			Store: deliveries, Senders: senders, Signal: signal,
			OpenCode: auths.Code, LinkToken: auths.Keys.Vault.LinkToken,
			PublicURL: a.cfg.PublicURL, OTPAttempts: a.cfg.OTPTries,
			Now: a.edges.Now, NewID: a.edges.NewID, Log: a.edges.Log,
		}),
		SendDigests:       a.db.SendDigests,
		SendExpiryNotices: a.db.SendExpiryNotices,
		RotateKeys:        auths.Keys.Rotate,
		SweepFiles:        documents.DeleteExpiredBlobs,
		Sweep:             func(ctx context.Context) (int64, error) { return a.db.Sweep(ctx, a.edges.Now()) },
		Log:               a.edges.Log,
	})
}

// ready says why this replica should get no requests, or nil.
func (a *App) ready(ctx context.Context) error {
	if a.draining.Load() {
		return errors.New("shutting down")
	}
	return a.db.Migrated(ctx)
}

// Handler answers everything that the service serves over HTTP.
func (a *App) Handler() http.Handler { return a.handler }

// Close closes the file store and the database. Serve must have returned.
func (a *App) Close() error { return errors.Join(a.files.Close(), a.db.Close()) }
