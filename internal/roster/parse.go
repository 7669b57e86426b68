package roster

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/csvfile"
	"github.com/touchline/touchline/internal/fault"
)

// The limits of a file.
const (
	// MaxBytes is the size of a file: 10,000 rows of 400 bytes.
	MaxBytes = 4 << 20
	// MaxRows are the rows without the titles and without empty rows.
	MaxRows = 10_000
	// maxSeparators limits the cells, which are held in memory: 50 in each row.
	maxSeparators = 50 * (MaxRows + 1)
)

// Sheet is the result of Parse.
type Sheet struct {
	Rows []Row
	// Warnings say what the coach should check, although the rows can be added.
	Warnings []Warning
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
		r.Faults = append(r.Faults, Fault{c, code, fmt.Sprintf(format, args...)})
	}
}

// Parse reads a CSV file or cells that were pasted from a spreadsheet. It reads UTF-8, UTF-16
// with a byte order mark, else Windows-1252; cells separated by commas, semicolons or
// tabs; and titles in English or Hindi in any order. Errors: payload_too_large;
// validation_failed if the file cannot be read, or with all faults of the titles. Faults of
// single rows are in the rows.
func Parse(data []byte) (Sheet, error) {
	if len(data) > MaxBytes {
		return Sheet{}, ErrTooLarge()
	}
	if isOtherFormat(data) {
		return Sheet{}, fileFault("not_csv", "This file is not CSV. Open it in your spreadsheet program and save it as CSV UTF-8.")
	}
	text, guessed, err := decode(data)
	if err != nil || strings.Contains(text, "\x00") { // UTF-32 begins like UTF-16
		return Sheet{}, fileFault("not_csv", "We cannot read this file. Save it as CSV UTF-8.")
	}
	p := newParser(text)
	if err := p.readTitles(); err != nil {
		return Sheet{}, err
	}
	if err := p.readRows(); err != nil {
		return Sheet{}, err
	}
	p.checkDayOrder()
	if guessed {
		p.warn(Warning{Code: "encoding_guessed", Detail: "The file does not say how its letters are stored. We read it as Windows-1252. If names look wrong, save the file as CSV UTF-8 and try again."})
	}
	return p.sheet, nil
}

// ErrTooLarge returns the error of a file of more than MaxBytes.
func ErrTooLarge() error {
	return fault.New(fault.TooLarge, "payload_too_large", "A file may have at most %d MiB. Split it into two files.", MaxBytes>>20)
}

func fileFault(code, format string, args ...any) error {
	return fault.Validation([]fault.Field{{Pointer: "/file", Code: code, Detail: fmt.Sprintf(format, args...)}})
}

// parser reads one file.
type parser struct {
	text    string
	reader  *csv.Reader
	columns []Column // of each cell of a row; "" for a cell that is not read
	// skipped counts the line breaks inside of cells so far: lines of the file that are no
	// rows of a spreadsheet.
	skipped int
	kinds   []dateKind // of the birth date of each row
	sheet   Sheet
}

func newParser(text string) *parser {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	p := &parser{text: text}
	separator := rune(0)
	// Excel reads and writes a first line that names the separator.
	if line, rest, found := strings.Cut(text, "\n"); found && len(line) == len("sep=,") && strings.HasPrefix(line, "sep=") {
		separator, p.text = rune(line[len("sep=")]), rest
	}
	if !strings.ContainsRune(",;\t", separator) {
		separator = findSeparator(p.text)
	}
	p.reader = csv.NewReader(strings.NewReader(p.text))
	p.reader.Comma = separator
	p.reader.FieldsPerRecord = -1
	p.reader.ReuseRecord = true
	return p
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
	if strings.Count(p.text, string(p.reader.Comma)) > maxSeparators {
		return fileFault("too_many_columns", "This file has too many columns. Keep the ones that we read, and delete the others.")
	}
	record, err := p.reader.Read()
	if err == io.EOF {
		return fileFault("empty", "This file is empty. Write the titles in the first row and one student in each row below.")
	}
	if err != nil {
		return fileFault("unclosed_quote", "We cannot read the first row: delete its quotation marks.")
	}
	var faults []fault.Field
	add := func(code, format string, args ...any) {
		faults = append(faults, fault.Field{Pointer: "/file", Code: code, Detail: fmt.Sprintf(format, args...)})
	}
	var unknown []string
	for _, cell := range record {
		title := csvfile.Restore(trimCell(cell))
		c := titles[foldTitle(title)]
		switch {
		case c == unclear:
			add("unclear_column", "We cannot tell whose number the column %q holds. Name it %q or %q.", shorten(title), Titles[GuardianNumber], Titles[StudentNumber])
		case c == ignored, c == "" && title == "":
			c = ""
		case c == "":
			unknown = append(unknown, fmt.Sprintf("%q", shorten(title)))
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
		const most = 10
		named := strings.Join(unknown[:min(len(unknown), most)], ", ")
		if others := len(unknown) - most; others > 0 {
			named += fmt.Sprintf(" (+%d)", others) // the pages put it into a text of any language
		}
		p.warn(Warning{Code: "unknown_columns", Detail: "We do not import these columns: " + named + ".", Text: named})
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

func (p *parser) warn(w Warning) { p.sheet.Warnings = append(p.sheet.Warnings, w) }

// readRows reads the rows below the titles.
func (p *parser) readRows() error {
	for {
		record, err := p.reader.Read()
		if err == io.EOF {
			if len(p.sheet.Rows) == 0 {
				return fileFault("no_rows", "There is no student below the titles. Write one student in each row.")
			}
			return nil
		}
		row, kind, filled := p.readRow(record, err)
		if !filled {
			continue
		}
		if len(p.sheet.Rows) == MaxRows {
			return fileFault("too_many_rows", "This file has more than 10,000 students. Split it into two files.")
		}
		p.sheet.Rows = append(p.sheet.Rows, row)
		p.kinds = append(p.kinds, kind)
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
		default:
			*row.Entry.Cell(p.columns[i]) = text
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
func (p *parser) checkDayOrder() {
	monthIsFirst := slices.Contains(p.kinds, monthFirst)
	for i := range p.sheet.Rows {
		row, kind := &p.sheet.Rows[i], p.kinds[i]
		switch {
		case kind == monthFirst:
			row.add(BirthDate, "month_first", "We read the day first, then the month. Write this date as %s.", row.Entry.BirthDate)
		case kind == dayFirst && monthIsFirst:
			row.add(BirthDate, "ambiguous_date", "We cannot tell the day from the month, because other rows have the month first. Write the date as 2012-04-30: year, month, day.")
		}
	}
	if i := slices.Index(p.kinds, dayFirst); i >= 0 && !monthIsFirst {
		row := p.sheet.Rows[i]
		p.warn(Warning{
			Code: "day_first", Row: row.Number, Text: row.Entry.BirthDate,
			Detail: fmt.Sprintf("We read dates with the day first. Please check one: the birth date in row %d is %s.", row.Number, row.Entry.BirthDate),
		})
	}
}
