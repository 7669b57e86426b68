package roster

import (
	"io"

	"github.com/touchline/touchline/internal/platform/csvfile"
)

// Writer writes players as CSV in UTF-8. An import reads its rows back without change.
type Writer struct {
	csv    *csvfile.Writer
	record []string
}

// NewWriter returns a Writer that writes to out.
func NewWriter(out io.Writer) *Writer { return &Writer{csv: csvfile.NewWriter(out)} }

// Export is a row of an export: a player, and columns that an import ignores.
type Export struct {
	Entry
	// GuardianStatus and StudentStatus are pending, approved or rejected; GuardianStatus
	// is "" for an adult without a guardian.
	GuardianStatus, StudentStatus string
}

// WriteTitles writes the first row.
func (w *Writer) WriteTitles() error {
	record := make([]string, 0, len(Columns)+2)
	for _, c := range Columns {
		record = append(record, Titles[c])
	}
	return w.csv.Write(append(record, "Guardian status", "Student status")...)
}

// Write writes one player.
func (w *Writer) Write(e Export) error {
	w.record = w.record[:0]
	for _, c := range Columns {
		w.record = append(w.record, *e.Cell(c))
	}
	return w.csv.Write(append(w.record, e.GuardianStatus, e.StudentStatus)...)
}

// Flush writes the buffer, and returns the first error of any Write.
func (w *Writer) Flush() error { return w.csv.Flush() }
