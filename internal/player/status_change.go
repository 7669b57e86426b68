package player

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// addStatusChanges adds the newest status changes of a player, which the transaction has
// saved and counted. The lock of the player's row makes the sequence rise by one in the
// order of the commits.
func (w *saving) addStatusChanges(ctx context.Context) error {
	p, changes := w.p, w.c.StatusChanges
	if len(changes) == 0 {
		return nil
	}
	status := p.ConsentStatus()
	values := "(VALUES (CAST($4 AS BIGINT), CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS BIGINT), CAST($8 AS TEXT))"
	args := []any{p.ID, string(status.Guardian), string(status.Student)}
	for i, c := range changes {
		if i > 0 {
			values += ", (" + database.Params(len(args)+1, 5) + ")"
		}
		args = append(args, len(changes)-1-i, string(c.Type), database.Text(string(c.Party)), database.Micros(c.At), database.Text(c.GuardianID))
	}
	err := w.tx.Defer(ctx, `
		INSERT INTO changes (player_id, sequence, type, party, guardian_state, student_state, at, guardian_id)
		SELECT p.id, p.changes - v.column1, v.column2, v.column3, CAST($2 AS TEXT), CAST($3 AS TEXT), v.column4, v.column5
		FROM players p CROSS JOIN `+values+`) v WHERE p.id = $1`, args...)
	if err != nil {
		return fmt.Errorf("add the status changes of player %s: %w", p.ID, err)
	}
	w.tx.WakeFeed()
	return nil
}

// addChangeOfEach adds one change without a party to each player, which the transaction has
// counted.
func addChangeOfEach(ctx context.Context, tx *store.Tx, playerIDs []string, changeType string) error {
	for batch := range slices.Chunk(playerIDs, closureBatch) {
		args := append([]any{changeType, database.Micros(tx.Now)}, database.TextArgs(batch)...)
		err := tx.Defer(ctx, `
			INSERT INTO changes (player_id, sequence, type, guardian_state, student_state, at)
			SELECT p.id, p.changes, CAST($1 AS TEXT), g.state, s.state, CAST($2 AS BIGINT)
			FROM players p`+store.WithParties+` WHERE p.id IN (`+database.Params(3, len(batch))+`)`, args...)
		if err != nil {
			return fmt.Errorf("add changes of type %s: %w", changeType, err)
		}
	}
	if len(playerIDs) > 0 {
		tx.WakeFeed()
	}
	return nil
}

// RecordAdults adds a change for each student who needs no guardian any more since the last call, if
// that changed an availability: students who have approved while their guardians have not,
// and guardianRequired says that younger ones need both. adultBorn is the latest birth date of
// a student who needs none. The first call, and the first with a higher age, only store the date.
func RecordAdults(ctx context.Context, db *store.DB, adultBorn approval.Date, guardianRequired bool) error {
	to, from := adultBorn.String(), ""
	if err := db.QueryRow(ctx, `SELECT adults_to FROM change_feed WHERE id = 1`).Scan(database.IntoText(&from)); err != nil {
		return err
	}
	if last, err := approval.ParseDate(from); from >= to && (err != nil || last.Year-adultBorn.Year < 2) {
		return nil // the clocks of two replicas can differ by a day, at the end of a year too
	}
	return db.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `
			UPDATE change_feed SET adults_to = $2 WHERE id = 1 AND coalesce(adults_to, '') = $1`, from, to)
		if err != nil || n == 0 || from == "" || from > to || !guardianRequired {
			return err // n is 0 if another replica was faster
		}
		rs, err := tx.Query(ctx, `
			UPDATE players SET changes = changes + 1
			WHERE deleted_at IS NULL AND date_of_birth > $1 AND date_of_birth <= $2
				AND EXISTS (SELECT 1 FROM parties s WHERE s.player_id = players.id AND s.role = 'student' AND s.state = 'approved')
				AND (NOT EXISTS (SELECT 1 FROM parties g WHERE g.player_id = players.id AND g.role = 'guardian' AND g.state = 'approved')
					OR EXISTS (SELECT 1 FROM parties g WHERE g.player_id = players.id AND g.role = 'guardian' AND g.name IS NOT NULL
						AND (g.refused = TRUE OR g.state = 'pending' AND players.guardian_rule = 'all')))
			RETURNING id`, from, to)
		ids, err := database.CollectTexts(rs, err)
		if err != nil {
			return fmt.Errorf("count the changes of new adults: %w", err)
		}
		return addChangeOfEach(ctx, tx, ids, string(approval.AvailabilityChanged))
	})
}
