package team

import (
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// Limits of batches.
const (
	// MaxBatches limits the batches of a coach that are not archived.
	MaxBatches = 500
	// MaxBatchPlayers limits the current players of a batch.
	MaxBatchPlayers = 500
	// MaxBatchesOfPlayer limits the batches that a request adds a player to.
	MaxBatchesOfPlayer = 20
)

// Batch is a group of players that trains together.
type Batch struct {
	ID      string
	CoachID string
	Version int64
	Name    string
	// Sport and Venue are optional.
	Sport, Venue string
	// Schedule is in the time zone TimeZone, an IANA name.
	Schedule Schedule
	TimeZone string
	// PlayerCount is the number of players in the batch now.
	PlayerCount int
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// ArchivedAt is zero for an open batch.
	ArchivedAt time.Time
}

// BatchPatch changes a batch: nil keeps a field, a pointer to the zero value clears it. Each
// value has been validated.
type BatchPatch struct {
	Name, Sport, Venue *string
	Schedule           *Schedule
	// TimeZone "" means the coach's time zone.
	TimeZone *string
}

// CheckOpen returns batch_archived for an archived batch: it can be read, but gets no
// messages, fees, players or changes.
func (b *Batch) CheckOpen() error {
	if !b.ArchivedAt.IsZero() {
		return fault.New(fault.Conflict, "batch_archived", "This batch is archived. It can be read, but no longer changed.")
	}
	return nil
}

// Apply applies a patch.
func (b *Batch) Apply(p BatchPatch, now time.Time) {
	set(&b.Name, p.Name)
	set(&b.Sport, p.Sport)
	set(&b.Venue, p.Venue)
	set(&b.Schedule, p.Schedule)
	set(&b.TimeZone, p.TimeZone)
	b.UpdatedAt = now
}

// Archive archives the batch.
func (b *Batch) Archive(now time.Time) error {
	if err := b.CheckOpen(); err != nil {
		return err
	}
	b.ArchivedAt, b.UpdatedAt = now, now
	return nil
}

// checkBatches returns a fault if a coach who has this many open batches cannot add one.
func checkBatches(open int) error {
	if open < MaxBatches {
		return nil
	}
	return fault.Validation([]fault.Field{{Code: "too_many", Detail: fmt.Sprintf("You have %d batches. Archive one first.", open)}})
}

// CheckPlayers returns a fault if one more player is too many. pointer is the field of the
// request that names the batch or the player.
func (b *Batch) CheckPlayers(pointer string) error {
	if b.PlayerCount < MaxBatchPlayers {
		return nil
	}
	return fault.Validation([]fault.Field{{Pointer: pointer, Code: "too_many", Detail: fmt.Sprintf("A batch can have at most %d players.", MaxBatchPlayers)}})
}
