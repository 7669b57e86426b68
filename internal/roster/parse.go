package roster

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/csvfile"
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
	source source
	rows   int
	// monthFirst reports that a date has the month first for certain, such as 04/30/2012.
	monthFirst bool
	// namesBatches reports that a row names a batch.
	namesBatches bool
	// warnings say what the coach should check, although the rows can be added.
	warnings []Warning
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
	// Row and Text are the values in Detail: the row and the date of day_first, the titles of
	// unknown_columns.
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
// validation_failed if the file cannot be read, or with all faults of the titles.
func readSheet(file io.ReaderAt, size int64) (*sheet, error) {
	if size > maxBytes {
		return nil, errTooLarge()
	}
	source, err := open(file, size)
	if err != nil {
		return nil, err
	}
	s := &sheet{source: source}
	var dayFirstRow Row
	err = s.parse(&s.warnings, func(row Row, kind dateKind) error {
		if s.rows++; s.rows > maxRows {
			return fileFault("too_many_rows", "This file has more than 10,000 students. Split it into two files.")
		}
		s.monthFirst = s.monthFirst || kind == monthFirst
		s.namesBatches = s.namesBatches || row.Entry.Batches != ""
		if kind == dayFirst && dayFirstRow.Number == 0 {
			dayFirstRow = row
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case s.rows == 0:
		return nil, fileFault("no_rows", "There is no student below the titles. Write one student in each row.")
	case dayFirstRow.Number > 0 && !s.monthFirst:
		s.warnings = append(s.warnings, Warning{
			Code: "day_first", Row: dayFirstRow.Number, Text: dayFirstRow.Entry.BirthDate,
			Detail: fmt.Sprintf("We read dates with the day first. Please check one: the birth date in row %d is %s.", dayFirstRow.Number, dayFirstRow.Entry.BirthDate),
		})
	}
	if source.guessed {
		s.warnings = append(s.warnings, Warning{Code: "encoding_guessed", Detail: "The file does not say how its letters are stored. We read it as Windows-1252. If names look wrong, save the file as CSV UTF-8 and try again."})
	}
	return s, nil
}

// each calls fn with each row and its faults, in the order of the file.
func (s *sheet) each(fn func(Row) error) error {
	return s.parse(new([]Warning), func(row Row, kind dateKind) error {
		s.checkDayOrder(&row, kind)
		return fn(row)
	})
}

// parse reads the file from its start, adds the warnings about the titles, and calls fn with each row
// that is not empty, and how its birth date is written.
func (s *sheet) parse(warnings *[]Warning, fn func(Row, dateKind) error) error {
	p, err := newParser(s.source.text())
	if err == nil {
		err = p.readTitles()
	}
	if err == nil {
		*warnings = append(*warnings, p.warnings...)
		err = p.readRows(fn)
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

// parser reads the text of one file.
type parser struct {
	reader  *csv.Reader
	columns []Column // of each cell of a row; "" for a cell that is not read
	// skipped counts the line breaks inside of cells so far: lines of the file that are no
	// rows of a spreadsheet.
	skipped  int
	warnings []Warning
}

func newParser(text io.Reader) (*parser, error) {
	in := bufio.NewReaderSize(text, maxFirstLine)
	start, err := in.Peek(maxFirstLine)
	if err != nil && err != io.EOF {
		return nil, err
	}
	separator := rune(0)
	// Excel reads and writes a first line that names the separator.
	if line, rest, found := strings.Cut(string(start), "\n"); found && len(line) == len("sep=,") && strings.HasPrefix(line, "sep=") {
		separator, start = rune(line[len("sep=")]), []byte(rest)
		_, _ = in.Discard(len(line) + 1) // it is in the buffer
	}
	if !strings.ContainsRune(",;\t", separator) {
		separator = findSeparator(string(start))
	}
	p := &parser{}
	p.reader = csv.NewReader(&cellCounter{in: in, separator: byte(separator)})
	p.reader.Comma = separator
	p.reader.FieldsPerRecord = -1
	p.reader.ReuseRecord = true
	return p, nil
}

// errTooManyCells is the error of a file whose rows would need too much memory.
var errTooManyCells = fileFault("too_many_columns", "This file has too many columns. Keep the ones that we read, and delete the others.")

// cellCounter ends a text that has too many separators.
type cellCounter struct {
	in        io.Reader
	separator byte
	count     int
}

// Read implements io.Reader.
func (c *cellCounter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if c.count += bytes.Count(p[:n], []byte{c.separator}); c.count > maxCells {
		return 0, errTooManyCells
	}
	return n, err
}

// findSeparator returns the separator with which the first line has the most titles that
// are known.
func findSeparator(text string) rune {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	best, separator := 0, ','
	for _, candidate := range ",;\t" {
		known := 0
		for title := range strings.SplitSeq(line, string(candidate)) {
			if titles[foldTitle(title)] != "" {
				known++
			}
		}
		if known > best {
			best, separator = known, candidate
		}
	}
	return separator
}

// readTitles reads the first row.
func (p *parser) readTitles() error {
	record, err := p.reader.Read()
	if err == io.EOF {
		return fileFault("empty", "This file is empty. Write the titles in the first row and one student in each row below.")
	}
	if _, ok := errors.AsType[*csv.ParseError](err); ok {
		return fileFault("unclosed_quote", "We cannot read the first row: delete its quotation marks.")
	}
	if err != nil {
		return err
	}
	var faults []fault.Field
	add := func(code, format string, args ...any) {
		faults = append(faults, fault.Field{Pointer: "/file", Code: code, Detail: fmt.Sprintf(format, args...)})
	}
	const most = 10
	var unknown []string // the first ones
	others := 0
	for _, cell := range record {
		title := csvfile.Restore(trimCell(cell))
		c := titles[foldTitle(title)]
		switch {
		case c == unclear:
			add("unclear_column", "We cannot tell whose number the column %q holds. Name it %q or %q.", shorten(title), Titles[GuardianNumber], Titles[StudentNumber])
		case c == ignored, c == "" && title == "":
			c = ""
		case c == "" && len(unknown) < most:
			unknown = append(unknown, fmt.Sprintf("%q", shorten(title)))
		case c == "":
			others++
		case slices.Contains(p.columns, c):
			add("duplicate_column", "Two columns mean %q. Delete one of them.", Titles[c])
		}
		p.columns = append(p.columns, c)
	}
	for _, c := range []Column{StudentName, BirthDate} {
		if !slices.Contains(p.columns, c) {
			add("missing_column", "The first row has no title %q. Write the titles of the columns in the first row.", Titles[c])
		}
	}
	if len(unknown) > 0 {
		named := strings.Join(unknown, ", ")
		if others > 0 {
			named += fmt.Sprintf(" (+%d)", others) // the pages put it into a text of any language
		}
		p.warnings = []Warning{{Code: "unknown_columns", Detail: "We do not import these columns: " + named + ".", Text: named}}
	}
	p.countLineBreaks(record)
	return fault.Validation(faults)
}

// shorten returns at most 40 characters of a text, for a message.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= 40 {
		return text
	}
	return string([]rune(text)[:40]) + "…"
}

// readRows calls fn with each row below the titles that is not empty.
func (p *parser) readRows(fn func(Row, dateKind) error) error {
	for {
		record, err := p.reader.Read()
		if err == io.EOF {
			return nil
		}
		if _, ok := errors.AsType[*csv.ParseError](err); err != nil && !ok {
			return err
		}
		row, kind, filled := p.readRow(record, err)
		if !filled {
			continue
		}
		if err := fn(row, kind); err != nil {
			return err
		}
	}
}

// readRow returns a row, and how its birth date is written; filled is false if every cell
// is empty.
func (p *parser) readRow(record []string, err error) (row Row, kind dateKind, filled bool) {
	if parseError, ok := errors.AsType[*csv.ParseError](err); ok {
		row.Number = parseError.StartLine - p.skipped
		row.add("", "unclosed_quote", "A quotation mark in this row has no partner, or has text around it. Delete the quotation marks in this row.")
		p.skipped += parseError.Line - parseError.StartLine
		return row, clearDate, true
	}
	line, _ := p.reader.FieldPos(0)
	row.Number = line - p.skipped
	p.countLineBreaks(record)
	for i, cell := range record {
		text := csvfile.Restore(trimCell(cell))
		if text == "" {
			continue
		}
		filled = true
		switch {
		case i >= len(p.columns):
			row.add("", "extra_cells", "This row has more cells than the first row. If a text contains the sign that separates the cells, put quotation marks around the text.")
		case p.columns[i] == "":
		case strings.ContainsRune(text, utf8.RuneError):
			row.add(p.columns[i], "unreadable", "This has letters that we cannot read. Write it again, and save the file as CSV UTF-8.")
		case len(text) > maxCell && utf8.RuneCountInString(text) > maxCell:
			row.add(p.columns[i], "cell_too_long", "This cell has more than 1,000 characters. Shorten it.")
			*row.Entry.Cell(p.columns[i]) = shorten(text)
		default:
			*row.Entry.Cell(p.columns[i]) = strings.Clone(text) // the text of the whole row is not kept
		}
	}
	if filled {
		kind = row.readBirthDate()
	}
	return row, kind, filled
}

// trimCell returns a cell without spaces at its ends, and without what programs put around a copied
// text, which show nothing: marks of direction, zero-width spaces and byte order marks.
func trimCell(cell string) string {
	return strings.TrimFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r == '\ufeff'
	})
}

