package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// CheckDatabaseURL returns the error in the parameters of DATABASE_URL. It is a config.Check.
func CheckDatabaseURL(cfg *config.Config) config.Errors {
	err := database.CheckURL(cfg.DatabaseURL.Reveal())
	if err == nil {
		return nil
	}
	return config.Errors{{Name: "TOUCHLINE_DATABASE_URL", Value: cfg.DatabaseURL.String(), Message: "cannot be used: " + err.Error()}}
}

// Migrate applies the missing migrations to the database of cfg. It calls observe when one begins, waits or ends. newer is the version of the
// newest migration of the database if this program does not have it, else 0.
func Migrate(ctx context.Context, cfg *config.Config, observe func(database.MigrationEvent)) (newer int64, err error) {
	db, _, err := openDatabase(ctx, cfg, Options{Migration: observe}.withDefaults())
	if err != nil {
		return 0, err
	}
	newer, err = db.Newer(ctx)
	return newer, errors.Join(err, db.Close())
}

// PendingMigrations returns the migrations that Migrate would apply, and newer as Migrate does. It changes no database, but it creates a missing SQLite file.
func PendingMigrations(ctx context.Context, cfg *config.Config) (pending []database.Migration, newer int64, err error) {
	if err := cfg.CreateDataDir(); err != nil {
		return nil, 0, err
	}
	db, err := database.Open(ctx, cfg.DatabaseURL.Reveal(), database.Options{Migrations: store.Migrations(), ApplicationName: "touchline"})
	if err != nil {
		return nil, 0, fmt.Errorf("open the database: %w", err)
	}
	if err = dump.CheckComplete(ctx, db); err == nil {
		pending, err = db.Pending(ctx)
	}
	if err == nil && len(pending) == 0 {
		newer, err = db.Newer(ctx)
	}
	return pending, newer, errors.Join(err, db.Close())
}

// lockGrace is the time that another process has after its drain to end its requests.
const lockGrace = 2 * time.Second

// LockDatabase makes this process the only one that serves the SQLite database of cfg. It
// waits for a process that shuts down, for the drain time and lockGrace, and calls waiting before. Close the result
// after App.Close.
func LockDatabase(ctx context.Context, cfg *config.Config, waiting func()) (io.Closer, error) {
	if err := cfg.CreateDataDir(); err != nil {
		return nil, err
	}
	return database.LockServer(ctx, cfg.DatabaseURL.Reveal(), cfg.ShutdownDrain+lockGrace, waiting)
}

// openDatabase reads the tiers of cfg, and opens and migrates its database.
func openDatabase(ctx context.Context, cfg *config.Config, o Options) (*database.DB, coach.Tiers, error) {
	tiers, err := Tiers(cfg)
	if err == nil {
		err = cfg.CreateDataDir()
	}
	if err != nil {
		return nil, tiers, err
	}
	db, err := database.Open(ctx, cfg.DatabaseURL.Reveal(), database.Options{
		Now: o.Now, Migrations: store.Migrations(), ApplicationName: "touchline", Tracer: o.telemetry.Tracer(),
	})
	if err != nil {
		return nil, tiers, fmt.Errorf("open the database: %w", err)
	}
	if err := migrateComplete(ctx, db, o.Migration); err != nil {
		return nil, tiers, errors.Join(err, db.Close())
	}
	return db, tiers, nil
}

// warnOfNewerDatabase logs that a newer release has migrated the database.
func warnOfNewerDatabase(ctx context.Context, db *database.DB, log *slog.Logger) {
	if newer, err := db.Newer(ctx); err == nil && newer != 0 {
		log.Warn("a newer release has migrated this database; this release runs with it until you upgrade", "migration", newer)
	}
}

// migrateComplete migrates a database. It refuses the target of an interrupted copy or restore: before it migrates, because a restore
// of an older backup needs the older tables, and afterwards, because such a command can have begun meanwhile.
func migrateComplete(ctx context.Context, db *database.DB, observe func(database.MigrationEvent)) error {
	if err := dump.CheckComplete(ctx, db); err != nil {
		return err
	}
	if err := db.MigrateObserved(ctx, observe); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return dump.CheckComplete(ctx, db)
}

// maxClockOffset is how far clocks may differ before the log warns. NTP keeps them within
// milliseconds.
const maxClockOffset = 5 * time.Second

// warnOfClock logs that the clock of this machine differs from the clock of the database: an OTP or
// a limit that one replica records then ends too early or too late on another.
func warnOfClock(ctx context.Context, db *database.DB, log *slog.Logger) {
	offset, err := db.ClockOffset(ctx)
	if err == nil && offset.Abs() > maxClockOffset {
		log.Warn("the clock of this machine differs from the clock of the database: OTPs of other replicas end too early or too late; synchronise both clocks",
			"ahead_seconds", offset.Round(time.Second).Seconds())
	}
}

// warnOfPlainDatabase logs that data crosses the network unencrypted.
func warnOfPlainDatabase(cfg *config.Config, log *slog.Logger) {
	if hosts := database.PlainHosts(cfg.DatabaseURL.Reveal()); len(hosts) > 0 {
		log.Warn("TOUCHLINE_DATABASE_URL connects to another machine without TLS: others can read names, numbers and the password of the database; use sslmode=verify-full", "hosts", hosts)
	}
}

func storeSettings(cfg *config.Config, ch channels, tiers coach.Tiers) store.Settings {
	return store.Settings{
		Outbox: message.Settings{
			GatherFor: cfg.MessagesGather,
			Fallbacks: fallbackChannels(cfg),
			Limits: message.Limits{
				TotalHour: cfg.MessagesTotalHour, TotalDay: cfg.MessagesTotalDay,
				PerAddress: cfg.MessagesPerAddress, PerBlock: cfg.MessagesPerBlock, NewCoach: cfg.MessagesNewCoach,
				Budget: int64(cfg.SMSBudget.SMS), CallBudget: int64(cfg.SMSBudget.Calls),
				PerCoach: cfg.MessagesPerCoach, PerNumberFromCoach: cfg.MessagesPerNumberFromCoach, PerNumber: cfg.MessagesPerNumber,
			},
			SegmentPrice: func(c message.Channel, n phone.Number) int64 {
				switch c {
				case message.Email:
					return 0
				case message.Voice:
					return int64(cfg.CallPrice(n))
				case message.Chat:
					return int64(cfg.ChatOTPPrice(n))
				}
				return int64(cfg.SegmentPrice(n))
			},
			ChatPrice: func(n phone.Number) int64 { return int64(cfg.ChatPrice(n)) },
		},
		Brand:           cfg.Brand,
		PrivacyProfile:  cfg.PrivacyProfile,
		OTPSegments:     func(role actor.Role, language string) int { return otpSegments(cfg, role, language) },
		MaxOTPCost:      maxOTPCost(cfg),
		MaxCallCost:     maxCallCost(cfg),
		DefaultTimeZone: phone.RegionTimeZone(cfg.DefaultRegion),
		Route:           ch.destination,
	}
}

// isTestNumber returns a function that reports whether a number has a fixed OTP today,
// and so gets no SMS.
func isTestNumber(cfg *config.Config, o Options) func(phone.Number) bool {
	return func(n phone.Number) bool {
		_, ok := cfg.TestCode(n, o.Now())
		return ok
	}
}

// wholeHistory reports whether a party reads in the app what a coach added before it approved.
func wholeHistory(cfg *config.Config) bool { return cfg.AppHistory == "all" }
