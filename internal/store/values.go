package store

import (
	"database/sql"
	"fmt"
	"strings"
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

// intoWords reads words that a comma follows each; NULL is none.
func intoWords(words *[]string) sql.Scanner { return (*wordsColumn)(words) }

type timeColumn time.Time

// Scan implements sql.Scanner.
func (c *timeColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*c = timeColumn{}
	case int64: // both drivers
		*c = timeColumn(time.UnixMicro(v).UTC())
	default:
		return fmt.Errorf("a time cannot be a %T", src)
	}
	return nil
}

type wordsColumn []string

// Scan implements sql.Scanner.
func (c *wordsColumn) Scan(src any) error {
	var all textColumn
	err := all.Scan(src)
	*c = strings.FieldsFunc(string(all), func(r rune) bool { return r == ',' })
	return err
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
		return fmt.Errorf("a text cannot be a %T", src)
	}
	return nil
}
