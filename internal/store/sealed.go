package store

import "github.com/touchline/touchline/internal/platform/vault"

// Sealed is a column whose values are sealed with the service secret. A rotation of the secret seals them again. The context
// of a value is the key of its row; two columns of a key are joined by NUL.
type Sealed struct {
	// Table and Column name the column.
	Table, Column string
	Purpose       vault.Purpose
	// Read reads the key and the value of $1 rows in the order of their keys, after the key $2, or $2 and $3.
	Read string
	// Write replaces the value $1 by $2 in the row with the key $3, or $3 and $4.
	Write string
}

// Ended is what ends with the service secret. Query deletes $1 rows, or ends them at the time $2.
type Ended struct{ What, Query string }
