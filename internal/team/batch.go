package team

import (
	"fmt"
	"strconv"
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

// BatchName is a batch in a list of choices.
type BatchName struct{ ID, Name string }

// Coach has the facts about a coach that rules need.
type Coach struct {
	// Tier is the stored name of the tier.
	Tier string
	// TimeZone is an IANA name, the default one if the coach chose none.
	TimeZone string
}

// CheckFeature returns a tier_limit unless the tier with a stored name has a feature.
type CheckFeature func(tier, feature string) error

// Membership is a player in a batch.
type Membership struct {
	PlayerID    string
	StudentName string
	// HasMedical reports whether the coach noted medical information.
	HasMedical bool
	JoinedAt   time.Time
	// LeftAt is zero while the player is in the batch.
	LeftAt time.Time
	// Earlier are the stays that ended before the player joined again at JoinedAt.
	Earlier []Stay
}

// Stay is the time of a player in a batch, until before LeftAt.
type Stay struct{ JoinedAt, LeftAt time.Time }

// RejoinWithin is how long after leaving a player who joins again counts as never having left. The
// player was then in the batch on each day in between.
const RejoinWithin = 24 * time.Hour

// CheckOpen returns batch_archived for an archived batch: it can be read, but gets no
// messages, fees, players or changes.
func (b *Batch) CheckOpen() error {
	if !b.ArchivedAt.IsZero() {
		return fault.New(fault.Conflict, "batch_archived", "This batch is archived. It can be read, but no longer changed.")
	}
	return nil
}

// CheckPlayers returns a fault if one more player is too many. pointer is the field of the
// request that names the batch or the player.
func (b *Batch) CheckPlayers(pointer string) error {
	if b.PlayerCount < MaxBatchPlayers {
		return nil
	}
	return fault.Validation([]fault.Field{{Pointer: pointer, Code: "too_many", Detail: fmt.Sprintf("A batch can have at most %d players.", MaxBatchPlayers)}})
}

// BatchTitles are the column titles of an exported list of batches.
var BatchTitles = []string{"Batch", "Sport", "Venue", "Schedule", "Time zone", "Players", "Archived"}

// Cells returns the batch as one row under BatchTitles.
func (b *Batch) Cells() []string {
	archived := ""
	if !b.ArchivedAt.IsZero() {
		archived = b.ArchivedAt.UTC().Format(time.RFC3339)
	}
	return []string{b.Name, b.Sport, b.Venue, b.Schedule.String(), b.TimeZone, strconv.Itoa(b.PlayerCount), archived}
}
