package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

// sinceMicros is micros with 0, before every stored time, for the zero time.
func sinceMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// untilMicros is micros with a value after every stored time for the zero time.
func untilMicros(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	return t.UnixMicro()
}

// duration returns the stored form of a duration: microseconds, NULL for 0.
func duration(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d.Microseconds()
}

// intoDuration scans a stored duration into d; NULL is 0.
func intoDuration(d *time.Duration) sql.Scanner { return (*durationColumn)(d) }

// joinWords returns the stored form of a list: each word ends with a comma.
func joinWords[S ~string](words []S) string {
	var b strings.Builder
	for _, word := range words {
		b.WriteString(string(word) + ",")
	}
	return b.String()
}

// intoWords scans a list of words with commas between or after them; NULL is the empty list.
func intoWords[S ~string](words *[]S) sql.Scanner { return (*wordsColumn[S])(words) }

type durationColumn time.Duration

// Scan implements sql.Scanner.
func (c *durationColumn) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*c = 0
	case int64: // both drivers
		*c = durationColumn(time.Duration(v) * time.Microsecond)
	default:
		return fmt.Errorf("scan a duration: got %T", src)
	}
	return nil
}

type wordsColumn[S ~string] []S

// Scan implements sql.Scanner.
func (c *wordsColumn[S]) Scan(src any) error {
	var all string
	err := database.IntoText(&all).Scan(src)
	*c = nil
	for word := range strings.FieldsFuncSeq(all, func(r rune) bool { return r == ',' }) {
		*c = append(*c, S(word))
	}
	return err
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

// intoJSON scans JSON into v; NULL leaves v as it is.
func intoJSON(v any) sql.Scanner { return jsonColumn{v} }

type jsonColumn struct{ into any }

// Scan implements sql.Scanner.
func (c jsonColumn) Scan(src any) error {
	var encoded string
	if err := database.IntoText(&encoded).Scan(src); err != nil || encoded == "" {
		return err
	}
	return json.Unmarshal([]byte(encoded), c.into)
}
