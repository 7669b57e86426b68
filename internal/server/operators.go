package server

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/feed"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/securitylog"
	"github.com/touchline/touchline/internal/service"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/verification"
)

func newCommon(cfg *config.Config, coaches coach.Store, tiers coach.Tiers) service.Common {
	return service.Common{
		Subscriptions: &coach.Subscriptions{Store: coaches, Tiers: tiers},
		Phones:        phone.Parser{DefaultRegion: cfg.DefaultRegion, MobileRanges: cfg.MobileRanges},
	}
}

// newVerifications returns the service of verifications. Commands write no security log.
func newVerifications(cfg *config.Config, o Options, db *store.DB, documents *document.Service, security *securitylog.Log) *verification.Service {
	s := &verification.Service{DB: db, Documents: documents, On: cfg.KYC}
	if security != nil {
		s.SecurityEvent = security.Event
	}
	return s
}

func newShell(cfg *config.Config, o Options, db *store.DB, coaches coach.Store, common service.Common) service.Shell {
	return service.Shell{
		Common: common,
		Tokens: &operator.Service{Store: db.Operators, Now: o.Now, NewID: o.NewID, Rand: o.Rand},
		Accounts: &coach.AccountAdmin{Store: coaches, DeviceApprovals: func(ctx context.Context, id string) ([]coach.DeviceApproval, error) {
			return player.DeviceApprovals(ctx, db, id)
		}},
		Deliveries: db.Outbox,
		Mail:       db.Outbox,
	}
}

// Operators are the services of the commands of touchline admin. A command may run
// while replicas serve the same database.
type Operators struct {
	service.Shell
	Verifications *verification.Service

	cfg   *config.Config
	now   func() time.Time
	newID func() string
	sql   *database.DB
	// options and tiers are for the services of People.
	options      Options
	tiers        coach.Tiers
	db           *store.DB
	storeOptions store.Options // of db, which has no vault
	approvals    *player.Service
}

// Feed returns the feed of changes, for reading.
func (o *Operators) Feed() *feed.Service {
	return &feed.Service{DB: o.db, Rules: o.approvals.Rules, Now: o.now}
}

func (o *Operators) keys(ctx context.Context) (*auth.Keys, error) {
	return auth.OpenKeys(ctx, auth.NewInstallation(o.sql), o.cfg.MasterKeys, o.now)
}

// Due returns what the settings RETAIN_* erase now.
func (o *Operators) Due(ctx context.Context) ([]privacy.Due, error) {
	return retention(o.cfg).Due(ctx, o.db, o.now())
}

// Erase does what the worker does for the settings RETAIN_*, and returns the number of changed rows. It needs the master key.
func (o *Operators) Erase(ctx context.Context) (int64, error) {
	keys, err := o.keys(ctx)
	if err != nil {
		return 0, err
	}
	options := o.storeOptions
	options.Vault = keys.Vault
	approvals := *o.approvals
	approvals.DB = store.New(o.sql, options)
	removed, err := approvals.EndUnanswered(ctx, o.cfg.RetainUnanswered)
	if err != nil {
		return removed, err
	}
	erased, err := retention(o.cfg).BeforeSweep(ctx, approvals.DB, o.now())
	return removed + erased, err
}

// Log returns the log of consents. It needs the master key.
func (o *Operators) Log(ctx context.Context) (*proof.Service, error) {
	keys, err := o.keys(ctx)
	if err != nil {
		return nil, err
	}
	return newProof(o.cfg, store.New(o.sql, store.Options{Vault: keys.Vault}), keys.Vault), nil
}

// ManyReplicas reports whether several processes can serve the database.
func (o *Operators) ManyReplicas() bool {
	return !strings.HasPrefix(o.cfg.DatabaseURL.Reveal(), "sqlite:")
}

// ListKeys describes all keys of the installation.
func (o *Operators) ListKeys(ctx context.Context) ([]auth.KeyInfo, error) {
	masters, err := o.cfg.MasterKeys()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return auth.NewInstallation(o.sql).ListKeys(ctx, masters)
}

// RotateMasterKey encrypts all keys under the key next: see auth.Installation.
func (o *Operators) RotateMasterKey(ctx context.Context, by actor.Operator, next []byte, dryRun bool) (auth.Reencrypted, error) {
	masters, err := o.cfg.MasterKeys()
	if err != nil {
		return auth.Reencrypted{}, err
	}
	return auth.NewInstallation(o.sql).RotateMasterKey(ctx, by, o.newID(), masters, next, dryRun)
}

// RotateSigningKey adds a signing key that signs at once, and returns its id.
func (o *Operators) RotateSigningKey(ctx context.Context, by actor.Operator) (id string, err error) {
	masters, err := o.cfg.MasterKeys()
	if err != nil {
		return "", err
	}
	return auth.NewInstallation(o.sql).RotateSigningKey(ctx, by, o.newID(), masters, o.now())
}

// OpenOperators opens and migrates the database of cfg, without the master key. Call Close afterwards.
func OpenOperators(ctx context.Context, cfg *config.Config, o Options) (*Operators, error) {
	o = o.withDefaults()
	sql, tiers, err := openDatabase(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	ch := newChannels(cfg, o, nil, nil, nil, nil, nil) // sends nothing
	approvals := newApprovals(cfg, o, ch, tiers)
	options := store.Options{NewID: o.NewID, Settings: storeSettings(cfg, ch, tiers), Hooks: Hooks(approvals.Rules, retention(cfg))}
	db := store.New(sql, options)
	approvals.DB = db
	coaches := coach.Store{DB: db}
	shell := newShell(cfg, o, db, coaches, newCommon(cfg, coaches, tiers))
	return &Operators{
		Shell: shell, Verifications: newVerifications(cfg, o, db, &document.Service{DB: db}, nil), cfg: cfg, now: o.Now, newID: o.NewID, sql: sql,
		options: o, tiers: tiers, db: db, storeOptions: options, approvals: approvals,
	}, nil
}

// Close closes the database.
func (o *Operators) Close() error { return o.sql.Close() }
