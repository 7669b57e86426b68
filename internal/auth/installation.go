package auth

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/vault"
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

// Secrets returns all key material, encrypted.
func (in *Installation) Secrets(ctx context.Context) ([]Secret, error) {
	return secrets(ctx, in.sql)
}

func secrets(ctx context.Context, from database.Querier) ([]Secret, error) {
	rs, err := from.Query(ctx, `SELECT id, purpose, sealed, created_at, active_at, ends_at FROM secrets ORDER BY id`)
	return database.Collect(rs, err, func(s database.Scanner) (Secret, error) {
		var v Secret
		err := s.Scan(&v.ID, &v.Purpose, &v.Sealed, database.IntoTime(&v.CreatedAt), database.IntoTime(&v.ActiveAt), database.IntoTime(&v.EndsAt))
		return v, err
	})
}

// AddSecret saves the secret that seal returns, unless one with its ID exists: see KeyStore.
func (in *Installation) AddSecret(ctx context.Context, seal func(service *Secret) (Secret, error)) error {
	return in.sql.Write(ctx, func(tx *database.Tx) error {
		service, err := serviceSecret(ctx, tx)
		if err != nil {
			return err
		}
		s, err := seal(service)
		if err != nil {
			return err
		}
		_, err = insertSecret(ctx, tx, s)
		return err
	})
}

// serviceSecret returns the service secret, nil if there is none. Until the transaction ends, no
// rotation of the master key encrypts the secrets again.
func serviceSecret(ctx context.Context, tx *database.Tx) (*Secret, error) {
	s := Secret{ID: serviceSecretID, Purpose: string(vault.ForSecret)}
	err := tx.QueryRow(ctx, `SELECT s.sealed FROM secrets s WHERE s.id = 'service' `+tx.ForShare("s")).Scan(&s.Sealed)
	if database.IsNoRows(err) {
		return nil, nil
	}
	return &s, err
}

func insertSecret(ctx context.Context, tx *database.Tx, s Secret) (added bool, err error) {
	n, err := tx.Exec(ctx, `
		INSERT INTO secrets (id, purpose, sealed, created_at, active_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO NOTHING`, s.ID, s.Purpose, s.Sealed, database.Micros(s.CreatedAt), database.Micros(s.ActiveAt), database.Micros(s.EndsAt))
	return n > 0, err
}

// DropSecrets removes the secrets that ended before a time.
func (in *Installation) DropSecrets(ctx context.Context, before time.Time) error {
	_, err := in.sql.Exec(ctx, `DELETE FROM secrets WHERE ends_at < $1`, database.Micros(before))
	return err
}
