package player

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// batchesOfPlayer selects the batches of the player p that are not archived: id, space and name
// of each, separated by line breaks. Names have no line breaks. intoBatches scans it.
const batchesOfPlayer = `(SELECT string_agg(b.id || ' ' || b.name, '
')
			FROM batch_players m JOIN batches b ON b.id = m.batch_id AND b.archived_at IS NULL
			WHERE m.player_id = p.id AND m.left_at IS NULL)`

// intoBatches scans batchesOfPlayer and sorts the batches by id.
func intoBatches(batches *[]approval.Batch) sql.Scanner { return (*batchesColumn)(batches) }

type batchesColumn []approval.Batch

// Scan implements sql.Scanner.
func (c *batchesColumn) Scan(src any) error {
	var all string
	if err := database.IntoText(&all).Scan(src); err != nil {
		return err
	}
	*c = nil
	for line := range strings.Lines(all) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		*c = append(*c, approval.Batch{ID: id, Name: name})
	}
	slices.SortFunc(*c, func(a, b approval.Batch) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

// lockBatches locks the batches of a new player in the order of their ids, and sets their
// names. It returns a fault for a batch that the coach does not have, or that is archived or
// full.
func lockBatches(ctx context.Context, tx *store.Tx, p *approval.Player) error {
	var faults []fault.Field
	var refused error
	for i := range p.Batches {
		b, err := tx.LockBatch(ctx, p.CoachID, p.Batches[i].ID)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			faults = append(faults, fault.Field{Pointer: "/batch_ids", Code: "unknown_batch", Detail: "You have no batch with the id " + p.Batches[i].ID + "."})
			continue
		case err != nil:
			return fmt.Errorf("lock batch: %w", err)
		}
		if err := b.CheckPlayers("/batch_ids"); err != nil {
			return err
		}
		if err := b.CheckOpen(); err != nil {
			refused = err
		}
		p.Batches[i].Name = b.Name
	}
	if err := fault.Validation(faults); err != nil {
		return err
	}
	return refused
}
