package database

import (
	"context"
	"fmt"
)

// Connections says how many connections a PostgreSQL server has and allows. It is zero for SQLite.
type Connections struct {
	// Used are those of all clients, and Limit those that clients may have without special rights.
	Used, Limit int
	// RoleUsed are those of the role of this connection, and RoleLimit those that it may have, or -1.
	RoleUsed, RoleLimit int
	// Pool is how many this process may open.
	Pool int
}

// ServerConnections counts the connections of the PostgreSQL server.
func (db *DB) ServerConnections(ctx context.Context) (c Connections, err error) {
	if db.engine != postgres {
		return c, nil
	}
	// An ordinary user sees the database of each connection, but not its kind.
	err = db.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL),
		       CAST(current_setting('max_connections') AS INTEGER) - CAST(current_setting('superuser_reserved_connections') AS INTEGER),
		       (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user),
		       (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user)`).Scan(&c.Used, &c.Limit, &c.RoleUsed, &c.RoleLimit)
	if err != nil {
		return c, fmt.Errorf("count the connections of PostgreSQL: %w", err)
	}
	c.Pool = db.target.conns
	return c, nil
}
