package store

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/database"
)

// Secrets returns all key material, encrypted.
func (in *Installation) Secrets(ctx context.Context) ([]auth.Secret, error) {
	rs, err := in.sql.Query(ctx, `SELECT id, purpose, sealed, created_at, active_at, ends_at FROM secrets ORDER BY id`)
	return database.Collect(rs, err, func(s database.Scanner) (auth.Secret, error) {
		var v auth.Secret
		err := s.Scan(&v.ID, &v.Purpose, &v.Sealed, database.IntoTime(&v.CreatedAt), database.IntoTime(&v.ActiveAt), database.IntoTime(&v.EndsAt))
		return v, err
	})
}

// AddSecret saves s unless a secret with its ID exists.
func (in *Installation) AddSecret(ctx context.Context, s auth.Secret) error {
	_, err := in.sql.Exec(ctx, `
		INSERT INTO secrets (id, purpose, sealed, created_at, active_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (id) DO NOTHING`, s.ID, s.Purpose, s.Sealed, database.Micros(s.CreatedAt), database.Micros(s.ActiveAt), database.Micros(s.EndsAt))
	return err
}

// DropSecrets removes the secrets that ended before a time.
func (in *Installation) DropSecrets(ctx context.Context, before time.Time) error {
	_, err := in.sql.Exec(ctx, `DELETE FROM secrets WHERE ends_at < $1`, database.Micros(before))
	return err
}
