// Package roster moves a coach's players in and out as spreadsheets: rules, SQL, JSON, pages,
// templates and texts.
//
// An import reads a CSV file or cells that were pasted from a spreadsheet as a stream, keeps its
// rows, shows them with their faults, and adds the players in steps that a page or an API client
// starts, so that it can stop and continue at any row. An export is a file that an import reads
// back without change.
package roster

import (
	"context"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
)

// Service imports and exports players. An import of another coach is not_found.
type Service struct {
	DB        *store.DB
	Approvals *player.Service
	Coaches   *coach.Service
	Batches   *batch.Service
	Phones    phone.Parser
	// CheckFeature returns a tier_limit unless the coach's tier has the feature.
	CheckFeature func(ctx context.Context, by actor.Actor, feature string) error
	Log          *slog.Logger

	line    line
	readers readers
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// NewID returns a new identifier.
func (s *Service) NewID() string { return s.DB.NewID() }

// RowState is the result of a row.
type RowState string

// The states of a row when it was read are Faulty, Waiting and Exists. Only Waiting changes.
const (
	Faulty  RowState = "faulty"  // it cannot be added as it is
	Waiting RowState = "waiting" // it is added by a later step
	Added   RowState = "added"   // the player is new
	Exists  RowState = "exists"  // the coach had this player already
	Refused RowState = "refused" // it was not added, for the reason in its faults
)

// rowStates are all states of a row.
var rowStates = []RowState{Faulty, Waiting, Added, Exists, Refused}

// State is where an import stands.
type State string

// The states of an import.
const (
	Reading    State = "reading"     // more rows of the file come
	Failed     State = "failed"      // the process that read the file has ended before its last row
	Ready      State = "ready"       // no row was added yet; rows of students whom the coach has are known
	InProgress State = "in_progress" // some rows are done
	Stopped    State = "stopped"     // a limit stopped it; it can go on later
	Done       State = "done"        // no row waits
)

// Import is a file whose rows are added in steps.
type Import struct {
	ID       string
	CoachID  string
	Warnings []Warning
	// Stop says what stopped the last step; nil if a step may go on.
	Stop *Stop
	// Counts are the rows in each state.
	Counts map[RowState]int
	// FileRows are the rows of the file, also of those that are not read yet; 0 for an import of
	// an earlier release.
	FileRows int
	// FileSHA256 identifies the file, and what the caller said about it.
	FileSHA256 string
	// Layout is how the file was read.
	Layout Layout
	// ReadingUntil is the zero time when all rows are here. Before, a process that reads the file
	// moves it; once it has passed, that process has ended and the import is Failed.
	ReadingUntil time.Time
	Failed       bool
	CreatedAt    time.Time
	// EndsAt is when the import is deleted.
	EndsAt time.Time
}

// Stop is the refusal that stopped a step: a limit of the tier, a missing verification.
type Stop struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	// NeededTier is the tier that allows more, or "".
	NeededTier string `json:"needed_tier,omitempty"`
}

// State returns where the import stands.
func (i *Import) State() State {
	switch {
	case i.Failed:
		return Failed
	case !i.ReadingUntil.IsZero():
		return Reading
	case i.Counts[Waiting] == 0:
		return Done
	case i.Stop != nil:
		return Stopped
	case i.Counts[Added]+i.Counts[Refused] > 0:
		return InProgress
	}
	return Ready
}

// Rows returns the number of rows of the file.
func (i *Import) Rows() int { return max(i.FileRows, i.ReadRows()) }

// ReadRows returns the number of rows that were read.
func (i *Import) ReadRows() int {
	total := 0
	for _, n := range i.Counts {
		total += n
	}
	return total
}

// ImportRow is a row of an import.
type ImportRow struct {
	Row
	State RowState
	// PlayerID is the player of an Added or Exists row.
	PlayerID string
}

// RowFilter selects rows of an import.
type RowFilter struct {
	State RowState // "" is any
	// After is the number of the last row of the previous page; 0 is the start.
	After, Limit int
}
