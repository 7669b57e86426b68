package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// engine is one of the two databases the service runs on.
type engine string

const (
	sqlite   engine = "sqlite"
	postgres engine = "postgres"
)

// skipLocked, forShare and forKeyShare are the fragments of SQL that differ between the engines.
func (e engine) skipLocked() string {
	if e == postgres {
		return "FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// forShare locks the row until the commit: transactions that change an account's number,
// close it or suspend it wait. SQLite has one writer and needs no lock.
func (e engine) forShare(table string) string {
	if e == postgres {
		return "FOR SHARE OF " + table
	}
	return ""
}

// forKeyShare allows concurrent changes of columns that are not part of a key.
func (e engine) forKeyShare(table string) string {
	if e == postgres {
		return "FOR KEY SHARE OF " + table
	}
	return ""
}

const (
	defaultMaxConns       = 16
	defaultConnectTimeout = 5 * time.Second

	// idleTime closes connections that nobody has needed for so long.
	idleTime = 5 * time.Minute
	// lifeTime lets a pool follow a database that moved behind its name.
	lifeTime = time.Hour
	// busyTimeout is how long SQLite waits for another process, a backup say.
	busyTimeout = 5 * time.Second
)

// target is a database URL, read.
type target struct {
	engine engine
	path   string          // SQLite: the absolute path
	config *pgx.ConnConfig // PostgreSQL
	conns  int
}

// parseURL reads a database URL. Its errors never hold the password.
func parseURL(raw string, o Options) (target, error) {
	scheme, rest, _ := strings.Cut(raw, ":")
	switch scheme {
	case "sqlite":
		if rest == "" || strings.ContainsAny(rest, "?#\x00") || (strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "///")) {
			return target{}, errors.New("database URL: sqlite: wants the path of a file and nothing else, such as sqlite:/var/lib/touchline/touchline.db")
		}
		path, err := filepath.Abs(rest)
		if err != nil {
			return target{}, fmt.Errorf("database URL: %w", err)
		}
		return target{engine: sqlite, path: path}, nil
	case "postgres", "postgresql":
		cfg, err := pgx.ParseConfig(raw)
		if err != nil {
			return target{}, fmt.Errorf("database URL: %w", err)
		}
		if cfg.ConnectTimeout == 0 {
			cfg.ConnectTimeout = defaultConnectTimeout
			if o.ConnectTimeout > 0 {
				cfg.ConnectTimeout = o.ConnectTimeout
			}
		}
		if cfg.RuntimeParams["application_name"] == "" && o.ApplicationName != "" {
			cfg.RuntimeParams["application_name"] = o.ApplicationName
		}
		conns := o.MaxConns
		if conns <= 0 {
			conns = defaultMaxConns
		}
		return target{engine: postgres, config: cfg, conns: conns}, nil
	}
	return target{}, errors.New("database URL: it must begin with sqlite: or postgres://")
}

// openPool makes the pool of PostgreSQL. pgx caches statements by itself, one
// cache for each connection.
func (t target) openPool() *sql.DB {
	pool := stdlib.OpenDB(*t.config)
	pool.SetMaxOpenConns(t.conns)
	pool.SetMaxIdleConns(t.conns) // fewer, and a busy pool would dial all the time
	pool.SetConnMaxIdleTime(idleTime)
	pool.SetConnMaxLifetime(lifeTime)
	return pool
}

// openMigrator makes a pool of its own for a migration: SQLite's writer holds the
// one connection of its pool.
func (t target) openMigrator() (*sql.DB, error) {
	if t.engine == postgres {
		return t.openPool(), nil
	}
	return t.openWriter()
}

// makeFile creates the SQLite file with mode 0600, which its write-ahead log
// inherits, and the folder it lies in. A file that exists is left as it is.
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

// openWriter makes the pool of one connection that may write. FULL is what makes
// an acknowledged write survive a power cut.
func (t target) openWriter() (*sql.DB, error) {
	pool, err := sql.Open("sqlite", t.dsn(url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			"busy_timeout(" + millis(busyTimeout) + ")",
			"journal_mode(WAL)",
			"synchronous(FULL)",
			"foreign_keys(1)",
			"temp_store(MEMORY)",
			"cache_size(-4000)",
			"journal_size_limit(16777216)",
		},
	}))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	pool.SetMaxIdleConns(1)
	return pool, nil
}

// openReaders makes the pool of reads, which cannot write even by mistake: more
// connections than cores are slower, not faster.
func (t target) openReaders() (*sql.DB, error) {
	pool, err := sql.Open("sqlite", t.dsn(url.Values{
		"mode": {"ro"},
		"_pragma": {
			"busy_timeout(" + millis(busyTimeout) + ")",
			"query_only(1)",
			"temp_store(MEMORY)",
			"cache_size(-2000)",
		},
	}))
	if err != nil {
		return nil, err
	}
	n := runtime.GOMAXPROCS(0)
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return pool, nil
}

// dsn is the file: URI of the database; pragmas ride in it so that every
// connection has them.
func (t target) dsn(q url.Values) string {
	path := filepath.ToSlash(t.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

func millis(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// readContext is the context under which one read runs. PostgreSQL's is limited
// in time, the wait for a connection included. SQLite's cannot be interrupted: a
// read takes microseconds there, and watching it takes half as long again.
func (e engine) readContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if e == postgres {
		// A call that ends sooner needs no second timer.
		if ends, ok := ctx.Deadline(); ok && time.Until(ends) <= readLimit {
			return ctx, func() {}
		}
		return context.WithTimeout(ctx, readLimit)
	}
	return context.Background(), func() {}
}
