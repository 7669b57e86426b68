package store

import (
	"database/sql"
	"errors"
	"strconv"
	"strings"
)

// lastID is greater than every id in every collation.
const lastID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

// before returns the upper bound of a list in descending order of ids; "" is the first page.
func before(id string) string {
	if id == "" {
		return lastID
	}
	return id
}

// isNone reports whether a statement returned no row.
func isNone(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// rowsOf returns the VALUES of n rows: ($1, $2), ($3, $4) for n = 2 and columns = 2.
func rowsOf(n, columns int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(" + params(i*columns+1, columns) + ")")
	}
	return b.String()
}

// params returns n parameters from $first on: $3, $4 for first = 3 and n = 2.
func params(first, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(first+i))
	}
	return b.String()
}
