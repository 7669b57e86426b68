package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fault"
)

// ConsentStatus reads the two consents of a player by primary key, or returns
// not_found if by may not see the player.
func (db *DB) ConsentStatus(ctx context.Context, by actor.Actor, playerID string) (approval.ConsentStatus, error) {
	s := approval.ConsentStatus{PlayerID: playerID}
	var born string
	err := db.sql.QueryRow(ctx, `
		SELECT guardian_state, student_state, date_of_birth, guardian_name IS NOT NULL, student_number IS NOT NULL
		FROM players
		WHERE id = $1 AND deleted_at IS NULL AND (
			CAST($2 AS TEXT) = 'coach' AND coach_id = $3
			OR $2 = 'guardian' AND guardian_id = $3
			OR $2 = 'student' AND student_id = $3)`, playerID, by.Role, by.AccountID).
		Scan((*string)(&s.Guardian), (*string)(&s.Student), &born, &s.HasGuardian, &s.HasStudentNumber)
	if errors.Is(err, sql.ErrNoRows) {
		return approval.ConsentStatus{}, fault.Missing()
	}
	if err != nil {
		return approval.ConsentStatus{}, err
	}
	s.DateOfBirth, err = approval.ParseDate(born)
	return s, err
}
