package store

import (
	"context"

	"github.com/touchline/touchline/internal/platform/database"
)

// Installation stores what all replicas share before a DB exists: the sealed keys and
// named values.
type Installation struct{ sql *database.DB }

// NewInstallation returns the Installation of a migrated database.
func NewInstallation(db *database.DB) *Installation { return &Installation{db} }

// Value returns a named value, "" if it is not set.
func (in *Installation) Value(ctx context.Context, name string) (string, error) {
	var value string
	err := in.sql.QueryRow(ctx, `SELECT value FROM installation WHERE name = $1`, name).Scan(&value)
	if database.IsNoRows(err) {
		return "", nil
	}
	return value, err
}

// SetValue stores value under name unless name has a value, and returns the stored value:
// the first replica to set it wins.
func (in *Installation) SetValue(ctx context.Context, name, value string) (string, error) {
	_, err := in.sql.Exec(ctx, `INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
	if err != nil {
		return "", err
	}
	return in.Value(ctx, name)
}
