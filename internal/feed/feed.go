// Package feed lets services of others follow the consents of players: it owns the calls that read
// changes and availabilities. These calls name no person.
package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// ChangesKept is how long the feed has a change, and how long a cursor is valid.
const ChangesKept = 90 * 24 * time.Hour

// changesOverlap is how much longer a change is stored, so that a valid cursor misses none.
const changesOverlap = 24 * time.Hour

// Change is one change of a player in the feed.
type Change struct {
	// Position orders the feed. Positions rise by one, in the order in which
	// readers get the changes.
	Position int64
	PlayerID string
	// Sequence is the number of the change among the changes of the player, from 1.
	Sequence int64
	// Type is the new state of the consent of Party, "availability" or "removed".
	Type string
	// Party is empty if no consent changed.
	Party actor.Role
	// GuardianID is that of the Party.
	GuardianID     string
	GuardianStatus string
	StudentStatus  string
	At             time.Time
}

// Service reads the feed of changes and the availability of services.
type Service struct {
	DB       *store.DB
	Webhooks *Webhooks
	Rules    approval.Rules
	// Waiting has the calls that wait for a change, by token. Its Close ends them.
	Waiting *notice.Hub
	Now     func() time.Time
}

// Cursor is the position of a reader in the feed. The zero value is the beginning.
type Cursor struct {
	Position int64     `json:"p"`
	IssuedAt time.Time `json:"t"`
}

// Read returns up to limit changes after a cursor and the next cursor. It returns
// cursor_expired if the reader would miss changes.
func (s *Service) Read(ctx context.Context, after Cursor, limit int) ([]Change, Cursor, error) {
	now, begun := s.Now().UTC(), !after.IssuedAt.IsZero()
	if begun && now.Sub(after.IssuedAt) > ChangesKept {
		return nil, after, errCursorExpired()
	}
	changes, last, err := s.changes(ctx, after.Position, limit)
	if err != nil {
		return nil, after, err
	}
	next := Cursor{Position: last, IssuedAt: now}
	oldest := last + 1
	if n := len(changes); n > 0 {
		oldest, next.Position = changes[0].Position, changes[n-1].Position
	}
	// The oldest change does not follow the cursor if changes between were deleted, or if
	// the database is a backup from before the cursor.
	if begun && oldest != after.Position+1 {
		return nil, after, errCursorExpired()
	}
	return changes, next, nil
}

func errCursorExpired() error {
	return fault.New(fault.Gone, "cursor_expired",
		"This cursor is too old: changes after it may have been deleted. Read the availability of all your players, then start again without a cursor.")
}

// changes returns up to limit changes after a position, and the last position that a change has.
// Committed changes without a position get one before the read, so a reader sees each change that
// committed before it asked. The order matters: another process may give the positions at the same
// time, and a read before that would miss them.
func (s *Service) changes(ctx context.Context, after int64, limit int) (changes []Change, last int64, err error) {
	if _, err := positionChanges(ctx, s.DB); err != nil {
		return nil, 0, err
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		rs, err := tx.Query(ctx, `
			SELECT position, player_id, sequence, type, party, guardian_id, guardian_state, student_state, at
			FROM changes WHERE position > $1 ORDER BY position LIMIT $2`, after, limit)
		changes, err = database.Collect(rs, err, func(row database.Scanner) (c Change, err error) {
			var guardian, student approval.State
			err = row.Scan(&c.Position, &c.PlayerID, &c.Sequence, &c.Type, database.IntoText((*string)(&c.Party)), database.IntoText(&c.GuardianID), (*string)(&guardian), (*string)(&student), database.IntoTime(&c.At))
			c.GuardianStatus, c.StudentStatus = guardian.Status(), student.Status()
			return c, err
		})
		if err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT last FROM change_feed WHERE id = 1`).Scan(&last)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read changes after position %d: %w", after, err)
	}
	return changes, last, nil
}
