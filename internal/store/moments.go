package store

import (
	"database/sql"
	"fmt"
	"strconv"
	"time"
)

// momentDigits is how long a moment in a list is: microseconds until the year
// 2286. All are equally long, so that a statement can cut the list, and compare
// two of them as text.
const momentDigits = 16

// moment is a time as a list of moments holds it.
func moment(t time.Time) string { return fmt.Sprintf("%0*d", momentDigits, t.UnixMicro()) }

// intoMoments reads a list of moments that nothing separates.
func intoMoments(list *[]time.Time) sql.Scanner { return (*momentsColumn)(list) }

type momentsColumn []time.Time

// Scan implements sql.Scanner.
func (c *momentsColumn) Scan(src any) error {
	var all textColumn
	if err := all.Scan(src); err != nil {
		return err
	}
	*c = nil
	for ; len(all) >= momentDigits; all = all[momentDigits:] {
		at, err := strconv.ParseInt(string(all[:momentDigits]), 10, 64)
		if err != nil {
			return fmt.Errorf("a moment: %w", err)
		}
		*c = append(*c, time.UnixMicro(at).UTC())
	}
	return nil
}
