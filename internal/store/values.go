package store

import (
	"database/sql"
	"time"
)

// micros is a time as it is stored: UTC microseconds, NULL for the zero time.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// text is a string as it is stored where it may be absent: NULL for "".
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// intoTime reads a stored time, UTC; NULL is the zero time.
func intoTime(t *time.Time) sql.Scanner { return (*timeColumn)(t) }

// intoText reads a string that may be NULL, which is "".
func intoText(s *string) sql.Scanner { return (*textColumn)(s) }

type timeColumn time.Time

// Scan implements sql.Scanner.
func (c *timeColumn) Scan(src any) error {
	var n sql.NullInt64
	if err := n.Scan(src); err != nil {
		return err
	}
	if *c = (timeColumn{}); n.Valid {
		*c = timeColumn(time.UnixMicro(n.Int64).UTC())
	}
	return nil
}

type textColumn string

// Scan implements sql.Scanner.
func (c *textColumn) Scan(src any) error {
	var s sql.NullString
	if err := s.Scan(src); err != nil {
		return err
	}
	*c = textColumn(s.String)
	return nil
}
