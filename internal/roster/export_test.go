package roster

import (
	"bytes"
	"context"
	"io"
	"time"
)

// Sheet is a file that was parsed.
type Sheet struct {
	Rows     []Row
	Warnings []Warning
	Layout   Layout
}

// Parse parses a file, as a stream.
func Parse(data []byte) (Sheet, error) { return ParseWith(data, Options{}) }

// ParseWith is Parse with what a caller says about the file. Today is 2 March 2026.
func ParseWith(data []byte, o Options) (Sheet, error) {
	sheet, err := readSheet(bytes.NewReader(data), int64(len(data)), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), o)
	if err != nil {
		return Sheet{}, err
	}
	s := ParsedSheet{sheet}
	all := Sheet{Warnings: s.warnings, Layout: s.read()}
	err = s.each(func(row Row) error {
		all.Rows = append(all.Rows, row)
		return nil
	})
	return all, err
}

// ParsedSheet is a file whose rows can be read.
type ParsedSheet struct{ *sheet }

// ReadSheet checks a file.
func ReadSheet(file io.ReaderAt, size int64) (ParsedSheet, error) {
	s, err := readSheet(file, size, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), Options{})
	return ParsedSheet{s}, err
}

// Each calls fn with each row.
func (s ParsedSheet) Each(fn func(Row) error) error { return s.each(fn) }

// ReadBatch is the number of rows that are held in memory.
const ReadBatch = readBatch

// Stopping returns what is closed when Stop is called.
func (s *Service) Stopping() <-chan struct{} {
	s.readers.mu.Lock()
	defer s.readers.mu.Unlock()
	s.readers.init()
	return s.readers.ctx.Done()
}

// WriteEntries writes players as an export does.
func WriteEntries(out io.Writer, entries ...Entry) error { return writeEntries(out, entries) }

// MaxBytes and MaxRows are the limits of a file.
const (
	MaxBytes = maxBytes
	MaxRows  = maxRows
)

// AddImport saves an import without rows.
func (s *Service) AddImport(ctx context.Context, i *Import) error {
	_, err := s.addImport(ctx, i, nil)
	return err
}

// AddRows adds rows to an import that is being read.
func (s *Service) AddRows(ctx context.Context, i *Import, rows []ImportRow, readingUntil time.Time) error {
	return s.addRows(ctx, i, rows, readingUntil)
}
