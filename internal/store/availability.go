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
	var read struct { // together: they are one allocation
		session                     auth.Session
		id, guardian, student, born string
	}
	s, p := &read.session, approval.Standing{}
	s.ID = sessionID
	err := db.queryRow(ctx, `
		SELECT s.account_id, s.role, s.mobile_number, s.generation, s.used_at, s.ends_at, s.revoked_at,
			p.id, p.guardian_state, p.student_state, p.date_of_birth
		FROM sessions s
		LEFT JOIN players p ON p.id = $2 AND p.deleted_at IS NULL AND (
			s.role = 'coach' AND p.coach_id = s.account_id
			OR s.role = 'guardian' AND p.guardian_id = s.account_id
			OR s.role = 'student' AND p.student_id = s.account_id)
		WHERE s.id = $1`, sessionID, playerID).
		Scan(intoText(&s.AccountID), intoText((*string)(&s.Role)), intoText((*string)(&s.Number)), &s.Generation, intoTime(&s.UsedAt), intoTime(&s.EndsAt), intoTime(&s.RevokedAt),
			intoText(&read.id), intoText(&read.guardian), intoText(&read.student), intoText(&read.born))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, p, false, nil
	}
	if err != nil || read.id == "" {
		return s, p, false, err
	}
	p = approval.Standing{PlayerID: read.id, Guardian: approval.State(read.guardian), Student: approval.State(read.student)}
	p.DateOfBirth, err = approval.ParseDate(read.born)
	return s, p, err == nil, err
}
