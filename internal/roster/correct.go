package roster

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Correction is the new text of cells of a row.
type Correction struct {
	Number int
	Cells  map[Column]string
	// Relationship is who a guardian is for the student if the row does not say it.
	Relationship string
}

// apply writes the cells, and keeps the fault of a birth date that was not written again.
func (c Correction) apply(row *Row) {
	for column, text := range c.Cells {
		*row.Entry.Cell(column) = text
	}
	if c.Cells[GuardianName] != "" && row.Entry.Relationship == "" {
		row.Entry.Relationship = c.Relationship
	}
	row.Faults = slices.DeleteFunc(row.Faults, func(f Fault) bool { return f.Column != BirthDate || c.Cells[BirthDate] != "" })
}

// Correct writes cells of rows that need a correction and checks the rows again. A row without faults waits to be
// added. A row that is not faulty any more does not change, so that the same form sent twice corrects once.
func (s *Service) Correct(ctx context.Context, by actor.Actor, id string, corrections []Correction) error {
	if err := s.CheckFeature(ctx, by, coach.Import); err != nil {
		return err
	}
	i, err := s.Import(ctx, by, id)
	if err != nil {
		return err
	}
	if !i.ReadingUntil.IsZero() {
		return fault.Missing() // the page of an import that is being read has no form
	}
	batches, err := store.BatchNames(ctx, s.DB, by.AccountID, team.MaxBatches)
	if err != nil {
		return err
	}
	ids := newBatchIDs(batches)
	for _, c := range corrections {
		rows, err := s.Rows(ctx, by, id, RowFilter{State: Faulty, After: c.Number - 1, Limit: 1})
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Number != c.Number {
			continue
		}
		row := rows[0]
		c.apply(&row.Row)
		row.check(s.Phones, s.Now(), ids)
		row.State = Waiting
		if len(row.Faults) > 0 {
			row.State = Faulty
		}
		if err := s.saveCorrection(ctx, RowID{by.AccountID, id, c.Number}, row); err != nil {
			return err
		}
	}
	return nil
}

// saveCorrection saves a row that was faulty.
func (s *Service) saveCorrection(ctx context.Context, id RowID, row ImportRow) error {
	entry, err := json.Marshal(row.Entry)
	if err != nil {
		return err
	}
	faults, err := json.Marshal(row.Faults)
	if err != nil {
		return err
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		return tx.Defer(ctx, `
			UPDATE import_rows SET state = $4, entry = $5, faults = $6
			WHERE coach_id = $1 AND import_id = $2 AND number = $3 AND state = 'faulty'`,
			id.CoachID, id.ImportID, id.Number, string(row.State), string(entry), string(faults))
	})
	return fault.Wrap(err, "correct row %d of import %s", id.Number, id.ImportID)
}
