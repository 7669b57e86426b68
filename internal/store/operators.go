package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

func scanToken(s database.Scanner) (operator.Token, error) {
	var t operator.Token
	err := s.Scan(&t.ID, &t.Name, database.IntoWords(&t.Scopes), database.IntoTime(&t.CreatedAt), database.IntoTime(&t.EndsAt), database.IntoTime(&t.LastUsedAt), database.IntoTime(&t.RevokedAt))
	return t, err
}

// AddToken stores a service token with the hash of its secret.
func (db *DB) AddToken(ctx context.Context, by actor.Operator, t operator.Token, hash []byte) error {
	return db.Write(ctx, func(tx *Tx) error {
		err := tx.Defer(ctx, `
			INSERT INTO operator_tokens (id, name, hash, scopes, created_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			t.ID, t.Name, hash, database.JoinWords(t.Scopes), database.Micros(t.CreatedAt), database.Micros(t.EndsAt))
		if err != nil {
			return fmt.Errorf("add service token: %w", err)
		}
		detail := fmt.Sprintf("scopes %s until %s", strings.TrimSuffix(database.JoinWords(t.Scopes), ","), t.EndsAt.UTC().Format(time.DateOnly))
		return tx.Record(ctx, by, operator.TokenCreated, "token", t.ID, detail)
	})
}

// RevokeToken revokes a service token and returns it, or nil if there is none.
func (db *DB) RevokeToken(ctx context.Context, by actor.Operator, id string) (*operator.Token, error) {
	var revoked *operator.Token
	err := db.Write(ctx, func(tx *Tx) error {
		revoked = nil
		t, err := scanToken(tx.QueryRow(ctx, `
			UPDATE operator_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL
			RETURNING id, name, scopes, created_at, ends_at, last_used_at, revoked_at`, id, database.Micros(tx.Now)))
		if err == nil {
			revoked = &t
			return tx.Record(ctx, by, operator.TokenRevoked, "token", id, "")
		}
		if !database.IsNoRows(err) {
			return err
		}
		t, err = scanToken(tx.QueryRow(ctx, `
			SELECT id, name, scopes, created_at, ends_at, last_used_at, revoked_at FROM operator_tokens WHERE id = $1`, id))
		if err == nil {
			revoked = &t
		}
		if database.IsNoRows(err) {
			return nil
		}
		return err
	})
	return revoked, err
}

// TokenByHash returns a service token, even if it has expired or is revoked, or nil.
func (db *DB) TokenByHash(ctx context.Context, hash []byte) (*operator.Token, error) {
	t, err := scanToken(db.sql.QueryRow(ctx, `
		SELECT id, name, scopes, created_at, ends_at, last_used_at, revoked_at FROM operator_tokens WHERE hash = $1`, hash))
	if database.IsNoRows(err) {
		return nil, nil
	}
	return &t, err
}

// MarkTokenUsed sets the last use to now, unless it is later than before.
func (db *DB) MarkTokenUsed(ctx context.Context, id string, now, before time.Time) error {
	_, err := db.sql.Exec(ctx, `
		UPDATE operator_tokens SET last_used_at = $2
		WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)`, id, database.Micros(now), database.Micros(before))
	return err
}

// Tokens lists the service tokens, newest first, and audits the access.
func (db *DB) Tokens(ctx context.Context, by actor.Operator, after string, limit int) ([]operator.Token, error) {
	var tokens []operator.Token
	err := db.Write(ctx, func(tx *Tx) error {
		rs, err := tx.Query(ctx, `
			SELECT id, name, scopes, created_at, ends_at, last_used_at, revoked_at
			FROM operator_tokens WHERE id < $1 ORDER BY id DESC LIMIT $2`, database.Before(after), limit)
		if tokens, err = database.Collect(rs, err, scanToken); err != nil {
			return fmt.Errorf("list service tokens: %w", err)
		}
		return tx.Record(ctx, by, operator.TokensListed, "token", "", "")
	})
	return tokens, err
}
