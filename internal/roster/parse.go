package roster

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/csvfile"
)

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
	// fitting are the rows without more cells than titles, overfull those in which such a cell is not empty.
	fitting, overfull int
	// trailing: each row ends with separators that mean nothing.
	trailing bool
}

// record is a record of the file, or the error of one.
type record struct {
	cells []string
	line  int
	err   error
}

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

// readTitles finds the row of the titles: the first of those with the most known ones, else the first one with two
// cells.
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
	overfull := false
	for i, cell := range r.cells {
		text := readCell(cell)
		if text == "" {
			continue
		}
		filled = true
		if i < len(p.layout.meanings) {
			p.addSample(i, text)
			p.layout.put(&row, &cells, i, text)
		} else {
			overfull = true
		}
	}
	if !filled {
		return row, date, false
	}
	switch {
	case len(r.cells) <= len(p.layout.meanings):
		p.fitting++
	case overfull:
		p.overfull++
	}
	if len(r.cells) > len(p.layout.meanings) && (overfull || !p.trailing) { // a separator in a text may have moved the cells after it
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

// readCell returns the text of a cell. Programs write ="0123" to keep a text as it is, and an apostrophe before a formula.
func readCell(cell string) string {
	cell = trimCell(cell)
	if text, ok := strings.CutPrefix(cell, `="`); ok {
		if text, ok = strings.CutSuffix(text, `"`); ok {
			return trimCell(strings.ReplaceAll(text, `""`, `"`))
		}
	}
	return csvfile.Restore(cell)
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
