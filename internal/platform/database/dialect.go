package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// engine is the database engine of a URL.
type engine string

const (
	sqlite   engine = "sqlite"
	postgres engine = "postgres"
)

// skipLocked, forShare and forKeyShare are the clauses that differ between the engines.
// SQLite has one writer, so it needs no row locks.
func (e engine) skipLocked() string {
	if e == postgres {
		return "FOR UPDATE SKIP LOCKED"
	}
	return ""
}

func (e engine) forShare(table string) string {
	if e == postgres {
		return "FOR SHARE OF " + table
	}
	return ""
}

func (e engine) forKeyShare(table string) string {
	if e == postgres {
		return "FOR KEY SHARE OF " + table
	}
	return ""
}

const (
	poolMaxConns    = "pool_max_conns"
	defaultMaxConns = 16
	// connectTimeout limits an attempt to reach PostgreSQL. A connect_timeout in the URL
	// wins.
	connectTimeout = 5 * time.Second
	// idleTime is how long an unused connection stays open.
	idleTime = 5 * time.Minute
	// lifeTime limits the life of a connection, so that the pool follows a changed DNS entry.
	lifeTime = time.Hour
	// busyTimeout is how long SQLite waits for another process, for example a backup.
	busyTimeout = 5 * time.Second
)

// target is a parsed database URL.
type target struct {
	engine engine
	path   string          // SQLite: the absolute path
	config *pgx.ConnConfig // PostgreSQL
	conns  int
}

// CheckURL returns why Open cannot use a database URL, without a connection.
func CheckURL(url string) error {
	_, err := parseURL(url, Options{})
	return err
}

// parseURL parses a database URL. Its errors never contain the password.
func parseURL(raw string, o Options) (target, error) {
	scheme, rest, _ := strings.Cut(raw, ":")
	switch scheme {
	case "sqlite":
		if rest == "" || strings.ContainsAny(rest, "?#\x00") || (strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "///")) {
			return target{}, errors.New("sqlite: must be followed by the path of a file only, such as sqlite:/var/lib/touchline/touchline.db")
		}
		path, err := filepath.Abs(rest)
		if err != nil {
			return target{}, err
		}
		return target{engine: sqlite, path: path}, nil
	case "postgres", "postgresql":
		cfg, err := pgx.ParseConfig(raw)
		if err != nil {
			if _, reason, found := strings.Cut(err.Error(), "`: "); found { // pgx repeats the URL before it
				err = errors.New(reason)
			}
			return target{}, err
		}
		if cfg.ConnectTimeout == 0 {
			cfg.ConnectTimeout = connectTimeout
		}
		if cfg.RuntimeParams["application_name"] == "" && o.ApplicationName != "" {
			cfg.RuntimeParams["application_name"] = o.ApplicationName
		}
		cfg.DialFunc = dialer(cfg).DialContext
		conns, err := poolSize(cfg, o.MaxConns)
		if err != nil {
			return target{}, err
		}
		return target{engine: postgres, config: cfg, conns: conns}, nil
	}
	return target{}, errors.New("it must begin with sqlite: or postgres://")
}

// poolSize takes pool_max_conns, which pgx's pool has in its URL, out of the parameters for the server.
// It is at least 2, because one connection listens.
func poolSize(cfg *pgx.ConnConfig, otherwise int) (int, error) {
	text, set := cfg.RuntimeParams[poolMaxConns]
	if !set {
		return cmp.Or(otherwise, defaultMaxConns), nil
	}
	delete(cfg.RuntimeParams, poolMaxConns)
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 || n > 1000 {
		return 0, errors.New(poolMaxConns + " must be a number from 2 to 1000")
	}
	return n, nil
}

// openPool opens the pool of PostgreSQL. pgx caches prepared statements per connection.
func (t target) openPool(params *pgx.ConnConfig) *sql.DB {
	pool := sql.OpenDB(newConnector(t.config, params))
	pool.SetMaxOpenConns(t.conns)
	pool.SetMaxIdleConns(t.conns) // with fewer, a busy pool would dial all the time
	pool.SetConnMaxIdleTime(idleTime)
	pool.SetConnMaxLifetime(lifeTime)
	return pool
}

// openMigrator opens a pool for migrations. It cannot use the pool of SQLite's writer,
// which holds its one connection.
func (t target) openMigrator() (*sql.DB, error) {
	if t.engine == postgres {
		params := withParams(t.config, sessionParams)
		maps.Copy(params.RuntimeParams, migrationParams)
		return t.openPool(params), nil
	}
	return t.openWriter()
}

// makeFile creates a missing SQLite file and its folder. The write-ahead log inherits the
// mode 0600 of the file.
func (t target) makeFile() error {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fmt.Errorf("database folder: %w", err)
	}
	f, err := os.OpenFile(t.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("database file: %w", err)
	}
	return f.Close()
}

// openWriter opens the pool of one connection that may write. synchronous=FULL makes a
// committed write survive a power cut. secure_delete=1 overwrites deleted content with zeros; it costs writes about 5 %.
func (t target) openWriter() (*sql.DB, error) {
	return t.openSQLite(1, url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-4000)", "journal_size_limit(16777216)", "secure_delete(1)"},
	})
}

// openReaders opens the pool of read-only connections. More connections than cores are
// slower, not faster.
func (t target) openReaders() (*sql.DB, error) {
	return t.openSQLite(runtime.GOMAXPROCS(0), url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)", "cache_size(-2000)"}})
}

// SQLiteDriver is the name of the driver of SQLite. A simulation replaces it before it opens a database.
var SQLiteDriver = "sqlite"

func (t target) openSQLite(conns int, q url.Values) (*sql.DB, error) {
	// busy_timeout is first: the other pragmas may have to wait.
	q["_pragma"] = append([]string{"busy_timeout(" + millis(busyTimeout) + ")", "temp_store(MEMORY)"}, q["_pragma"]...)
	pool, err := sql.Open(SQLiteDriver, t.dsn(q))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool, nil
}

// dsn returns the file: URI of the database. It contains the pragmas, so that every
// connection has them.
func (t target) dsn(q url.Values) string {
	path := filepath.ToSlash(t.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

func millis(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// readContext returns the context of one read. On PostgreSQL it has a timeout, which
// includes the wait for a connection. On SQLite it is never cancelled: a read takes
// microseconds, and the driver's watch of a context makes it 1.5 times as slow.
func (e engine) readContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if e == postgres {
		// An earlier deadline needs no second timer.
		if ends, ok := ctx.Deadline(); ok && time.Until(ends) <= readTimeout {
			return ctx, func() {}
		}
		return context.WithTimeout(ctx, readTimeout)
	}
	return context.Background(), func() {}
}
