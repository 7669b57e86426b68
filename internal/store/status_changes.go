package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
)

// addStatusChanges adds the newest status changes of a player, which the transaction has
// saved and counted. The lock of the player's row makes the sequence rise by one in the
// order of the commits.
func (tx *Tx) addStatusChanges(ctx context.Context, playerID string, changes []approval.StatusChange) error {
	for i, c := range changes {
		err := tx.Defer(ctx, `
			INSERT INTO changes (player_id, sequence, type, party, guardian_state, student_state, at)
			SELECT id, changes - CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), guardian_state, student_state, CAST($5 AS BIGINT)
			FROM players WHERE id = $1`,
			playerID, len(changes)-1-i, string(c.Type), database.Text(string(c.Party)), database.Micros(c.At))
		if err != nil {
			return fmt.Errorf("add a status change of player %s: %w", playerID, err)
		}
	}
	if len(changes) > 0 {
		tx.wakeFeed()
	}
	return nil
}

// addChangeOfEach adds one change without a party to each player, which the transaction has
// counted.
func (tx *Tx) addChangeOfEach(ctx context.Context, playerIDs []string, changeType string) error {
	for batch := range slices.Chunk(playerIDs, closureBatch) {
		args := append([]any{changeType, database.Micros(tx.Now)}, database.TextArgs(batch)...)
		err := tx.Defer(ctx, `
			INSERT INTO changes (player_id, sequence, type, guardian_state, student_state, at)
			SELECT id, changes, CAST($1 AS TEXT), guardian_state, student_state, CAST($2 AS BIGINT)
			FROM players WHERE id IN (`+database.Params(3, len(batch))+`)`, args...)
		if err != nil {
			return fmt.Errorf("add changes of type %s: %w", changeType, err)
		}
	}
	if len(playerIDs) > 0 {
		tx.wakeFeed()
	}
	return nil
}
