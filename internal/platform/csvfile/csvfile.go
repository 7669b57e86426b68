// Package csvfile writes tables as CSV files that spreadsheet programs open safely.
package csvfile

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"
)

// MediaType is the media type of a file that Writer writes.
const MediaType = "text/csv; charset=utf-8; header=present"

// byteOrderMark begins a file. Without it spreadsheet programs show letters outside of
// ASCII wrong.
const byteOrderMark = "\xef\xbb\xbf"

// Writer writes a table in UTF-8. Every cell is neutralised.
type Writer struct {
	out    io.Writer
	csv    *csv.Writer
	begun  bool
	record []string
}

// NewWriter returns a Writer that writes to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out, csv: csv.NewWriter(out)} }

// Write writes a row. The first one has the titles of the columns.
func (w *Writer) Write(cells ...string) error {
	if !w.begun {
		w.begun = true
		if _, err := io.WriteString(w.out, byteOrderMark); err != nil {
			return err
		}
	}
	w.record = w.record[:0]
	for _, cell := range cells {
		w.record = append(w.record, Neutralise(cell))
	}
	return w.csv.Write(w.record)
}

// Flush writes the buffer, and returns the first error of any Write.
func (w *Writer) Flush() error {
	w.csv.Flush()
	return w.csv.Error()
}

// WriteTable writes a row of titles and the rows that each writes. If each fails before the
// first row, nothing is written.
func WriteTable(out io.Writer, titles []string, each func(row func(cells ...string) error) error) error {
	w := NewWriter(out)
	err := each(func(cells ...string) error {
		if !w.begun {
			if err := w.Write(titles...); err != nil {
				return err
			}
		}
		return w.Write(cells...)
	})
	if err == nil && !w.begun {
		err = w.Write(titles...)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

const (
	// formulaSigns begin a formula in a spreadsheet program, the wide ones in Japanese and Chinese
	// editions: https://owasp.org/www-community/attacks/CSV_Injection
	formulaSigns = "=+-@＝＋－＠"
	// separators end a cell where lists are separated by semicolons, as in most of Europe. There
	// the quotes of a cell do not count, so that a line break or semicolon in it begins a new one.
	// Some programs remove tabs before a text.
	separators = ";\t\r\n"
)

// Neutralise returns the text of a cell that no spreadsheet program runs as a formula: it
// puts an apostrophe before a text that begins with one of formulaSigns, also after one of
// separators.
func Neutralise(text string) string {
	return eachPart(text, func(part string) string {
		if startsFormula(part) {
			return "'" + part
		}
		return part
	})
}

// Restore returns the text that Neutralise was given.
func Restore(cell string) string {
	return eachPart(cell, func(part string) string {
		if text, ok := strings.CutPrefix(part, "'"); ok && startsFormula(text) {
			return text
		}
		return part
	})
}

// eachPart applies change to the parts of a text between separators.
func eachPart(text string, change func(part string) string) string {
	if !strings.ContainsAny(text, separators) {
		return change(text)
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(text, separators)
		if i < 0 {
			b.WriteString(change(text))
			return b.String()
		}
		b.WriteString(change(text[:i]))
		b.WriteByte(text[i])
		text = text[i+1:]
	}
}

// startsFormula reports whether text begins with one of formulaSigns, after any number of quotes
// and apostrophes: programs remove quotes, and Restore inverts Neutralise for every text.
func startsFormula(text string) bool {
	sign, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `'"`))
	return sign != utf8.RuneError && strings.ContainsRune(formulaSigns, sign)
}
