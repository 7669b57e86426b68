package proof

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// erased is the state of the consents of an erased player in records.
const erased approval.State = "erased"

// erasureVersion orders the record of an erasure after all others of the player.
const erasureVersion = math.MaxInt64

// Erased is store.Hooks.Erased: it inserts a record of the erasure for each party of a player, or for the role of an account. Its
// only claim is the id of what was erased, so without its key the record says that a consent was erased and when, but not whose.
// An audit finds with it that the keys of the other records are missing lawfully. The row in erasures has the same time.
func Erased(ctx context.Context, tx *store.Tx, kind, objectID string, parties []store.ErasedParty) error {
	for _, party := range parties {
		key := make([]byte, keyBytes)
		_, _ = rand.Read(key) // never fails (crypto/rand)
		c := approval.ConsentChange{ID: tx.DB().NewID(), Kind: approval.ConsentErased, Party: party.Role, Before: approval.Removed, After: erased, At: tx.Now}
		if kind != store.PlayerErased {
			c.Kind, c.Before = approval.ConsentAccountErased, ""
		}
		claims := Claims{"player_id": objectID}
		body := newBody(c, claims.digests(key), tx.DB().Settings()).encode()
		sealed, err := seal(tx.DB(), key, claims, c.ID)
		if err == nil {
			err = tx.Defer(ctx, `INSERT INTO consent_records (id, body, at) VALUES ($1, $2, $3)`, c.ID, body, database.Micros(c.At))
		}
		if err == nil {
			err = tx.Defer(ctx, `INSERT INTO record_keys (record_id, player_id, party, account_id, version, sealed, guardian_id) VALUES ($1, $2, $3, '', $4, $5, $6)`,
				c.ID, objectID, string(party.Role), int64(erasureVersion), sealed, party.GuardianID)
		}
		if err != nil {
			return fmt.Errorf("record an erasure: %w", err)
		}
	}
	return nil
}
