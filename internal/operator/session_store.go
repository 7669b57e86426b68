package operator

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// AddOperatorSession stores an operator's session with the hash of its secret.
func (db SQL) AddOperatorSession(ctx context.Context, s Session, hash []byte) error {
	return db.DB.Write(ctx, func(tx *database.Tx) error {
		err := tx.Defer(ctx, `
			INSERT INTO operator_sessions (id, hash, token_id, created_at, ends_at) VALUES ($1, $2, $3, $4, $5)`,
			s.ID, hash, s.Token.ID, database.Micros(s.CreatedAt), database.Micros(s.EndsAt))
		if err != nil {
			return fmt.Errorf("add operator session: %w", err)
		}
		return db.addEntry(ctx, tx, s.Token.Operator(), SignedIn, "operator_session", s.ID, "")
	})
}

// OperatorSessionByHash returns an operator's session with its token, even if one of them has
// ended, or nil.
func (db SQL) OperatorSessionByHash(ctx context.Context, hash []byte) (*Session, error) {
	var s Session
	err := db.DB.QueryRow(ctx, `
		SELECT s.id, s.created_at, s.ends_at, t.id, t.name, t.scopes, t.created_at, t.ends_at, t.last_used_at, t.revoked_at
		FROM operator_sessions s JOIN operator_tokens t ON t.id = s.token_id
		WHERE s.hash = $1`, hash).
		Scan(&s.ID, database.IntoTime(&s.CreatedAt), database.IntoTime(&s.EndsAt), &s.Token.ID, &s.Token.Name, database.IntoWords(&s.Token.Scopes),
			database.IntoTime(&s.Token.CreatedAt), database.IntoTime(&s.Token.EndsAt), database.IntoTime(&s.Token.LastUsedAt), database.IntoTime(&s.Token.RevokedAt))
	if database.IsNoRows(err) {
		return nil, nil
	}
	return &s, fault.Wrap(err, "read operator session")
}

// EndOperatorSession deletes an operator's session, if it still exists.
func (db SQL) EndOperatorSession(ctx context.Context, by actor.Operator, id string) error {
	return db.DB.Write(ctx, func(tx *database.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM operator_sessions WHERE id = $1`, id)
		if err != nil {
			return fmt.Errorf("end operator session %s: %w", id, err)
		}
		if n == 0 {
			return nil
		}
		return db.addEntry(ctx, tx, by, SignedOut, "operator_session", id, "")
	})
}
