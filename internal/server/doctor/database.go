package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/store"
)

// openDatabase opens the database if it exists and can be read. It neither creates nor migrates one.
func (c *checkup) openDatabase(ctx context.Context) []Result {
	address := c.cfg.DatabaseURL.Reveal()
	if path, isSQLite := strings.CutPrefix(address, "sqlite:"); isSQLite {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return one(warning("There is no database yet: \"touchline serve\" creates it, or DATABASE_URL and DATA_DIR name another one."))
		}
	}
	db, err := database.Open(ctx, address, database.Options{Now: c.now, Migrations: store.Migrations(), ApplicationName: "touchline doctor"})
	if database.IsTooManyConnections(err) {
		return one(failed("The database takes no more connections (%v): stop what holds them, or raise max_connections or the CONNECTION LIMIT of the role.", err))
	}
	if err != nil {
		return one(failed("The database cannot be opened (%v): start it, or correct DATABASE_URL.", err))
	}
	result := inspect(ctx, db)
	if result.Status == Failed && db.Migrated(ctx) != nil {
		_ = db.Close()
		return one(result)
	}
	c.db = db
	return one(result)
}

// inspect checks the migrations of a database and whether it takes writes.
func inspect(ctx context.Context, db *database.DB) Result {
	if err := dump.CheckComplete(ctx, db); err != nil {
		return failed("No service starts on the database: %v.", err)
	}
	switch err := db.Migrated(ctx); {
	case errors.Is(err, database.ErrNotMigrated):
		return failed("The database lacks migrations of this release: run \"touchline migrate\".")
	case err != nil:
		return failed("The version of the database cannot be read: %v.", err)
	}
	if err := db.Writable(ctx); err != nil {
		return failed("The database takes no writes (%v): free its disk, or connect to the primary.", err)
	}
	if newer, err := db.Newer(ctx); err == nil && newer != 0 {
		return warning("A newer release has migrated this database (migration %d): upgrade this program.", newer)
	}
	return ok("The database responds, takes writes and has all migrations.")
}

// maxClockOffset is how far clocks may differ. NTP keeps them within milliseconds.
const maxClockOffset = 5 * time.Second

// clock compares the clock of this machine with those of PostgreSQL and of the SMS gateway.
func (c *checkup) clock(ctx context.Context) []Result {
	if c.db == nil {
		return needsDatabase()
	}
	offset, err := c.db.ClockOffset(ctx)
	switch {
	case err != nil:
		return one(failed("The clock of the database cannot be read: %v.", err))
	case offset.Abs() > maxClockOffset:
		return one(failed("The clock of this machine is %s ahead of the clock of the database: synchronise both (NTP).", offset.Round(time.Second)))
	}
	return one(ok("The clock of this machine agrees with that of the database to %s.", maxClockOffset))
}

// clockDiffers returns a result if the clock of this machine differs from a time that another machine just sent, exact to a second.
func (c *checkup) clockDiffers(who string, theirs time.Time) []Result {
	offset := c.now().Sub(theirs)
	if theirs.IsZero() || offset.Abs() <= maxClockOffset {
		return nil
	}
	return one(warning("The clock of this machine is %s ahead of the clock of %s: synchronise it (NTP).", offset.Round(time.Second), who))
}

// spareConnections are left for migrations and for people who look at the database.
const spareConnections = 4

// connections compares the connections of a replica with those that PostgreSQL has left.
func (c *checkup) connections(ctx context.Context) []Result {
	if c.db == nil {
		return needsDatabase()
	}
	n, err := c.db.ServerConnections(ctx)
	switch {
	case err != nil:
		return one(failed("The connections of the database cannot be read: %v.", err))
	case n.Limit == 0:
		return one(ok("SQLite has no limit on connections."))
	case n.Pool > n.Limit:
		return one(failed("A replica may open %d connections and PostgreSQL allows %d: raise max_connections, or set pool_max_conns in DATABASE_URL.", n.Pool, n.Limit))
	case n.RoleLimit >= 0 && n.RoleUsed+n.Pool > n.RoleLimit:
		return one(warning("The role of DATABASE_URL has %d of its %d connections in use, so another replica with %d would not fit: raise the CONNECTION LIMIT of the role, or lower pool_max_conns in DATABASE_URL.",
			n.RoleUsed, n.RoleLimit, n.Pool))
	case n.Used+n.Pool+spareConnections > n.Limit:
		return one(warning("PostgreSQL has %d of %d connections in use, so another replica with %d would not fit: raise max_connections, or lower pool_max_conns in DATABASE_URL.",
			n.Used, n.Limit, n.Pool))
	}
	return one(ok("PostgreSQL has %d of %d connections in use; a replica opens at most %d.", n.Used, n.Limit, n.Pool))
}
