package store

import (
	"database/sql"
	"errors"
	"strconv"
	"strings"
)

// lastID is above every id, in whatever order a database sorts text.
const lastID = "ffffffff-ffff-ffff-ffff-ffffffffffff"

// before is where a list that goes down by id starts or goes on.
func before(id string) string {
	if id == "" {
		return lastID
	}
	return id
}

// isNone says that a statement answered no row.
func isNone(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// rowsOf writes the VALUES of several rows: ($1, $2), ($3, $4) for 2 and 2.
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

// params writes n parameters from $first on: $3, $4.
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
