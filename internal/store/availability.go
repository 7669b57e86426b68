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
		SELECT p.guardian_state, p.student_state, p.date_of_birth, p.guardian_name IS NOT NULL, p.student_number IS NOT NULL, c.tier
		FROM players p LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.id = $1 AND p.deleted_at IS NULL AND (
			CAST($2 AS TEXT) = 'coach' AND p.coach_id = $3
			OR $2 = 'guardian' AND p.guardian_id = $3
			OR $2 = 'student' AND p.student_id = $3)`, playerID, by.Role, by.AccountID).
		Scan((*string)(&s.Guardian), (*string)(&s.Student), &born, &s.HasGuardian, &s.HasStudentNumber, intoText(&s.CoachTier))
	if errors.Is(err, sql.ErrNoRows) {
		return approval.ConsentStatus{}, fault.Missing()
	}
	if err != nil {
		return approval.ConsentStatus{}, err
	}
	s.DateOfBirth, err = approval.ParseDate(born)
	return s, err
}
