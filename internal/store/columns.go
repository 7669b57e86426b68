package store

import (
	"slices"

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
