package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// ReadConsentStatus reads the two consents of a player by primary key, or returns
// not_found if by may not see the player.
func ReadConsentStatus(ctx context.Context, db *store.DB, by actor.Actor, playerID string) (ConsentStatus, error) {
	c := ConsentStatus{PlayerID: playerID}
	var born string
	err := db.QueryRow(ctx, `
		SELECT g.state, s.state, p.date_of_birth, g.name IS NOT NULL, s.number IS NOT NULL, c.tier
		FROM players p`+store.WithParties+` LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.id = $1 AND p.deleted_at IS NULL AND CASE CAST($2 AS TEXT) WHEN 'coach' THEN p.coach_id WHEN 'guardian' THEN g.account_id WHEN 'student' THEN s.account_id END = $3`, playerID, by.Role, by.AccountID).
		Scan((*string)(&c.Guardian), (*string)(&c.Student), &born, &c.HasGuardian, &c.HasStudentNumber, database.IntoText(&c.CoachTier))
	if database.IsNoRows(err) {
		return ConsentStatus{}, fault.Missing()
	}
	if err != nil {
		return ConsentStatus{}, err
	}
	c.DateOfBirth, err = ParseDate(born)
	return c, err
}

// maxStatusesOfNumber limits the players of one number that other services read.
const maxStatusesOfNumber = 200

const statusSelect = `
	SELECT p.id, p.changes, g.state, s.state, p.date_of_birth, g.name IS NOT NULL, s.number IS NOT NULL, c.tier, p.deleted_at IS NOT NULL
	FROM players p` + store.WithParties + ` LEFT JOIN coaches c ON c.id = p.coach_id `

// scanStatus scans a row of statusSelect. The status of a deleted player is the zero value.
func scanStatus(s database.Scanner) (status ConsentStatus, err error) {
	var born string
	var deleted bool
	err = s.Scan(&status.PlayerID, &status.Sequence, (*string)(&status.Guardian), (*string)(&status.Student), &born,
		&status.HasGuardian, &status.HasStudentNumber, database.IntoText(&status.CoachTier), &deleted)
	if err != nil || deleted {
		return ConsentStatus{}, err
	}
	status.DateOfBirth, err = ParseDate(born)
	return status, err
}

// ConsentStatuses reads the consents of players for other services, in no order. Unknown
// and deleted players are left out.
func ConsentStatuses(ctx context.Context, db *store.DB, playerIDs []string) ([]ConsentStatus, error) {
	return consentStatuses(ctx, db, playerIDs)
}

// consentStatuses has no condition on deleted_at: with one, PostgreSQL without statistics of the
// table takes a partial index of players that are not deleted for small, and reads all of it.
func consentStatuses(ctx context.Context, q database.Querier, playerIDs []string) ([]ConsentStatus, error) {
	args := database.PaddedIDs(playerIDs)
	rs, err := q.Query(ctx, statusSelect+`WHERE p.id IN (`+database.Params(1, len(args))+`)`, args...)
	statuses, err := database.Collect(rs, err, scanStatus)
	if err != nil {
		return nil, fmt.Errorf("read the consents of %d players: %w", len(playerIDs), err)
	}
	return slices.DeleteFunc(statuses, func(s ConsentStatus) bool { return s.PlayerID == "" }), nil
}

// ConsentStatusesOfNumber reads the consents of the players that name a number in a role,
// newest first, and adds an audit entry without the number. It reads at most 200.
func ConsentStatusesOfNumber(ctx context.Context, db *store.DB, by actor.Operator, number phone.Number, role actor.Role) ([]ConsentStatus, error) {
	var statuses []ConsentStatus
	err := db.Write(ctx, func(tx *store.Tx) error {
		rs, err := tx.Query(ctx, statusSelect+`
			WHERE p.id IN (
				SELECT a.player_id FROM parties a
				WHERE a.account_id = (SELECT id FROM accounts WHERE mobile_number = $1 AND role = $3) AND a.deleted_at IS NULL
				ORDER BY a.player_id DESC LIMIT $2)`, string(number), maxStatusesOfNumber, string(role))
		if statuses, err = database.Collect(rs, err, scanStatus); err != nil {
			return fmt.Errorf("read the consents of a number: %w", err)
		}
		slices.SortFunc(statuses, func(a, b ConsentStatus) int { return strings.Compare(b.PlayerID, a.PlayerID) })
		return tx.Record(ctx, by, operator.AvailabilityFound, "player", "", "as "+string(role))
	})
	return statuses, err
}
