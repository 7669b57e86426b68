package store

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// PlayerErased is the kind of an erasure of a player. The kind of an account is its role.
const PlayerErased = "player"

// ErasedParty is a party whose data is erased. GuardianID is empty for a student, and where an account is erased.
type ErasedParty struct {
	Role       actor.Role
	GuardianID string
}

// RecordErasure records that the transaction erases an account of a role. A second erasure changes nothing.
func (tx *Tx) RecordErasure(ctx context.Context, role actor.Role, accountID string) error {
	return tx.recordErasure(ctx, string(role), accountID, tx.Now)
}

// RecordPlayerErasure records that the transaction erases a player.
func (tx *Tx) RecordPlayerErasure(ctx context.Context, playerID string) error {
	return tx.recordErasure(ctx, PlayerErased, playerID, tx.Now)
}

// RecordEarlierErasure records an erasure of another copy of the database.
func (tx *Tx) RecordEarlierErasure(ctx context.Context, kind, id string, at time.Time) error {
	return tx.recordErasure(ctx, kind, id, at)
}

func (tx *Tx) recordErasure(ctx context.Context, kind, id string, at time.Time) error {
	err := tx.Defer(ctx, `
		INSERT INTO erasures (object_id, kind, erased_at) VALUES ($1, $2, $3) ON CONFLICT (object_id) DO NOTHING`,
		id, kind, database.Micros(at))
	return fault.Wrap(err, "record the erasure of %s %s", kind, id)
}
