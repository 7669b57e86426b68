package roster

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// The limits of a file.
const (
	// maxBytes is the size of a file: 10,000 rows of 400 bytes.
	maxBytes = 4 << 20
	// maxRows are the rows without the titles and without empty rows.
	maxRows = 10_000
	// maxCells limits the cells, because the cells of a row are held in memory: 50 in each row.
	maxCells = 50 * (maxRows + 1)
	// maxCell limits the characters of a cell that is read. The longest that can be right has
	// 20 names of batches.
	maxCell = 1000
	// maxFirstLine limits the part of the first line in which the separator is looked for, in bytes.
	maxFirstLine = 16 << 10
)

// sheet is a file whose titles are understood and whose rows were counted.
type sheet struct {
	source  source
	options Options
	now     time.Time
	layout  *layout
	rows    int
	// dates are how the birth dates are written, and order how they are read.
	dates dateColumn
	order DateOrder
	// namesBatches reports that a row names a batch.
	namesBatches bool
	// warnings say what the coach should check, although the rows can be added.
	warnings []Warning
	samples  [][]string // of each column
	// trailing: each row ends with separators after the last title.
	trailing bool
}

// Row is one row of the file.
type Row struct {
	// Number is the row number that a spreadsheet program shows; the titles are row 1.
	Number int
	Entry  Entry
	Faults []Fault
}

// Fault describes the fault of a row and its remedy. Column is "" for the whole row.
// Column and Code together have one meaning, so that a page can say it in another language.
type Fault struct {
	Column Column `json:"column,omitempty"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	// Row is the row in the detail of duplicate_row.
	Row int `json:"row,omitempty"`
}

// Warning tells the coach to check something in the whole file.
type Warning struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
	// Row and Text are the values in Detail: the row and the date of day_first and month_first, the titles of
	// unknown_columns and guardian_guessed, the number of rows of guardians_not_imported.
	Row  int    `json:"row,omitempty"`
	Text string `json:"text,omitempty"`
}

func (r *Row) add(c Column, code, format string, args ...any) {
	if !slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Column == c }) {
		r.Faults = append(r.Faults, Fault{Column: c, Code: code, Detail: fmt.Sprintf(format, args...)})
	}
}

// readSheet reads a CSV file or cells that were pasted from a spreadsheet, and keeps no row. It
// reads UTF-8, UTF-16 with a byte order mark, else Windows-1252; cells separated by commas,
// semicolons or tabs; and titles in English or Hindi in any order. Errors: payload_too_large;
// validation_failed if the file cannot be read, or with all faults of the titles; with Options.Ask a
// *Question.
func readSheet(file io.ReaderAt, size int64, now time.Time, options Options) (*sheet, error) {
	if size > maxBytes {
		return nil, errTooLarge()
	}
	source, err := open(file, size)
	if err != nil {
		return nil, err
	}
	s := &sheet{source: source, now: now, options: options}
	otherGuardians, err := s.count()
	if err == nil && s.trailing { // again, with the rows that are no longer faulty
		s.rows, s.dates = 0, dateColumn{}
		otherGuardians, err = s.count()
	}
	if err != nil {
		return nil, err
	}
	s.order = options.DateOrder
	if s.order == "" {
		s.dates.title = s.layout.order
		s.order = s.dates.order()
	}
	s.addWarnings(otherGuardians)
	if err := s.question(); err != nil {
		return nil, err
	}
	if s.rows == 0 {
		return nil, fileFault("no_rows", "There is no student below the titles. Write one student in each row.")
	}
	return s, nil
}

// count counts the rows and reads how their dates are written. It returns the rows with guardians who are not imported.
func (s *sheet) count() (otherGuardians int, err error) {
	err = s.parse(func(row Row, date writtenDate) error {
		if s.rows++; s.rows > maxRows {
			return fileFault("too_many_rows", "This file has more than 10,000 students. Split it into two files.")
		}
		if !row.hasFault("") {
			s.dates.add(row.Number, row.Entry.BirthDate, date)
			s.namesBatches = s.namesBatches || row.Entry.Batches != ""
			otherGuardians += min(1, row.Entry.OtherGuardians)
		}
		return nil
	})
	return otherGuardians, err
}

// addWarnings adds what the coach should check.
func (s *sheet) addWarnings(otherGuardians int) {
	s.warnings = s.layout.warnings
	if otherGuardians > 0 {
		s.warnings = append(s.warnings, Warning{
			Code: "guardians_not_imported", Row: otherGuardians,
			Detail: fmt.Sprintf("Rows with a guardian whom we do not import: %d. We import two guardians of each student, and a second one only with a name and another number. Add the others to the players afterwards.", otherGuardians),
		})
	}
	if w, ok := s.dates.warning(s.order); ok && s.options.DateOrder == "" {
		s.warnings = append(s.warnings, w)
	}
	if s.source.guessed {
		s.warnings = append(s.warnings, Warning{Code: "encoding_guessed", Detail: "The file does not say how its letters are stored. We read it as Windows-1252. If names look wrong, save the file as CSV UTF-8 and try again."})
	}
}

// question returns the faults of the titles, and with Options.Ask what only the coach can say.
func (s *sheet) question() error {
	q := &Question{Layout: s.read(), Guessed: s.source.guessed, faults: s.layout.faults}
	guessed := false
	for n := range q.Layout.Columns {
		q.Layout.Columns[n].Samples = s.samples[n]
		guessed = guessed || q.Layout.Columns[n].Guessed
	}
	if s.order == OpenOrder && !s.dates.dayFirst && !s.dates.monthFirst {
		q.Open = s.dates.open
	}
	noNumber := s.layout.any(isGuardianName) && !s.layout.has(GuardianNumber)
	columns := len(s.options.Columns) == 0 && (guessed || noNumber || s.options.AskColumns)
	if len(q.faults) > 0 || s.options.Ask && (q.Open.Row > 0 || columns) {
		return q
	}
	return nil
}

// read returns how the file was read.
func (s *sheet) read() Layout { return Layout{Columns: s.layout.columns(), DateOrder: s.order} }

// each calls fn with each row and its faults, in the order of the file.
func (s *sheet) each(fn func(Row) error) error {
	return s.parse(func(row Row, date writtenDate) error {
		if !row.hasFault("") {
			row.readBirthDate(date, s.order, &s.dates)
		}
		return fn(row)
	})
}

// parse reads the file from its start, and calls fn with each row that is not empty, and how its birth date is written.
func (s *sheet) parse(fn func(Row, writtenDate) error) error {
	p, err := newParser(s.source.text())
	if err == nil {
		err = p.readTitles(s.options.Columns)
	}
	if err == nil {
		p.now, s.layout, p.trailing = s.now, p.layout, s.trailing
		err = p.readRows(fn)
		s.trailing = p.fitting+p.overfull == 0 && p.layout.showsMovedCells()
		if s.samples == nil {
			s.samples = p.samples
		}
	}
	if errors.Is(err, errNoText) {
		return fileFault("not_csv", "We cannot read this file. Save it as CSV UTF-8.")
	}
	return err
}

// errTooLarge returns the error of a file of more than maxBytes.
func errTooLarge() error {
	return fault.New(fault.TooLarge, "payload_too_large", "A file may have at most %d MiB. Split it into two files.", maxBytes>>20)
}

func fileFault(code, format string, args ...any) error {
	return fault.Validation([]fault.Field{{Pointer: "/file", Code: code, Detail: fmt.Sprintf(format, args...)}})
}
