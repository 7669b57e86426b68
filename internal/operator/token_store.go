package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

func scanToken(s database.Scanner) (Token, error) {
	var t Token
	err := s.Scan(&t.ID, &t.Name, database.IntoWords(&t.Scopes), database.IntoTime(&t.CreatedAt), database.IntoTime(&t.EndsAt), database.IntoTime(&t.LastUsedAt), database.IntoTime(&t.RevokedAt))
	return t, err
}

// AddToken stores a service token with the hash of its secret.
func (db SQL) AddToken(ctx context.Context, by actor.Operator, t Token, hash []byte) error {
	return db.DB.Write(ctx, func(tx *database.Tx) error {
		err := tx.Defer(ctx, `
			INSERT INTO operator_tokens (id, name, hash, scopes, created_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			t.ID, t.Name, hash, database.JoinWords(t.Scopes), database.Micros(t.CreatedAt), database.Micros(t.EndsAt))
		if err != nil {
			return fmt.Errorf("add service token: %w", err)
		}
		detail := fmt.Sprintf("scopes %s until %s", strings.TrimSuffix(database.JoinWords(t.Scopes), ","), t.EndsAt.UTC().Format(time.DateOnly))
		return db.addEntry(ctx, tx, by, TokenCreated, "token", t.ID, detail)
	})
}

// RevokeToken revokes a service token and returns it, or nil if there is none.
func (db SQL) RevokeToken(ctx context.Context, by actor.Operator, id string) (*Token, error) {
	var revoked *Token
	err := db.DB.Write(ctx, func(tx *database.Tx) error {
		revoked = nil
		t, err := scanToken(tx.QueryRow(ctx, `
			UPDATE operator_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL
			RETURNING id, name, scopes, created_at, ends_at, last_used_at, revoked_at`, id, database.Micros(tx.Now)))
		if err == nil {
			revoked = &t
			return db.addEntry(ctx, tx, by, TokenRevoked, "token", id, "")
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
func (db SQL) TokenByHash(ctx context.Context, hash []byte) (*Token, error) {
	t, err := scanToken(db.DB.QueryRow(ctx, `
		SELECT id, name, scopes, created_at, ends_at, last_used_at, revoked_at FROM operator_tokens WHERE hash = $1`, hash))
	if database.IsNoRows(err) {
		return nil, nil
	}
	return &t, err
}

// MarkTokenUsed sets the last use to now, unless it is later than before.
func (db SQL) MarkTokenUsed(ctx context.Context, id string, now, before time.Time) error {
	_, err := db.DB.Exec(ctx, `
		UPDATE operator_tokens SET last_used_at = $2
		WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $3)`, id, database.Micros(now), database.Micros(before))
	return err
}

// Tokens lists the service tokens, newest first, and audits the access.
func (db SQL) Tokens(ctx context.Context, by actor.Operator, after string, limit int) ([]Token, error) {
	var tokens []Token
	err := db.DB.Write(ctx, func(tx *database.Tx) error {
		rs, err := tx.Query(ctx, `
			SELECT id, name, scopes, created_at, ends_at, last_used_at, revoked_at
			FROM operator_tokens WHERE id < $1 ORDER BY id DESC LIMIT $2`, database.Before(after), limit)
		tokens, err = database.Collect(rs, err, scanToken)
		if err != nil {
			return fmt.Errorf("list service tokens: %w", err)
		}
		return db.addEntry(ctx, tx, by, TokensListed, "token", "", "")
	})
	return tokens, err
}
