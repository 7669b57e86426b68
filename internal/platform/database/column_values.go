package database

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// SinceMicros is Micros with 0, before every stored time, for the zero time.
func SinceMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// UntilMicros is Micros with a value after every stored time for the zero time.
func UntilMicros(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	return t.UnixMicro()
}

// Duration returns the stored form of a duration: microseconds, NULL for 0.
func Duration(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d.Microseconds()
}

// IntoDuration scans a stored duration into d; NULL is 0.
func IntoDuration(d *time.Duration) sql.Scanner { return (*durationColumn)(d) }

// JoinWords returns the stored form of a list: each word ends with a comma.
func JoinWords[S ~string](words []S) string {
	var b strings.Builder
	for _, word := range words {
		b.WriteString(string(word) + ",")
	}
	return b.String()
}

// IntoWords scans a list of words with commas between or after them; NULL is the empty list.
func IntoWords[S ~string](words *[]S) sql.Scanner { return (*wordsColumn[S])(words) }

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
	err := IntoText(&all).Scan(src)
	*c = nil
	for word := range strings.FieldsFuncSeq(all, func(r rune) bool { return r == ',' }) {
		*c = append(*c, S(word))
	}
	return err
}

// IntoJSON scans JSON into v; NULL leaves v as it is.
func IntoJSON(v any) sql.Scanner { return jsonColumn{v} }

type jsonColumn struct{ into any }

// Scan implements sql.Scanner.
func (c jsonColumn) Scan(src any) error {
	var encoded string
	if err := IntoText(&encoded).Scan(src); err != nil || encoded == "" {
		return err
	}
	return json.Unmarshal([]byte(encoded), c.into)
}
