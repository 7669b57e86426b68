package approval

import (
	"context"
	"fmt"
	"slices"

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
		SELECT p.guardian_state, p.student_state, p.date_of_birth, p.guardian_name IS NOT NULL, p.student_number IS NOT NULL, c.tier
		FROM players p LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.id = $1 AND p.deleted_at IS NULL AND (
			CAST($2 AS TEXT) = 'coach' AND p.coach_id = $3
			OR $2 = 'guardian' AND p.guardian_id = $3
			OR $2 = 'student' AND p.student_id = $3)`, playerID, by.Role, by.AccountID).
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
	SELECT p.id, p.changes, p.guardian_state, p.student_state, p.date_of_birth, p.guardian_name IS NOT NULL, p.student_number IS NOT NULL, c.tier, p.deleted_at IS NOT NULL
	FROM players p LEFT JOIN coaches c ON c.id = p.coach_id `

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
		var rs *database.Rows
		var err error
		if role == actor.Guardian {
			rs, err = tx.Query(ctx, statusSelect+`
				WHERE p.guardian_id = (SELECT id FROM accounts WHERE mobile_number = $1 AND role = 'guardian') AND p.deleted_at IS NULL
				ORDER BY p.id DESC LIMIT $2`, string(number), maxStatusesOfNumber)
		} else {
			rs, err = tx.Query(ctx, statusSelect+`
				WHERE p.student_id = (SELECT id FROM accounts WHERE mobile_number = $1 AND role = 'student') AND p.deleted_at IS NULL
				ORDER BY p.id DESC LIMIT $2`, string(number), maxStatusesOfNumber)
		}
		if statuses, err = database.Collect(rs, err, scanStatus); err != nil {
			return fmt.Errorf("read the consents of a number: %w", err)
		}
		return tx.Record(ctx, by, operator.AvailabilityFound, "player", "", "as "+string(role))
	})
	return statuses, err
}
