package database

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// maxParameters is how many parameters an INSERT of many rows has. The driver of SQLite looks up
// the name of each one in a list of all, so the time of a statement grows with their square.
const maxParameters = 512

// InsertRows inserts rows. before and after are the text of the statement around its VALUES. values
// are listed one row after the other, as many for each row as columns says.
func (t *Tx) InsertRows(ctx context.Context, before, after string, columns int, values []any) error {
	for batch := range slices.Chunk(values, maxParameters/columns*columns) {
		if err := t.Defer(ctx, before+" VALUES "+RowsOf(len(batch)/columns, columns)+after, batch...); err != nil {
			return err
		}
	}
	return nil
}

// RowsOf returns the VALUES of n rows: ($1, $2), ($3, $4) for n = 2 and columns = 2.
func RowsOf(n, columns int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(" + Params(i*columns+1, columns) + ")")
	}
	return b.String()
}

// Params returns n parameters from $first on: $3, $4 for first = 3 and n = 2.
func Params(first, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(first+i))
	}
	return b.String()
}

// ValuesTable returns a table of the rows, (VALUES (CAST($1 AS TEXT)), ($2)), and its
// arguments. Its columns have the given types and the names column1, column2 and so on.
// It adds rows of NULL up to the next power of two, so that few texts are prepared.
func ValuesTable(rows [][]any, types ...string) (table string, args []any) {
	n := 1
	for n < len(rows) {
		n *= 2
	}
	cast := make([]string, len(types))
	for i, t := range types {
		cast[i] = "CAST($" + strconv.Itoa(i+1) + " AS " + t + ")"
	}
	table = "(VALUES (" + strings.Join(cast, ", ") + ")"
	for i := 1; i < n; i++ {
		table += ", (" + Params(i*len(types)+1, len(types)) + ")"
	}
	args = slices.Concat(rows...)
	return table + ")", append(args, make([]any, n*len(types)-len(args))...)
}

// CastTexts returns n parameters of the type TEXT from $first on.
func CastTexts(first, n int) string {
	cast := make([]string, n)
	for i := range cast {
		cast[i] = "CAST($" + strconv.Itoa(first+i) + " AS TEXT)"
	}
	return strings.Join(cast, ", ")
}

// TextArgs returns texts as arguments.
func TextArgs(texts []string) []any {
	args := make([]any, len(texts))
	for i, t := range texts {
		args[i] = t
	}
	return args
}

// PaddedSize rounds n up to a power of 4, so that few statements are prepared.
func PaddedSize(n int) int {
	size := 1
	for size < n {
		size *= 4
	}
	return size
}

// PaddedIDs returns ids as arguments, with "" up to PaddedSize, the id of nothing, so that
// few texts are prepared.
func PaddedIDs(ids []string) []any {
	args := make([]any, PaddedSize(len(ids)))
	for i := range args {
		args[i] = ""
		if i < len(ids) {
			args[i] = ids[i]
		}
	}
	return args
}
