package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fault"
)

// Link returns the preview of the link with this hash, or not_found if the link has expired
// or its request is not open. It needs no session: the preview names only the coach and
// the student.
func (db *DB) Link(ctx context.Context, hash []byte, now time.Time) (approval.LinkPreview, error) {
	var p approval.LinkPreview
	err := db.sql.QueryRow(ctx, `
		SELECT r.approver_type, c.name, p.student_name
		FROM request_links l
		JOIN requests r ON r.id = l.request_id AND r.state = 'pending'
		JOIN players p ON p.id = r.player_id AND p.deleted_at IS NULL
		LEFT JOIN coaches c ON c.id = r.coach_id
		WHERE l.hash = $1 AND l.ends_at > $2`, hash, micros(now)).
		Scan(&p.Party, intoText(&p.CoachName), &p.StudentName)
	if errors.Is(err, sql.ErrNoRows) {
		return approval.LinkPreview{}, fault.Missing()
	}
	if err != nil {
		return approval.LinkPreview{}, fmt.Errorf("read link: %w", err)
	}
	return p, nil
}
