package roster

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
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
	otherGuardians := 0
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
	if err != nil {
		return nil, err
	}
	if s.order = options.DateOrder; s.order == "" {
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
		p.now, s.layout = s.now, p.layout
		err = p.readRows(fn)
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

// parser reads the text of one file.
type parser struct {
	reader *csv.Reader
	now    time.Time
	layout *layout
	// ahead are records that were read to find the titles.
	ahead []record
	// skipped counts the line breaks inside of cells so far: lines of the file that are no
	// rows of a spreadsheet.
	skipped int
	samples [][]string
}

// record is a record of the file, or the error of one.
type record struct {
	cells []string
	line  int
	err   error
}

// titleRows are the first rows of a file among which its titles are looked for: a name of the list may be above them.
const titleRows = 10

// separatorLine is a first line that names the separator, for Excel; other programs save it with separators and quotes.
var separatorLine = regexp.MustCompile(`^(?i:"?sep=(.)"?)[,;\t]*$`)

func newParser(text io.Reader) (*parser, error) {
	in := bufio.NewReaderSize(text, maxFirstLine)
	start, err := in.Peek(maxFirstLine)
	if err != nil && err != io.EOF {
		return nil, err
	}
	separator := rune(0)
	if line, rest, found := strings.Cut(string(start), "\n"); found {
		if m := separatorLine.FindStringSubmatch(line); m != nil {
			separator, start = rune(m[1][0]), []byte(rest)
			_, _ = in.Discard(len(line) + 1) // it is in the buffer
		}
	}
	separator = findSeparator(string(start), separator)
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

// findSeparator returns the separator with which one of the first lines has the most titles that are known: named, if
// several have as many.
func findSeparator(text string, named rune) rune {
	candidates := []rune{',', ';', '\t'}
	if slices.Contains(candidates, named) {
		candidates = append([]rune{named}, candidates...)
	}
	best, separator := 0, candidates[0]
	for _, candidate := range candidates {
		lines := 0
		for line := range strings.SplitSeq(text, "\n") {
			if lines++; lines > titleRows {
				break
			}
			if known := knownTitles(strings.Split(line, string(candidate))); known > best {
				best, separator = known, candidate
			}
		}
	}
	return separator
}

// maxTitles limits the cells of a row that are compared with titles.
const maxTitles = 200

// knownTitles returns how many cells are titles that are known.
func knownTitles(cells []string) int {
	known := 0
	for _, cell := range cells[:min(maxTitles, len(cells))] {
		if len(cell) <= maxTitle && meaningOf(strings.Trim(trimCell(cell), `"`)).column != "" {
			known++
		}
	}
	return known
}

// maxTitle is the longest title that may be known, in bytes.
const maxTitle = 200

// next returns the next record.
func (p *parser) next() record {
	if len(p.ahead) > 0 {
		r := p.ahead[0]
		p.ahead = p.ahead[1:]
		return r
	}
	return p.readRecord()
}

func (p *parser) readRecord() record {
	cells, err := p.reader.Read()
	r := record{cells: cells, err: err}
	if err == nil {
		r.line, _ = p.reader.FieldPos(0)
	}
	return r
}

// readTitles finds the row of the titles: the first of those with the most known ones, else the first one with two cells.
func (p *parser) readTitles(chosen []Column) error {
	at, most := -1, -1
	for n := range titleRows {
		r := p.readRecord()
		if r.err == io.EOF {
			break
		}
		if _, ok := errors.AsType[*csv.ParseError](r.err); r.err != nil && !ok {
			return r.err
		}
		r.cells = slices.Clone(r.cells)
		p.ahead = append(p.ahead, r)
		filled := 0
		for _, cell := range r.cells {
			if trimCell(cell) != "" {
				filled++
			}
		}
		score := 2*knownTitles(r.cells) + min(1, filled/2)
		if r.err == nil && filled > 0 && score > most || at < 0 && r.err != nil {
			at, most = n, score
		}
	}
	if at < 0 {
		return fileFault("empty", "This file is empty. Write the titles in the first row and one student in each row below.")
	}
	for range at {
		p.countLineBreaks(p.next())
	}
	titles := p.next()
	if titles.err != nil {
		return fileFault("unclosed_quote", "We cannot read the first row: delete its quotation marks.")
	}
	p.layout = newLayout(titles.cells, chosen)
	p.samples = make([][]string, len(titles.cells))
	p.countLineBreaks(titles)
	return nil
}

// shorten returns at most 40 characters of a text, for a message.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= 40 {
		return text
	}
	return string([]rune(text)[:40]) + "…"
}

