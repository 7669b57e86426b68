package approval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// ChangeType says what changed about a player, for other services.
type ChangeType string

// The types besides the states: a consent that became approved, rejected, revoked or
// pending has the type of its new state.
const (
	// availabilityChanged: services changed, but no consent did.
	availabilityChanged ChangeType = "availability"
	// PlayerRemoved: the coach removed the player, or closed the account.
	PlayerRemoved ChangeType = "removed"
)

// StatusChange is one change of a player that other services read.
type StatusChange struct {
	Type ChangeType
	// Party is the party whose consent changed, or empty.
	Party actor.Role
	// GuardianID is that of the Party.
	GuardianID string
	At         time.Time
}

// firstChanges returns the changes of a new player: each party becomes pending.
func (p *Player) firstChanges(now time.Time) []StatusChange {
	return p.statusChanges(ConsentStatus{}, Rules{}, now)
}

// statusChanges returns the changes since before, which is the zero value for a new player.
// A guardian who does not exist has no consent that could change.
func (p *Player) statusChanges(before ConsentStatus, rules Rules, now time.Time) []StatusChange {
	if !p.DeletedAt.IsZero() {
		return []StatusChange{{Type: PlayerRemoved, At: now}}
	}
	after := p.ConsentStatus()
	var changes []StatusChange
	for _, g := range after.Guardians {
		if was := before.As(g.ID); !was.HasGuardian || was.Guardian != g.State {
			changes = append(changes, StatusChange{ChangeType(g.State), actor.Guardian, g.ID, now})
		}
	}
	if after.Student != before.Student {
		changes = append(changes, StatusChange{ChangeType(after.Student), actor.Student, "", now})
	}
	was, is := before.Availability(rules, now), after.Availability(rules, now)
	if len(changes) == 0 && (!slices.Equal(was.Services(), is.Services()) || !slices.Equal(was.Guardians, is.Guardians)) {
		changes = append(changes, StatusChange{Type: availabilityChanged, At: now})
	}
	return changes
}

// addStatusChanges adds the newest status changes of a player, which the transaction has
// saved and counted. The lock of the player's row makes the sequence rise by one in the
// order of the commits.
func addStatusChanges(ctx context.Context, tx *store.Tx, p *Player, changes []StatusChange) error {
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
	err := tx.Defer(ctx, `
		INSERT INTO changes (player_id, sequence, type, party, guardian_state, student_state, at, guardian_id)
		SELECT p.id, p.changes - v.column1, v.column2, v.column3, CAST($2 AS TEXT), CAST($3 AS TEXT), v.column4, v.column5
		FROM players p CROSS JOIN `+values+`) v WHERE p.id = $1`, args...)
	if err != nil {
		return fmt.Errorf("add the status changes of player %s: %w", p.ID, err)
	}
	tx.WakeFeed()
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
func RecordAdults(ctx context.Context, db *store.DB, adultBorn Date, guardianRequired bool) error {
	to, from := adultBorn.String(), ""
	if err := db.QueryRow(ctx, `SELECT adults_to FROM change_feed WHERE id = 1`).Scan(database.IntoText(&from)); err != nil {
		return err
	}
	if last, err := ParseDate(from); from >= to && (err != nil || last.Year-adultBorn.Year < 2) {
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
						AND (g.state IN ('rejected', 'revoked') OR g.state = 'pending' AND players.guardian_rule = 'all')))
			RETURNING id`, from, to)
		ids, err := database.CollectTexts(rs, err)
		if err != nil {
			return fmt.Errorf("count the changes of new adults: %w", err)
		}
		return addChangeOfEach(ctx, tx, ids, string(availabilityChanged))
	})
}
