package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/database"
)

// TLSEntry returns an entry that a replica saved, or nil.
func (db *DB) TLSEntry(ctx context.Context, name string) ([]byte, error) {
	var sealed []byte
	err := db.sql.QueryRow(ctx, `SELECT sealed FROM tls_entries WHERE name = $1`, name).Scan(&sealed)
	if database.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read TLS entry: %w", err)
	}
	text, err := db.Unseal(auth.ForTLS, sealed, name)
	if err != nil || text == "" { // a replica has claimed the entry and not saved it yet
		return nil, err
	}
	return []byte(text), nil
}

// SaveTLSEntry saves an entry.
func (db *DB) SaveTLSEntry(ctx context.Context, name string, data []byte) error {
	sealed, err := db.Seal(auth.ForTLS, string(data), name)
	if err != nil {
		return err
	}
	_, err = db.sql.Exec(ctx, `
		INSERT INTO tls_entries (name, sealed, claim_ends_at) VALUES ($1, $2, 0)
		ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, claim_ends_at = 0`, name, sealed)
	if err != nil {
		return fmt.Errorf("save TLS entry: %w", err)
	}
	return nil
}

// DeleteTLSEntry deletes an entry.
func (db *DB) DeleteTLSEntry(ctx context.Context, name string) error {
	if _, err := db.sql.Exec(ctx, `DELETE FROM tls_entries WHERE name = $1`, name); err != nil {
		return fmt.Errorf("delete TLS entry: %w", err)
	}
	return nil
}

// ClaimTLSEntry reports whether the caller shall get an entry that nothing has saved: of
// concurrent callers one, until the given time.
func (db *DB) ClaimTLSEntry(ctx context.Context, name string, until time.Time) (bool, error) {
	n, err := db.sql.Exec(ctx, `
		INSERT INTO tls_entries (name, claim_ends_at) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET claim_ends_at = excluded.claim_ends_at
		WHERE tls_entries.sealed IS NULL AND tls_entries.claim_ends_at <= $3`, name, database.Micros(until), database.Micros(db.Now()))
	if err != nil {
		return false, fmt.Errorf("claim TLS entry: %w", err)
	}
	return n > 0, nil
}
