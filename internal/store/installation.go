package store

import (
	"context"
	"database/sql"
	"errors"
)

// Installation returns a fact about the installation, "" where it is not known yet.
func (db *DB) Installation(ctx context.Context, name string) (string, error) {
	var value string
	err := db.sql.QueryRow(ctx, `SELECT value FROM installation WHERE name = $1`, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, err
}

// SetInstallation keeps value under name unless there is one already, and returns
// what is kept: of replicas that race, the first decides.
func (db *DB) SetInstallation(ctx context.Context, name, value string) (string, error) {
	if _, err := db.sql.Exec(ctx, `INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value); err != nil {
		return "", err
	}
	return db.Installation(ctx, name)
}
