package roster

import (
	"slices"
	"strings"
)

// Batch is a batch of the coach that rows can name.
type Batch struct{ ID, Name string }

const (
	// maxBatches limits the batches of a row.
	maxBatches = 20
	// batchSeparator is between the names of a cell.
	batchSeparator = ";"
)

// JoinBatches returns the cell that names batches.
func JoinBatches(names []string) string { return strings.Join(names, batchSeparator+" ") }

// batchIDs are the ids of batches by their folded names. Two batches may have one name.
type batchIDs map[string][]string

func newBatchIDs(batches []Batch) batchIDs {
	ids := batchIDs{}
	for _, b := range batches {
		name := foldBatch(b.Name)
		ids[name] = append(ids[name], b.ID)
	}
	return ids
}

// foldBatch returns the same text for names that differ in case or spaces.
func foldBatch(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// check sets the ids of the batches that a row names, or adds a fault. A cell that is the
// whole name of a batch names that one, also if it has a semicolon.
func (ids batchIDs) check(row *Row) {
	names := []string{row.Entry.Batches}
	if ids[foldBatch(row.Entry.Batches)] == nil {
		names = strings.Split(row.Entry.Batches, batchSeparator)
	}
	for _, name := range names {
		found := ids[foldBatch(name)]
		switch {
		case strings.TrimSpace(name) == "":
		case len(found) == 0:
			row.add(Batches, "unknown_batch", "You have no batch %q. Create it first, or correct the name.", shorten(strings.TrimSpace(name)))
		case len(found) > 1:
			row.add(Batches, "ambiguous_batch", "You have %d batches %q. Rename one of them.", len(found), shorten(strings.TrimSpace(name)))
		case !slices.Contains(row.Entry.BatchIDs, found[0]):
			row.Entry.BatchIDs = append(row.Entry.BatchIDs, found[0])
		}
	}
	if len(row.Entry.BatchIDs) > maxBatches {
		row.add(Batches, "too_many", "A player can be added to at most %d batches.", maxBatches)
	}
}
