package roster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	// A step adds rows until stepTime has passed or stepRows are done. It reads stepBatch
	// rows at a time.
	stepTime  = 2 * time.Second
	stepRows  = 200
	stepBatch = 50
)

// stepTimeout limits a call of Step. In the first step and at a limit of players it compares all rows with the
// coach's players: up to 10,000 rows, 0.2 s on a quiet machine.
const stepTimeout = 30 * time.Second

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
	if err := s.CheckFeature(ctx, by, coach.Import); err != nil {
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
	stop, err := s.addWaiting(ctx, by, id)
	if err != nil {
		return nil, err
	}
	if stop != nil && slices.Contains(playerLimits, stop.Code) {
		if err := s.finishExisting(ctx, by, id); err != nil {
			return nil, err
		}
	}
	if stop != nil || i.Stop != nil {
		if err := s.setStop(ctx, by.AccountID, id, stop); err != nil {
			return nil, err
		}
	}
	return s.Import(ctx, by, id)
}

// addWaiting adds rows until a limit of the step or of the coach.
func (s *Service) addWaiting(ctx context.Context, by actor.Actor, id string) (*Stop, error) {
	end := s.Now().Add(stepTime)
	after := 0
	for done := 0; done < stepRows; {
		rows, err := s.Rows(ctx, by, id, RowFilter{State: Waiting, After: after, Limit: stepBatch})
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

// playerLimits are the codes of a limit of players: the tier's limit, or the limit before the verification.
var playerLimits = []string{"tier_limit", "kyc_required"}

// finishExisting finishes the rows of students whom the coach has: they need no room in the
// limit of players, so that only rows beyond it keep waiting.
func (s *Service) finishExisting(ctx context.Context, by actor.Actor, id string) error {
	for after := 0; ; {
		rows, err := s.Rows(ctx, by, id, RowFilter{State: Waiting, After: after, Limit: existingRows})
		if err != nil || len(rows) == 0 {
			return err
		}
		query, args := existingRowsUpdate(by.AccountID, id, rows)
		if err := s.exec(ctx, query, args...); err != nil {
			return fmt.Errorf("finish rows of import %s: %w", id, err)
		}
		after = rows[len(rows)-1].Number
	}
}

// addRow adds the player of a row and finishes the row. It returns a Stop for a refusal
// that the rows after it would meet too.
func (s *Service) addRow(ctx context.Context, by actor.Actor, id RowID, e Entry) (*Stop, error) {
	err := s.addPlayer(WithRow(ctx, id), by, e)
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
		return nil, s.finishRow(ctx, id, Exists, playerID, nil)
	case refusal.Kind == fault.Forbidden:
		neededTier, _ := refusal.Extra["needed_tier"].(string)
		return &Stop{Code: refusal.Code, Detail: refusal.Message, NeededTier: neededTier}, nil
	case refusal.Kind == fault.Invalid, refusal.Kind == fault.Conflict:
		return nil, s.finishRow(ctx, id, Refused, "", faultsOf(refusal))
	}
	return nil, err
}

// RowID identifies a row of an import.
type RowID struct {
	CoachID, ImportID string
	Number            int
}

const rowTaken = "import_row_taken" // the code of PlayerAdded

type rowKey struct{}

// WithRow returns a context for adding the player of a row that waits. PlayerAdded
// marks the row as Added in the same transaction, so that each row adds at most one player
// however many steps run at once.
func WithRow(ctx context.Context, id RowID) context.Context {
	return context.WithValue(ctx, rowKey{}, id)
}

// addPlayer adds the player of an entry, as a coach adds one by hand.
func (s *Service) addPlayer(ctx context.Context, by actor.Actor, e Entry) error {
	born, err := approval.ParseDate(e.BirthDate)
	if err != nil {
		return err
	}
	basis, _ := approval.BasisOf(e.Basis)
	student := approval.Student{Basis: basis, FullName: e.StudentName, DateOfBirth: born, Number: phone.Number(e.StudentNumber), Language: e.StudentLanguage}
	_, err = s.Approvals.AddWith(ctx, by, student, e.guardians(), e.BatchIDs...)
	return err
}

// columnOf maps the fields of a player to columns.
var columnOf = map[string]Column{
	"/student/full_name": StudentName, "/student/date_of_birth": BirthDate, "/student/contact_number": StudentNumber,
	"/guardian/name": GuardianName, "/guardian/relationship": Relationship, "/guardian/mobile_number": GuardianNumber,
	"/guardian/email": GuardianEmail, "/guardian": GuardianName, "/batch_ids": Batches,
	"/guardians/1/name": Guardian2Name, "/guardians/1/relationship": Guardian2Relationship, "/guardians/1/mobile_number": Guardian2Number,
	"/guardians/1/email": Guardian2Email, "/guardians/1": Guardian2Name,
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
