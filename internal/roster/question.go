package roster

import (
	"github.com/touchline/touchline/internal/platform/fault"
)

// Options are what a caller says about a file.
type Options struct {
	// Columns are the columns of the file in their order: "" for a column whose title is read, "ignored" for one that
	// is not imported. Columns beyond the last one are read by their titles.
	Columns []Column
	// DateOrder is DayFirst, MonthFirst, or "" to read it from the dates.
	DateOrder DateOrder
	// Ask refuses a file with a question that only the coach can answer, with a *Question; AskColumns also asks what
	// the columns are if their titles are clear.
	Ask, AskColumns bool
	// BatchID is the batch that every student joins, besides those that the row names; "" for none.
	BatchID string
}

// ReadColumn is a column of a file, and what it was read as.
type ReadColumn struct {
	Title string `json:"title"`
	// Column is "" for a column that is not imported.
	Column Column `json:"column,omitempty"`
	// Guessed: the title does not say whose the column is.
	Guessed bool `json:"guessed,omitempty"`
	// Samples are the first different cells; they are not kept.
	Samples []string `json:"-"`
}

// Layout is how a file was read.
type Layout struct {
	Columns []ReadColumn `json:"columns"`
	// DateOrder is the order of dates such as 03/04/2012; "" if the file has none.
	DateOrder DateOrder `json:"date_order,omitempty"`
}

// Question is the error of a file that needs an answer of the coach.
type Question struct {
	Layout Layout
	// Open is the first date that may be read both ways; its Row is 0 if the order is known.
	Open openRow
	// Guessed: the encoding of the file is a guess.
	Guessed bool
	// faults are the faults of the titles.
	faults []fault.Field
}

// Error implements error.
func (q *Question) Error() string { return "the columns of the file are not clear" }

// Unwrap returns the faults of the titles as a validation_failed, or nil.
func (q *Question) Unwrap() error {
	err := fault.Validation(q.faults)
	if refusal, ok := err.(*fault.Error); ok {
		return refusal.With("columns", newReadColumns(q.Layout.Columns))
	}
	return err
}
