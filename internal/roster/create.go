package roster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// importLifetime is how long an import is kept.
const importLifetime = 30 * 24 * time.Hour

// Create checks a file and keeps its rows as an import. It adds no player. The rows of a long file
// are read after it has returned: see Await. Without an error it closes file after it was read.
func (s *Service) Create(ctx context.Context, by actor.Actor, file File, options Options) (*Import, error) {
	return s.CreateOnce(ctx, by, s.NewID(), file, options)
}

// CreateOnce is Create for an import with this id. If the coach has an import with the id, it
// returns that one for the same file, so that a form that is sent twice makes one import; for
// another file, which was chosen after the button "back", it makes one import with another id.
func (s *Service) CreateOnce(ctx context.Context, by actor.Actor, id string, file File, options Options) (*Import, error) {
	r := &reader{by: by, file: file, options: options, students: map[student]int{}, done: make(chan struct{})}
	read, err := s.create(ctx, r, id)
	if err != nil {
		return nil, err
	}
	if !read {
		_ = file.Close() // it was only read
	}
	return s.Import(ctx, by, r.i.ID)
}

// create makes the import, and reports whether r still reads its file.
func (s *Service) create(ctx context.Context, r *reader, id string) (read bool, err error) {
	if err := s.CheckFeature(ctx, r.by, coach.Import); err != nil {
		return false, err
	}
	if err := s.line.enter(ctx, &s.line.checks); err != nil {
		return false, errBusy().Because(err)
	}
	defer s.line.leave()
	r.sheet, err = readSheet(r.file, r.file.Size(), s.Now(), r.options)
	if err != nil {
		return false, err
	}
	if r.sheet.namesBatches || r.options.BatchID != "" {
		batches, err := store.BatchNames(ctx, s.DB, r.by.AccountID, team.MaxBatches)
		if err != nil {
			return false, err
		}
		if id := r.options.BatchID; id != "" && !slices.ContainsFunc(batches, func(b team.BatchName) bool { return b.ID == id }) {
			return false, fault.Missing() // archived, or of another coach
		}
		r.batches = newBatchIDs(batches)
	}
	now := s.Now().UTC().Truncate(time.Microsecond)
	r.i = &Import{
		ID: id, CoachID: r.by.AccountID, Warnings: r.sheet.warnings, FileRows: r.sheet.rows, FileSHA256: r.sheet.identity(), Layout: r.sheet.read(),
		CreatedAt: now, EndsAt: now.Add(importLifetime),
	}
	if r.sheet.rows > readBatch {
		return s.createLong(ctx, r)
	}
	rows := make([]ImportRow, 0, r.sheet.rows)
	err = r.sheet.each(func(row Row) error {
		rows = append(rows, s.importRow(r, row))
		return nil
	})
	if err == nil {
		_, err = s.addOnce(ctx, r.i, rows)
	}
	return false, err
}

// identity returns what identifies the file and how the caller says that it is read.
func (s *sheet) identity() string {
	if len(s.options.Columns) == 0 && s.options.DateOrder+DateOrder(s.options.BatchID) == "" {
		return s.source.sha256
	}
	sum := sha256.Sum256(fmt.Append(nil, s.source.sha256, s.options.Columns, s.options.DateOrder, s.options.BatchID))
	return hex.EncodeToString(sum[:])
}

// createLong makes an import whose rows are read later.
func (s *Service) createLong(ctx context.Context, r *reader) (read bool, err error) {
	if err := s.readers.admit(r); err != nil {
		return false, err
	}
	r.i.ReadingUntil = s.Now().Add(readingLease)
	added, err := s.addOnce(ctx, r.i, nil)
	if err != nil || !added {
		s.readers.remove(r)
		return false, err
	}
	s.readers.start(r)
	go s.read(r)
	return true, nil
}

// addOnce adds an import, with another id if the coach has an import of another file with its id.
// It reports false if the coach has an import of the same file.
func (s *Service) addOnce(ctx context.Context, i *Import, rows []ImportRow) (added bool, err error) {
	added, err = s.addImport(ctx, i, rows)
	if err != nil || added {
		return added, err
	}
	stored, err := s.Import(ctx, actor.Actor{AccountID: i.CoachID}, i.ID)
	if err != nil || stored.FileSHA256 == i.FileSHA256 {
		return false, err
	}
	i.ID = idOfOtherFile(i)
	return s.addImport(ctx, i, rows)
}

// idOfOtherFile returns the id of the import of another file that was sent with the id of i: the
// same for the same coach and file, so that a double tap makes one import. It keeps the time in the id.
func idOfOtherFile(i *Import) string {
	sum := sha256.Sum256([]byte(i.CoachID + i.ID + i.FileSHA256))
	h := hex.EncodeToString(sum[:])
	return i.ID[:14] + "7" + h[:3] + "-8" + h[3:6] + "-" + h[6:18]
}

// importRow checks the next row of the file. A student is added from the first row without faults.
func (s *Service) importRow(r *reader, row Row) ImportRow {
	if r.options.BatchID != "" {
		row.Entry.BatchIDs = []string{r.options.BatchID}
	}
	row.check(s.Phones, s.Now(), r.batches)
	if len(row.Faults) > 0 {
		return ImportRow{Row: row, State: Faulty}
	}
	who := student{team.FoldName(row.Entry.StudentName), row.Entry.BirthDate}
	if first, ok := r.students[who]; ok {
		row.Faults = []Fault{{
			Code: "duplicate_row", Row: first,
			Detail: fmt.Sprintf("The same student is in row %d. We add the student from row %d. Delete one of the two rows.", first, first),
		}}
		return ImportRow{Row: row, State: Faulty}
	}
	r.students[who] = row.Number
	return ImportRow{Row: row, State: Waiting}
}
