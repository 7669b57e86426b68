package roster

import (
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/team"
)

const (
	// maxBatches limits the batches of a row.
	maxBatches = 20
	// batchSeparator is between the names of a cell.
	batchSeparator = ";"
)

// batchIDs are batches by their folded names. Two batches may have one name.
type batchIDs map[string][]team.BatchName

func newBatchIDs(batches []team.BatchName) batchIDs {
	ids := batchIDs{}
	for _, b := range batches {
		name := team.FoldName(b.Name)
		ids[name] = append(ids[name], b)
	}
	return ids
}

// find returns the ids of the batches of a name. Of several that differ in accents or apostrophes alone it returns those
// that are written as in the cell, if there are any.
func (ids batchIDs) find(name string) []string {
	var all, same []string
	for _, b := range ids[team.FoldName(name)] {
		all = append(all, b.ID)
		if strings.EqualFold(strings.Join(strings.Fields(b.Name), " "), strings.Join(strings.Fields(name), " ")) {
			same = append(same, b.ID)
		}
	}
	if len(same) > 0 {
		return same
	}
	return all
}

// maxParts limits the parts of a cell that are tried together: their combinations take time in each of
// 10,000 rows. A cell with more is read as names without semicolons.
const maxParts = 10

// split returns the names in a cell. A name may have semicolons: as many parts as are the name of a
// batch together are one name.
func (ids batchIDs) split(cell string) []string {
	parts := strings.Split(cell, batchSeparator)
	if len(parts) > maxParts {
		return parts
	}
	var names []string
	for n := 0; len(parts) > 0; parts = parts[n:] {
		n = len(parts)
		for n > 1 && ids[team.FoldName(strings.Join(parts[:n], batchSeparator))] == nil {
			n--
		}
		names = append(names, strings.Join(parts[:n], batchSeparator))
	}
	return names
}

// check sets the ids of the batches that a row names, or adds a fault.
func (ids batchIDs) check(row *Row) {
	for _, name := range ids.split(row.Entry.Batches) {
		found := ids.find(name)
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
