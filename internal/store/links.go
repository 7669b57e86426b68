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

// Link returns what the link with this hash asks, while it lives and its
// request is open; not_found otherwise, whatever the reason. It has no owner:
// whoever holds the link may read who asks, and nothing more.
func (db *DB) Link(ctx context.Context, hash []byte, now time.Time) (approval.LinkPreview, error) {
	var a approval.LinkPreview
	err := db.sql.QueryRow(ctx, `
		SELECT r.approver_type, c.name, p.student_name
		FROM request_links l
		JOIN requests r ON r.id = l.request_id AND r.state = 'pending'
		JOIN players p ON p.id = r.player_id AND p.deleted_at IS NULL
		LEFT JOIN coaches c ON c.id = r.coach_id
		WHERE l.hash = $1 AND l.ends_at > $2`, hash, micros(now)).
		Scan(&a.Party, intoText(&a.CoachName), &a.StudentName)
	if errors.Is(err, sql.ErrNoRows) {
		return approval.LinkPreview{}, fault.Missing()
	}
	if err != nil {
		return approval.LinkPreview{}, fmt.Errorf("open a link: %w", err)
	}
	return a, nil
}
