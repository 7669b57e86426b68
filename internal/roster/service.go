package roster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// keepImports is the number of imports of a coach that are kept.
	keepImports = 10
	// importLifetime is how long an import is kept.
	importLifetime = 30 * 24 * time.Hour
	// A step adds rows until stepTime has passed or stepRows are done. It reads stepBatch
	// rows at a time.
	stepTime  = 2 * time.Second
	stepRows  = 200
	stepBatch = 50
	// existingBatch is how many rows are compared with the coach's players at a time.
	existingBatch = 512
)

// Service imports players.
type Service struct {
	Store Store
	Rules Rules
	// AddPlayer adds the player of an entry, as a coach adds one by hand, and returns its id.
	AddPlayer func(ctx context.Context, by actor.Actor, e Entry) (playerID string, err error)
	// Batches returns the open batches of a coach, which rows can name.
	Batches func(ctx context.Context, by actor.Actor) ([]Batch, error)
	// CheckFeature returns a tier_limit unless the coach's tier includes imports.
	CheckFeature func(ctx context.Context, by actor.Actor) error
	Now          func() time.Time
	NewID        func() string
	Log          *slog.Logger

	line    line
	readers readers
}

// Import returns an import of the calling coach.
func (s *Service) Import(ctx context.Context, by actor.Actor, id string) (*Import, error) {
	i, err := s.Store.Import(ctx, by.AccountID, id)
	return s.judged(i), err
}

// judged returns i with Failed set.
func (s *Service) judged(i *Import) *Import {
	if i != nil {
		i.Failed = !i.ReadingUntil.IsZero() && !s.Now().Before(i.ReadingUntil)
	}
	return i
}

// Imports returns the imports of the calling coach, the newest first: at most 10.
func (s *Service) Imports(ctx context.Context, by actor.Actor) ([]*Import, error) {
	imports, err := s.Store.Imports(ctx, by.AccountID)
	for _, i := range imports {
		s.judged(i)
	}
	// The ids are in the order in which their forms were opened.
	slices.SortStableFunc(imports, func(a, b *Import) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return imports, err
}

// Rows returns rows of an import of the calling coach, in the order of the file.
func (s *Service) Rows(ctx context.Context, by actor.Actor, id string, f RowFilter) ([]ImportRow, error) {
	return s.Store.ImportRows(ctx, by.AccountID, id, f)
}

// StepTimeout limits a call of Step. In the first step and at a limit of players it compares all rows with the
// coach's players: up to 10,000 rows, 0.2 s on a quiet machine.
const StepTimeout = 30 * time.Second

// Step adds the next rows that wait, for about 2 s and at most 200 rows, and returns the
// import as it is then. Steps may run at the same time and may be repeated: each row adds
// its player once. A limit of the coach, such as tier_limit, is no error: it leaves the rest
// of the rows waiting, and Import.Stop names it. After another error the rows that were
// added stay added, and a later step goes on. It adds nothing while the file is being read, or
// after that has failed.
func (s *Service) Step(ctx context.Context, by actor.Actor, id string) (*Import, error) {
	i, err := s.Import(ctx, by, id)
	if err != nil {
		return nil, err
	}
	if err := s.CheckFeature(ctx, by); err != nil {
		return nil, err
	}
	if !i.ReadingUntil.IsZero() { // the coach sees all rows before one is added
		return s.Await(ctx, by, id, stepTime)
	}
	if i.State() == Ready { // players may have been added since the file was read
		if err := s.finishExisting(ctx, by, id); err != nil {
			return nil, err
		}
	}
	stop, err := s.addRows(ctx, by, id)
	if err != nil {
		return nil, err
	}
	if stop != nil && slices.Contains(playerLimits, stop.Code) {
		if err := s.finishExisting(ctx, by, id); err != nil {
			return nil, err
		}
	}
	if stop != nil || i.Stop != nil {
		if err := s.Store.SetStop(ctx, by.AccountID, id, stop); err != nil {
			return nil, err
		}
	}
	return s.Import(ctx, by, id)
}

// addRows adds rows until a limit of the step or of the coach.
func (s *Service) addRows(ctx context.Context, by actor.Actor, id string) (*Stop, error) {
	end := s.Now().Add(stepTime)
	after := 0
	for done := 0; done < stepRows; {
		rows, err := s.Store.ImportRows(ctx, by.AccountID, id, RowFilter{State: Waiting, After: after, Limit: stepBatch})
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		for _, row := range rows {
			stop, err := s.addRow(ctx, by, RowID{by.AccountID, id, row.Number}, row.Entry)
			if stop != nil || err != nil || !s.Now().Before(end) {
				return stop, err
			}
			after = row.Number
			done++
		}
	}
	return nil, nil
}

// playerLimits are the codes of a limit of players: that of the tier, or that before the verification.
var playerLimits = []string{"tier_limit", "kyc_required"}

// finishExisting finishes the rows of students whom the coach has: they need no room in the
// limit of players, so that only rows beyond it keep waiting.
func (s *Service) finishExisting(ctx context.Context, by actor.Actor, id string) error {
	for after := 0; ; {
		rows, err := s.Store.ImportRows(ctx, by.AccountID, id, RowFilter{State: Waiting, After: after, Limit: existingBatch})
		if err != nil || len(rows) == 0 {
			return err
		}
		if err := s.Store.FinishExisting(ctx, by.AccountID, id, rows); err != nil {
			return err
		}
		after = rows[len(rows)-1].Number
	}
}

// addRow adds the player of a row and finishes the row. It returns a Stop for a refusal
// that the rows after it would meet too.
func (s *Service) addRow(ctx context.Context, by actor.Actor, id RowID, e Entry) (*Stop, error) {
	_, err := s.AddPlayer(WithRow(ctx, id), by, e)
	refusal, ok := errors.AsType[*fault.Error](err)
	switch {
	case err == nil:
		return nil, nil
	case !ok:
		return nil, err
	case refusal.Code == rowTaken:
		return nil, nil
	case refusal.Code == "player_exists":
		playerID, _ := refusal.Extra["player_id"].(string)
		return nil, s.Store.FinishRow(ctx, id, Exists, playerID, nil)
	case refusal.Kind == fault.Forbidden:
		neededTier, _ := refusal.Extra["needed_tier"].(string)
		return &Stop{Code: refusal.Code, Detail: refusal.Message, NeededTier: neededTier}, nil
	case refusal.Kind == fault.Invalid, refusal.Kind == fault.Conflict:
		return nil, s.Store.FinishRow(ctx, id, Refused, "", faultsOf(refusal))
	}
	return nil, err
}

// columnOf maps the fields of a player to columns.
var columnOf = map[string]Column{
	"/student/full_name": StudentName, "/student/date_of_birth": BirthDate, "/student/contact_number": StudentNumber,
	"/guardian/name": GuardianName, "/guardian/relationship": Relationship, "/guardian/mobile_number": GuardianNumber,
	"/guardian/email": GuardianEmail, "/guardian": GuardianName, "/batch_ids": Batches,
}

// faultsOf returns the refusal of a player as faults of its row.
func faultsOf(refusal *fault.Error) []Fault {
	var faults []Fault
	for _, field := range refusal.Fields {
		faults = append(faults, Fault{Column: columnOf[field.Pointer], Code: field.Code, Detail: field.Detail})
	}
	if len(faults) == 0 {
		faults = []Fault{{Code: refusal.Code, Detail: refusal.Message}}
	}
	return slices.Clip(faults)
}
