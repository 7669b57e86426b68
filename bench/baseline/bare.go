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

// bare is the database as a good engineer would use it in a handler of ten lines: database/sql with the driver, the settings
// and the number of connections of the service, and statements that are prepared once. On SQLite one connection writes.
type bare struct {
	sqlite        bool
	reads, writes *sql.DB
	prepared      sync.Map // text to *sql.Stmt, for SQLite; pgx keeps its own
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

// stmt prepares query once for the pool.
func (b *bare) stmt(ctx context.Context, pool *sql.DB, query string) (*sql.Stmt, error) {
	if kept, ok := b.prepared.Load(query); ok {
		return kept.(*sql.Stmt), nil
	}
	stmt, err := pool.PrepareContext(ctx, query)
	if err == nil {
		b.prepared.Store(query, stmt)
	}
	return stmt, err
}

// session is what runs the statements of one request. Its first error stays.
type session struct {
	ctx  context.Context
	bare *bare
	pool *sql.DB
	tx   *sql.Tx // nil outside a transaction
	err  error
}

// reading and writing start a request's session. On SQLite its statements are not watched for the end of the request, which
// would cost half as much again.
func (b *bare) reading(r *http.Request) *session { return b.session(r, b.reads) }
func (b *bare) writing(r *http.Request) *session { return b.session(r, b.writes) }

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
			s.tx.Rollback() //nolint:errcheck // the first error is what counts
		}
		return
	}
	s.err = s.tx.Commit()
}

// row runs a statement and scans its rows, of which there is at least one.
func (s *session) row(query string, args []any, dest ...any) {
	s.rows(query, args, 1, dest...)
}

// rows runs a statement of at least n rows and scans each.
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

// exec runs a statement that changes one row at least.
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

// answer ends a request.
func (s *session) answer(w http.ResponseWriter) {
	if s.err != nil {
		http.Error(w, s.err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(done) //nolint:errcheck // the client of a measurement stays
}

var done = []byte(`{"ok":true}`)

// prepare prepares the statements of transactions before there is one, which holds SQLite's only connection.
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
