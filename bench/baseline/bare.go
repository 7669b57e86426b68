package baseline

import (
	"context"
	"database/sql"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"
)

// bare is the database of the baseline handlers: database/sql with the driver, the settings and the pool sizes of the service.
// Each statement is prepared once. On SQLite a single connection writes.
type bare struct {
	sqlite        bool
	reads, writes *sql.DB
	prepared      sync.Map // query to *sql.Stmt, for SQLite; pgx has its own cache
}

func openBare(databaseURL string) (*bare, error) {
	path, isFile := strings.CutPrefix(databaseURL, "sqlite:")
	if !isFile {
		pool, err := sql.Open("pgx", databaseURL)
		if err != nil {
			return nil, err
		}
		pool.SetMaxOpenConns(16)
		pool.SetMaxIdleConns(16)
		return &bare{reads: pool, writes: pool}, nil
	}
	file := "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?"
	writes, err := sql.Open("sqlite", file+url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "temp_store(MEMORY)", "cache_size(-4000)", "journal_size_limit(16777216)"},
	}.Encode())
	if err != nil {
		return nil, err
	}
	writes.SetMaxOpenConns(1)
	reads, err := sql.Open("sqlite", file+url.Values{
		"mode": {"ro"}, "_pragma": {"busy_timeout(5000)", "query_only(1)", "temp_store(MEMORY)", "cache_size(-2000)"},
	}.Encode())
	if err != nil {
		return nil, err
	}
	reads.SetMaxOpenConns(runtime.GOMAXPROCS(0))
	reads.SetMaxIdleConns(runtime.GOMAXPROCS(0))
	return &bare{sqlite: true, reads: reads, writes: writes}, nil
}

func (b *bare) close() {
	b.reads.Close()
	b.writes.Close()
}

// stmt returns the prepared statement of a query.
func (b *bare) stmt(ctx context.Context, pool *sql.DB, query string) (*sql.Stmt, error) {
	if stmt, ok := b.prepared.Load(query); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := pool.PrepareContext(ctx, query)
	if err == nil {
		b.prepared.Store(query, stmt)
	}
	return stmt, err
}

// runner runs the statements of one request. After an error its methods do nothing.
type runner struct {
	ctx  context.Context
	bare *bare
	pool *sql.DB
	tx   *sql.Tx // nil outside a transaction
	err  error
}

// reading returns a runner on the read pool.
func (b *bare) reading(r *http.Request) *runner { return b.runner(r, b.reads) }

// writing returns a runner on the write pool.
func (b *bare) writing(r *http.Request) *runner { return b.runner(r, b.writes) }

// runner ignores the cancellation of the request on SQLite, as the service does: the driver's goroutine for it costs half the
// time of a statement.
func (b *bare) runner(r *http.Request, pool *sql.DB) *runner {
	ctx := r.Context()
	if b.sqlite {
		ctx = context.WithoutCancel(ctx)
	}
	return &runner{ctx: ctx, bare: b, pool: pool}
}

func (s *runner) begin() { s.tx, s.err = s.pool.BeginTx(s.ctx, nil) }

func (s *runner) commit() {
	if s.err != nil {
		if s.tx != nil {
			s.tx.Rollback() //nolint:errcheck // s.err is the error to report
		}
		return
	}
	s.err = s.tx.Commit()
}

// rows runs a query and returns its rows; fewer than n rows are an error.
func (s *runner) rows(n int, query string, args ...any) [][]any {
	if s.err != nil {
		return nil
	}
	var all [][]any
	if all, s.err = s.scan(query, args); s.err == nil && len(all) < n {
		s.err = sql.ErrNoRows
	}
	return all
}

func (s *runner) scan(query string, args []any) ([][]any, error) {
	rows, err := s.query(query, args)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all [][]any
	for rows.Next() {
		values, pointers := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			pointers[i] = &values[i]
		}
		if err := rows.Scan(pointers...); err != nil {
			return nil, err
		}
		all = append(all, values)
	}
	return all, rows.Err()
}

func (s *runner) query(query string, args []any) (*sql.Rows, error) {
	if !s.bare.sqlite {
		if s.tx != nil {
			return s.tx.QueryContext(s.ctx, query, args...)
		}
		return s.pool.QueryContext(s.ctx, query, args...)
	}
	stmt, err := s.bare.stmt(s.ctx, s.pool, query)
	if err != nil {
		return nil, err
	}
	if s.tx != nil {
		stmt = s.tx.StmtContext(s.ctx, stmt)
	}
	return stmt.QueryContext(s.ctx, args...)
}

// exec runs a statement; no changed row is an error.
func (s *runner) exec(query string, args ...any) {
	if s.err != nil {
		return
	}
	var res sql.Result
	switch {
	case s.bare.sqlite:
		var stmt *sql.Stmt
		if stmt, s.err = s.bare.stmt(s.ctx, s.pool, query); s.err != nil {
			return
		}
		if s.tx != nil {
			stmt = s.tx.StmtContext(s.ctx, stmt)
		}
		res, s.err = stmt.ExecContext(s.ctx, args...)
	case s.tx != nil:
		res, s.err = s.tx.ExecContext(s.ctx, query, args...)
	default:
		res, s.err = s.pool.ExecContext(s.ctx, query, args...)
	}
	if s.err != nil {
		return
	}
	n, err := res.RowsAffected()
	if s.err = err; err == nil && n == 0 {
		s.err = sql.ErrNoRows
	}
}

// respond writes the response: 200, or 500 with the first error.
func (s *runner) respond(w http.ResponseWriter) {
	if s.err != nil {
		http.Error(w, s.err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(okBody) //nolint:errcheck // the client reports it
}

var okBody = []byte(`{"ok":true}`)

// prepare prepares the statements that run in transactions. Inside one it would wait for SQLite's only write connection.
func (b *bare) prepare(ctx context.Context, queries ...string) error {
	if !b.sqlite {
		return nil
	}
	for _, query := range queries {
		if _, err := b.stmt(ctx, b.writes, query); err != nil {
			return err
		}
	}
	return nil
}
