package roster

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

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

// RowStates are all states of a row.
var RowStates = []RowState{Faulty, Waiting, Added, Exists, Refused}

// State is where an import stands.
type State string

// The states of an import.
const (
	Reading    State = "reading"     // more rows of the file come
	Failed     State = "failed"      // the process that read the file has ended before its last row
	Ready      State = "ready"       // no row was added yet; those of students whom the coach has are known
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
	// FileSHA256 identifies the file.
	FileSHA256 string
	// ReadingUntil is the zero time when all rows are here. Before, a process that reads the file
	// moves it; once it has passed, that process has ended.
	ReadingUntil time.Time
	// Failed reports that ReadingUntil has passed.
	Failed    bool
	CreatedAt time.Time
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

// RowID identifies a row of an import.
type RowID struct {
	CoachID, ImportID string
	Number            int
}

// Store stores imports; package store implements it. Every call names the coach, and
// returns not_found for an import of another coach.
type Store interface {
	// AddImport saves an import with its first rows, those of students whom the coach has as Exists,
	// and deletes the oldest imports of the coach
	// beyond keep. It returns false and saves nothing if an import has this id already.
	AddImport(ctx context.Context, i *Import, rows []ImportRow, keep int) (added bool, err error)
	// AddImportRows adds rows as AddImport does to an import that is being read, and sets ReadingUntil: the zero time
	// with the last rows. It returns not_found if the import is not being read any more.
	AddImportRows(ctx context.Context, i *Import, rows []ImportRow, readingUntil time.Time) error
	Import(ctx context.Context, coachID, id string) (*Import, error)
	// Imports returns the coach's imports, the newest first. There are few: see AddImport.
	Imports(ctx context.Context, coachID string) ([]*Import, error)
	// ImportRows returns the rows that match f, in the order of their numbers.
	ImportRows(ctx context.Context, coachID, id string, f RowFilter) ([]ImportRow, error)
	// FinishRow sets the state of a row that waits, and changes no other row. Rows become
	// Added in the transaction that adds the player: see WithRow.
	FinishRow(ctx context.Context, id RowID, state RowState, playerID string, faults []Fault) error
	// FinishExisting marks those of the rows as Exists that wait and whose student the coach has.
	FinishExisting(ctx context.Context, coachID, id string, rows []ImportRow) error
	// SetStop saves what stopped an import; nil clears it.
	SetStop(ctx context.Context, coachID, id string, stop *Stop) error
}

type rowKey struct{}

// WithRow returns a context for adding the player of a row that waits. The store marks
// the row as Added in the same transaction, or returns ErrRowTaken, so that each row adds
// at most one player however many steps run at once.
func WithRow(ctx context.Context, id RowID) context.Context {
	return context.WithValue(ctx, rowKey{}, id)
}

// RowOf returns the row for which ctx adds a player; false if there is none.
func RowOf(ctx context.Context) (RowID, bool) {
	id, ok := ctx.Value(rowKey{}).(RowID)
	return id, ok
}

const rowTaken = "import_row_taken"

// ErrRowTaken returns the error of a row that another step has finished.
func ErrRowTaken() error {
	return fault.New(fault.Conflict, rowTaken, "Another step has imported this row.")
}
