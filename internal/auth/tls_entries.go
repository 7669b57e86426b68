package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
)

// TLSEntries are the certificates and account keys of an ACME service, sealed.
type TLSEntries struct {
	DB    *database.DB
	Vault *vault.Vault
}

// Entry returns an entry that a replica saved, or nil.
func (t TLSEntries) Entry(ctx context.Context, name string) ([]byte, error) {
	var sealed []byte
	err := t.DB.QueryRow(ctx, `SELECT sealed FROM tls_entries WHERE name = $1`, name).Scan(&sealed)
	if database.IsNoRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read TLS entry: %w", err)
	}
	if len(sealed) == 0 { // a replica has claimed the entry and not saved it yet
		return nil, nil
	}
	data, err := t.Vault.For(vault.ForTLS).Open(sealed, name)
	if len(data) == 0 { // sealed under a lost master key
		return nil, err
	}
	return data, err
}

// Save saves an entry.
func (t TLSEntries) Save(ctx context.Context, name string, data []byte) error {
	sealed := t.Vault.For(vault.ForTLS).Seal(data, name)
	_, err := t.DB.Exec(ctx, `
		INSERT INTO tls_entries (name, sealed, claim_ends_at) VALUES ($1, $2, 0)
		ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, claim_ends_at = 0`, name, sealed)
	return fault.Wrap(err, "save TLS entry")
}

// Delete deletes an entry.
func (t TLSEntries) Delete(ctx context.Context, name string) error {
	if _, err := t.DB.Exec(ctx, `DELETE FROM tls_entries WHERE name = $1`, name); err != nil {
		return fmt.Errorf("delete TLS entry: %w", err)
	}
	return nil
}

// Claim reports whether the caller shall get an entry that nothing has saved: of
// concurrent callers one, until the given time.
func (t TLSEntries) Claim(ctx context.Context, name string, until time.Time) (bool, error) {
	n, err := t.DB.Exec(ctx, `
		INSERT INTO tls_entries (name, claim_ends_at) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET claim_ends_at = excluded.claim_ends_at
		WHERE tls_entries.sealed IS NULL AND tls_entries.claim_ends_at <= $3`, name, database.Micros(until), database.Micros(t.DB.Now()))
	return n > 0, fault.Wrap(err, "claim TLS entry")
}
