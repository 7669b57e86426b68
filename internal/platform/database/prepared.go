package database

import (
	"context"
	"database/sql"
	"strings"
	"sync"
)

// prepared caches prepared statements by their text: on SQLite preparing costs as much as
// a small read.
type prepared struct {
	on    preparer
	mu    sync.RWMutex
	stmts map[string]*sql.Stmt
}

type preparer interface {
	handle
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

func newPrepared(on preparer) *prepared {
	return &prepared{on: on, stmts: make(map[string]*sql.Stmt)}
}

// ExecContext runs a statement that returns no rows.
func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := p.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.on.ExecContext(ctx, query, args...)
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext runs a statement that returns rows.
func (p *prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := p.stmt(ctx, query)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.on.QueryContext(ctx, query, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// stmt returns the prepared statement of query, or nil if the cache is full.
func (p *prepared) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	stmt, space := p.lookup(query)
	if stmt != nil || !space {
		return stmt, nil
	}
	stmt, err := p.on.PrepareContext(ctx, plannedOnce(query))
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.stmts[query]; first != nil {
		_ = stmt.Close()
		return first, nil
	}
	p.stmts[query] = stmt
	return stmt, nil
}

// plannedOnce returns query with a sign before the parameter of each LIMIT. SQLite plans by
// the value of LIMIT $1, so each execution would prepare the statement again: a quarter of
// the CPU time of a page with lists. It ignores the value of LIMIT +$1.
func plannedOnce(query string) string { return strings.ReplaceAll(query, "LIMIT $", "LIMIT +$") }

// lookup returns the prepared statement of query or nil, and whether the cache has space for one more.
func (p *prepared) lookup(query string) (stmt *sql.Stmt, space bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.stmts[query], len(p.stmts) < maxPrepared
}

// close frees the statements.
func (p *prepared) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, stmt := range p.stmts {
		_ = stmt.Close()
	}
	clear(p.stmts)
}
