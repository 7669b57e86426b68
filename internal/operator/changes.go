package operator

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// ChangesKept is how long the feed has a change, and how long a cursor is valid.
const ChangesKept = 90 * 24 * time.Hour

// ChangesOverlap is how much longer a change is stored, so that a valid cursor misses none.
const ChangesOverlap = 24 * time.Hour

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
	Party          actor.Role
	GuardianStatus string
	StudentStatus  string
	At             time.Time
}

// ChangeCursor is the position of a reader in the feed. The zero value is the beginning.
type ChangeCursor struct {
	Position int64     `json:"p"`
	IssuedAt time.Time `json:"t"`
}

// ChangeStore reads the feed; package store implements it.
type ChangeStore interface {
	// Changes returns up to limit changes after a position, in the order of positions, and
	// the last position that a change has. A change is in it once its transaction has
	// committed.
	Changes(ctx context.Context, after int64, limit int) (changes []Change, last int64, err error)
}

// ChangeFeed is the feed of changes for other services.
type ChangeFeed struct {
	Store ChangeStore
	Now   func() time.Time
}

// Read returns up to limit changes after a cursor and the next cursor. It returns
// cursor_expired if the reader would miss changes.
func (f *ChangeFeed) Read(ctx context.Context, after ChangeCursor, limit int) ([]Change, ChangeCursor, error) {
	now, begun := f.Now().UTC(), !after.IssuedAt.IsZero()
	if begun && now.Sub(after.IssuedAt) > ChangesKept {
		return nil, after, errCursorExpired()
	}
	changes, last, err := f.Store.Changes(ctx, after.Position, limit)
	if err != nil {
		return nil, after, err
	}
	next := ChangeCursor{Position: last, IssuedAt: now}
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
