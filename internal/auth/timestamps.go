package auth

import (
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
)

// timestampDigits is the length of a timestamp in a list: microseconds until the year
// 2286. All have the same length, so that SQL can cut the list with substr.
const timestampDigits = 16

// timestamp formats a time for a list of timestamps.
func timestamp(t time.Time) string { return fmt.Sprintf("%0*d", timestampDigits, t.UnixMicro()) }

// intoTimestamps scans a list of timestamps, which has no separators.
func intoTimestamps(list *[]time.Time) sql.Scanner { return (*timestampsColumn)(list) }

type timestampsColumn []time.Time

// Scan implements sql.Scanner.
func (c *timestampsColumn) Scan(src any) error {
	var all string
	if err := database.IntoText(&all).Scan(src); err != nil {
		return err
	}
	*c = nil
	for ; len(all) >= timestampDigits; all = all[timestampDigits:] {
		at, err := strconv.ParseInt(all[:timestampDigits], 10, 64)
		if err != nil {
			return fmt.Errorf("scan timestamp: %w", err)
		}
		*c = append(*c, time.UnixMicro(at).UTC())
	}
	return nil
}
