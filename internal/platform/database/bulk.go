package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Kind is the type of a column. Both engines read and write a column of a kind as the same Go type.
type Kind string

// The kinds of columns. A value that is NULL is nil.
const (
	KindText  Kind = "text"  // string
	KindInt   Kind = "int"   // int64
	KindBytes Kind = "bytes" // []byte
	KindBool  Kind = "bool"  // bool
	KindFloat Kind = "float" // float64
)

// Column is a column of a table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Table is a table of the schema. Its columns are in the order of their names, on both engines.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	// Key are the columns of the primary key.
	Key []string `json:"-"`
}

// The names of connections of a service and of a Bulk, unless the URL has one.
const (
	serviceName = "touchline"
	bulkName    = "touchline copy"
)

// ErrNoDatabase says that there is no SQLite file.
var ErrNoDatabase = errors.New("there is no such file")

// Bulk is one connection that reads and writes whole tables. It is for one goroutine.
type Bulk struct {
	target target
	pool   *sql.DB   // SQLite
	conn   *sql.Conn // SQLite
	pg     *pgx.Conn // PostgreSQL
}

// OpenBulk opens an existing database for reading: see Snapshot.
func OpenBulk(ctx context.Context, address string) (*Bulk, error) {
	return openBulk(ctx, address, url.Values{"mode": {"rw"}, "_pragma": {"query_only(1)", "cache_size(-16000)"}})
}

// OpenBulkWriter opens an existing database for writing whole tables. On SQLite foreign keys are not checked: see CheckReferences.
func OpenBulkWriter(ctx context.Context, address string) (*Bulk, error) {
	return openBulk(ctx, address, url.Values{"mode": {"rw"}, "_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(0)", "cache_size(-64000)"}})
}

func openBulk(ctx context.Context, address string, params url.Values) (*Bulk, error) {
	t, err := parseURL(address, Options{ApplicationName: bulkName})
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	b := &Bulk{target: t}
	if t.engine == postgres {
		b.pg, err = pgx.ConnectConfig(ctx, t.config)
		if err != nil {
			return nil, classify(err)
		}
		// Reading all tables takes longer than any time limit of the service.
		_, err = b.pg.Exec(ctx, `SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0`)
		return b, b.closeAfter(err)
	}
	if _, err := os.Stat(t.path); err != nil {
		return nil, fmt.Errorf("open %s: %w", t.path, ErrNoDatabase)
	}
	b.pool, err = t.openSQLite(1, params)
	if err != nil {
		return nil, classify(err)
	}
	b.conn, err = b.pool.Conn(ctx)
	return b, b.closeAfter(err)
}

func (b *Bulk) closeAfter(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(classify(err), b.Close())
}

// Close closes the connection. An open transaction ends without its changes.
func (b *Bulk) Close() error {
	if b.pg != nil {
		return b.pg.Close(context.Background())
	}
	var err error
	if b.conn != nil {
		_, _ = b.conn.ExecContext(context.Background(), `ROLLBACK`) // fails without a transaction
		err = b.conn.Close()
	}
	return errors.Join(err, b.pool.Close())
}

// Engine returns "sqlite" or "postgres".
func (b *Bulk) Engine() string { return string(b.target.engine) }

// Snapshot begins a transaction in which all reads see one state of the database. Others may write meanwhile. Close ends it.
func (b *Bulk) Snapshot(ctx context.Context) error {
	if b.pg != nil {
		return b.Exec(ctx, beginView)
	}
	if err := b.Exec(ctx, `BEGIN`); err != nil {
		return err
	}
	_, err := b.Version(ctx) // SQLite takes the snapshot with the first read
	return err
}

// Write runs fn in one transaction, once.
func (b *Bulk) Write(ctx context.Context, fn func() error) error {
	if err := b.Exec(ctx, `BEGIN`); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return errors.Join(err, b.Exec(context.WithoutCancel(ctx), `ROLLBACK`))
	}
	return b.Exec(ctx, `COMMIT`)
}

// Exec runs a statement.
func (b *Bulk) Exec(ctx context.Context, query string, args ...any) (err error) {
	if b.pg != nil {
		_, err = b.pg.Exec(ctx, query, args...)
	} else {
		_, err = b.conn.ExecContext(ctx, query, args...)
	}
	if err != nil {
		return classify(err)
	}
	return nil
}

// Scan runs a query and reads its only row; IsNoRows reports that there is none.
func (b *Bulk) Scan(ctx context.Context, query string, args []any, dest ...any) (err error) {
	if b.pg != nil {
		err = b.pg.QueryRow(ctx, query, args...).Scan(dest...)
	} else {
		err = b.conn.QueryRowContext(ctx, query, args...).Scan(dest...)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrNoRows):
		return sql.ErrNoRows
	}
	return classify(err)
}

// Version returns the version of the newest migration that was applied, or 0 without any.
func (b *Bulk) Version(ctx context.Context) (int64, error) {
	var version sql.NullInt64
	err := b.Scan(ctx, `SELECT max(version_id) FROM `+versionTable+` WHERE is_applied = TRUE`, nil, &version)
	if IsNoSuchTable(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the version of the database: %w", err)
	}
	return version.Int64, nil
}

// Tables returns all tables of the service, from the schema. A table is after the tables that it references.
func (b *Bulk) Tables(ctx context.Context) ([]Table, error) {
	read := b.sqliteTables
	if b.pg != nil {
		read = b.postgresTables
	}
	tables, references, err := read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	for _, t := range tables {
		slices.SortFunc(t.Columns, func(a, b Column) int { return cmp.Compare(a.Name, b.Name) })
		if len(t.Key) == 0 {
			return nil, fmt.Errorf("the table %s has no primary key", t.Name)
		}
	}
	slices.SortFunc(tables, func(a, b Table) int { return cmp.Compare(a.Name, b.Name) })
	return inOrder(tables, references)
}

// inOrder returns tables so that each is after those that it references.
func inOrder(tables []Table, references map[string][]string) ([]Table, error) {
	var ordered []Table
	done := map[string]bool{}
	for len(ordered) < len(tables) {
		before := len(ordered)
		for _, t := range tables {
			waits := slices.ContainsFunc(references[t.Name], func(other string) bool { return other != t.Name && !done[other] })
			if !done[t.Name] && !waits {
				ordered, done[t.Name] = append(ordered, t), true
			}
		}
		if len(ordered) == before {
			return nil, errors.New("the tables reference each other in a circle")
		}
	}
	return ordered, nil
}

// SameDatabase reports whether two URLs name the same SQLite file, or the same database of PostgreSQL by the same host name.
func SameDatabase(one, other string) bool {
	a, err := parseURL(one, Options{})
	b, err2 := parseURL(other, Options{})
	if err != nil || err2 != nil || a.engine != b.engine {
		return false
	}
	if a.engine == sqlite {
		return a.path == b.path
	}
	return a.config.Host == b.config.Host && a.config.Port == b.config.Port && a.config.Database == b.config.Database
}

// Label returns the place of a database without its password.
func Label(address string) string {
	t, err := parseURL(address, Options{})
	switch {
	case err != nil:
		return "?"
	case t.engine == sqlite:
		return "sqlite:" + t.path
	}
	return fmt.Sprintf("postgres://%s/%s", t.config.Host, t.config.Database)
}
