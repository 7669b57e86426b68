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

// session runs the statements of one request. After an error its methods do nothing.
type session struct {
	ctx  context.Context
	bare *bare
	pool *sql.DB
	tx   *sql.Tx // nil outside a transaction
	err  error
}

// reading returns a session on the read pool.
func (b *bare) reading(r *http.Request) *session { return b.session(r, b.reads) }

// writing returns a session on the write pool.
func (b *bare) writing(r *http.Request) *session { return b.session(r, b.writes) }

// session ignores the cancellation of the request on SQLite, as the service does: the driver's goroutine for it costs half the
// time of a statement.
func (b *bare) session(r *http.Request, pool *sql.DB) *session {
	ctx := r.Context()
	if b.sqlite {
		ctx = context.WithoutCancel(ctx)
	}
	return &session{ctx: ctx, bare: b, pool: pool}
}

func (s *session) begin() { s.tx, s.err = s.pool.BeginTx(s.ctx, nil) }

func (s *session) commit() {
	if s.err != nil {
		if s.tx != nil {
			s.tx.Rollback() //nolint:errcheck // s.err is the error to report
		}
		return
	}
	s.err = s.tx.Commit()
}

// row runs a query and scans its rows; no row is an error.
func (s *session) row(query string, args []any, dest ...any) {
	s.rows(query, args, 1, dest...)
}

// rows runs a query and scans its rows; fewer than n rows are an error.
func (s *session) rows(query string, args []any, n int, dest ...any) {
	if s.err != nil {
		return
	}
	rows, err := s.query(query, args)
	if err != nil {
		s.err = err
		return
	}
	defer rows.Close()
	for rows.Next() {
		if s.err = rows.Scan(dest...); s.err != nil {
			return
		}
		n--
	}
	if s.err = rows.Err(); s.err == nil && n > 0 {
		s.err = sql.ErrNoRows
	}
}

func (s *session) query(query string, args []any) (*sql.Rows, error) {
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
func (s *session) exec(query string, args ...any) {
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

// respond writes the response: 200, or 500 with the session's error.
func (s *session) respond(w http.ResponseWriter) {
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