// countLineBreaks counts the line breaks inside of the cells.
func (p *parser) countLineBreaks(record []string) {
	for _, cell := range record {
		p.skipped += strings.Count(cell, "\n")
	}
}

// readBirthDate replaces the birth date by YYYY-MM-DD, or adds a fault.
func (r *Row) readBirthDate() dateKind {
	text := r.Entry.BirthDate
	if text == "" {
		r.add(BirthDate, "required", "Write the birth date, such as 2012-04-30.")
		return clearDate
	}
	date, kind := parseDate(text)
	switch {
	case date != "":
		r.Entry.BirthDate = date
	case kind == twoDigitYear:
		r.add(BirthDate, "two_digit_year", "Write the year with four digits, such as 2012.")
	case kind == serialDate:
		r.add(BirthDate, "serial_date", "This is a number, not a date. Write the date as 2012-04-30.")
	default:
		r.add(BirthDate, "invalid_date", "This date does not exist, or we cannot read it. Write it as 2012-04-30.")
	}
	return kind
}

// checkDayOrder decides about dates such as 03/04/2012, which are read with the day first.
// If another date of the file has the month first for certain, such as 04/30/2012, it
// refuses them all: a wrong birth date would not be noticed.
func (s *sheet) checkDayOrder(row *Row, kind dateKind) {
	switch {
	case kind == monthFirst:
		row.add(BirthDate, "month_first", "We read the day first, then the month. Write this date as %s.", row.Entry.BirthDate)
	case kind == dayFirst && s.monthFirst:
		row.add(BirthDate, "ambiguous_date", "We cannot tell the day from the month, because other rows have the month first. Write the date as 2012-04-30: year, month, day.")
	}
}
