package store

import (
	"database/sql"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

// scannerWith scans more columns, before and after those of another scan.
type scannerWith struct {
	database.Scanner
	first, last []any
}

// Scan implements database.Scanner.
func (s scannerWith) Scan(dest ...any) error {
	return s.Scanner.Scan(slices.Concat(s.first, dest, s.last)...)
}

// intoTimeOfDay scans minutes after midnight into t; NULL is midnight.
func intoTimeOfDay(t *message.TimeOfDay) sql.Scanner { return (*timeOfDayColumn)(t) }

type timeOfDayColumn message.TimeOfDay

// Scan implements sql.Scanner.
func (c *timeOfDayColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*c = 0
	case int64: // both drivers
		*c = timeOfDayColumn(v)
	default:
		return fmt.Errorf("scan a time of day: got %T", src)
	}
	return nil
}
