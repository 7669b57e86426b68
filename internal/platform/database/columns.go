package database

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// LastID is greater than every id in every collation.
const LastID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

// LastDate is later than every date.
const LastDate = "9999-12-31"

// Before returns the upper bound of a list in descending order of ids; "" is the first page.
func Before(id string) string {
	if id == "" {
		return LastID
	}
	return id
}

// IsNoRows reports whether a statement returned no row.
func IsNoRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// OrMissing returns not_found if a statement returned no row. It adds the action that failed to
// any other error; nil stays nil.
func OrMissing(err error, action string) error {
	switch {
	case err == nil:
		return nil
	case IsNoRows(err):
		return fault.Missing()
	}
	return fmt.Errorf("%s: %w", action, err)
}

// CollectTexts reads rows of one text.
func CollectTexts(rs *Rows, err error) ([]string, error) {
	return Collect(rs, err, func(s Scanner) (text string, err error) { return text, s.Scan(&text) })
}

// Micros returns the stored form of a time: UTC microseconds, NULL for the zero time.
func Micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// Text returns the stored form of an optional string: NULL for "".
func Text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// IntoTime scans a stored time into t, UTC; NULL is the zero time.
func IntoTime(t *time.Time) sql.Scanner { return (*timeColumn)(t) }

// IntoText scans an optional string into s; NULL is "".
func IntoText(s *string) sql.Scanner { return (*textColumn)(s) }

type timeColumn time.Time

// Scan implements sql.Scanner.
func (c *timeColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*c = timeColumn{}
	case int64: // both drivers
		*c = timeColumn(time.UnixMicro(v).UTC())
	default:
		return fmt.Errorf("scan a time: got %T", src)
	}
	return nil
}

type textColumn string

// Scan implements sql.Scanner.
func (c *textColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*c = ""
	case string: // both drivers
		*c = textColumn(v)
	default:
		return fmt.Errorf("scan a text: got %T", src)
	}
	return nil
}
