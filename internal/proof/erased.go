package proof

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// erased is the state of the consents of an erased player in records.
const erased approval.State = "erased"

// PlayerErased is store.Hooks.PlayerErased: it inserts a record of the erasure for each party of a player. No key of it is kept, so
// the record says that a consent was erased and when, but not whose. The row in erasures has the same time.
func PlayerErased(ctx context.Context, tx *store.Tx, parties []actor.Role) error {
	for _, party := range parties {
		key := make([]byte, keyBytes)
		_, _ = rand.Read(key) // never fails (crypto/rand)
		c := approval.ConsentChange{ID: tx.DB().NewID(), Kind: approval.ConsentErased, Party: party, Before: approval.Removed, After: erased, At: tx.Now}
		body := newBody(c, Claims{}.digests(key), tx.DB().Settings()).encode()
		if err := tx.Defer(ctx, `INSERT INTO consent_records (id, body, at) VALUES ($1, $2, $3)`, c.ID, body, database.Micros(c.At)); err != nil {
			return fmt.Errorf("record an erasure: %w", err)
		}
	}
	return nil
}