// readRows calls fn with each row below the titles that is not empty.
func (p *parser) readRows(fn func(Row, writtenDate) error) error {
	for {
		r := p.next()
		if r.err == io.EOF {
			return nil
		}
		if _, ok := errors.AsType[*csv.ParseError](r.err); r.err != nil && !ok {
			return r.err
		}
		row, date, filled := p.readRow(r)
		if !filled {
			continue
		}
		if err := fn(row, date); err != nil {
			return err
		}
	}
}

// readRow returns a row, and how its birth date is written; filled is false if every cell
// is empty.
func (p *parser) readRow(r record) (row Row, date writtenDate, filled bool) {
	if parseError, ok := errors.AsType[*csv.ParseError](r.err); ok {
		row.Number = parseError.StartLine - p.skipped
		row.add("", "unclosed_quote", "A quotation mark in this row has no partner, or has text around it. Delete the quotation marks in this row.")
		p.countLineBreaks(r)
		return row, date, true
	}
	row.Number = r.line - p.skipped
	p.countLineBreaks(r)
	var cells rowCells
	for i, cell := range r.cells {
		text := csvfile.Restore(trimCell(cell))
		if text == "" {
			continue
		}
		filled = true
		if i < len(p.layout.meanings) {
			p.addSample(i, text)
			p.layout.put(&row, &cells, i, text)
		}
	}
	if !filled {
		return row, date, false
	}
	if len(r.cells) > len(p.layout.meanings) { // also if they are empty: a separator in a text has moved the cells after it
		row.add("", "extra_cells", "This row has more cells than the first row. If a text contains the sign that separates the cells, put quotation marks around the text.")
	}
	p.layout.finish(&row, &cells)
	for _, c := range Columns {
		row.keep(c)
	}
	return row, parseDate(row.Entry.BirthDate, p.now), true
}

// keep clones the text of a cell, so that the text of the whole row is not kept, or adds a fault.
func (r *Row) keep(c Column) {
	text := r.Entry.Cell(c)
	switch {
	case *text == "":
	case strings.ContainsRune(*text, utf8.RuneError):
		r.add(c, "unreadable", "This has letters that we cannot read. Write it again, and save the file as CSV UTF-8.")
		*text = ""
	case len(*text) > maxCell && utf8.RuneCountInString(*text) > maxCell:
		r.add(c, "cell_too_long", "This cell has more than 1,000 characters. Shorten it.")
		*text = shorten(*text)
	default:
		*text = strings.Clone(*text)
	}
}

// maxSamples limits the samples of a column.
const maxSamples = 3

// addSample adds a cell to the samples of its column.
func (p *parser) addSample(n int, text string) {
	if len(p.samples[n]) < maxSamples && !slices.Contains(p.samples[n], shorten(text)) {
		p.samples[n] = append(p.samples[n], strings.Clone(shorten(text)))
	}
}

// trimCell returns a cell without spaces at its ends, and without what programs put around a copied
// text, which show nothing: marks of direction, zero-width spaces and byte order marks.
func trimCell(cell string) string {
	return strings.TrimFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r == '\ufeff'
	})
}

// countLineBreaks counts the line breaks inside of the cells of a record.
func (p *parser) countLineBreaks(r record) {
	if parseError, ok := errors.AsType[*csv.ParseError](r.err); ok {
		p.skipped += parseError.Line - parseError.StartLine
		return
	}
	for _, cell := range r.cells {
		p.skipped += strings.Count(cell, "\n")
	}
}
