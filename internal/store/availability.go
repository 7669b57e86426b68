package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
)

// Availability reads, in one statement, the session that a token names and
// where a player stands whom that session's account may see. The session is nil
// where there is none; found is false where the player is absent or not the
// account's. Both are read by primary key: nothing is asked more often.
func (db *DB) Availability(ctx context.Context, sessionID, playerID string) (*auth.Session, approval.Standing, bool, error) {
	s := auth.Session{ID: sessionID}
	var p approval.Standing
	var id, guardian, student, born string
	err := db.queryRow(ctx, `
		SELECT s.account_id, s.role, s.mobile_number, s.generation, s.used_at, s.ends_at, s.revoked_at,
			p.id, p.guardian_state, p.student_state, p.date_of_birth
		FROM sessions s
		LEFT JOIN players p ON p.id = $2 AND p.deleted_at IS NULL AND (
			s.role = 'coach' AND p.coach_id = s.account_id
			OR s.role = 'guardian' AND p.guardian_id = s.account_id
			OR s.role = 'student' AND p.student_id = s.account_id)
		WHERE s.id = $1`, sessionID, playerID).
		Scan(&s.AccountID, &s.Role, &s.Number, &s.Generation, intoTime(&s.UsedAt), intoTime(&s.EndsAt), intoTime(&s.RevokedAt),
			intoText(&id), intoText(&guardian), intoText(&student), intoText(&born))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, p, false, nil
	}
	if err != nil || id == "" {
		return &s, p, false, err
	}
	p = approval.Standing{PlayerID: id, Guardian: approval.State(guardian), Student: approval.State(student)}
	p.DateOfBirth, err = approval.ParseDate(born)
	return &s, p, err == nil, err
}
