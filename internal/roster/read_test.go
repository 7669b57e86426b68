package roster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// newService returns a service whose coaches are coach0 to coach7.
func newService(t *testing.T, url string, now func() time.Time) *roster.Service {
	t.Helper()
	sql, err := database.Open(t.Context(), url, database.Options{Now: now, Migrations: store.Migrations()})
	if err != nil {
		t.Fatal(err)
	}
	db := store.New(sql, store.Options{})
	s := &roster.Service{
		DB: db, Phones: phone.Parser{DefaultRegion: "IN"}, CheckFeature: func(context.Context, actor.Actor, string) error { return nil }, Log: slog.New(slog.DiscardHandler),
	}
	t.Cleanup(func() {
		s.Stop()
		if err := sql.Close(); err != nil {
			t.Error(err)
		}
	})
	err = db.Write(t.Context(), func(tx *store.Tx) error {
		for n := range 8 {
			by := coach(n)
			if _, err := tx.Exec(t.Context(), `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ($1, $1, 'coach', 1)`, by.AccountID); err != nil {
				return err
			}
			if _, err := tx.Exec(t.Context(), `INSERT INTO coaches (id, created_at, updated_at) VALUES ($1, 1, 1)`, by.AccountID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func coach(n int) actor.Actor { return actor.Actor{AccountID: fmt.Sprint("coach", n)} }

// slowFile counts the files that are read at the same time.
type slowFile struct {
	*strings.Reader
	now, most *atomic.Int64
	starts    atomic.Int64
	// onRows is called when the rows of the file are read: after the file was read to find its
	// encoding and to check its titles.
	onRows func()
	closed atomic.Bool
}

func (f *slowFile) ReadAt(p []byte, at int64) (int, error) {
	if at == 0 && f.starts.Add(1) == 3 {
		f.onRows()
	}
	n := f.now.Add(1)
	defer f.now.Add(-1)
	for most := f.most.Load(); n > most && !f.most.CompareAndSwap(most, n); most = f.most.Load() {
	}
	time.Sleep(100 * time.Microsecond)
	return f.Reader.ReadAt(p, at)
}

func (f *slowFile) Close() error { f.closed.Store(true); return nil }

func players(n int) string {
	text := strings.Builder{}
	text.WriteString("name,dob\n")
	for i := range n {
		fmt.Fprintf(&text, "%04x,1990-04-30\n", i)
	}
	return text.String()
}

// TestTwoFilesAtOnce: a process reads two of 48 files of 8 coaches at the same time, in the order in
// which they came, and each of them to its end. It closes them.
func TestTwoFilesAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite(t), time.Now)
	var now, most atomic.Int64
	var mu sync.Mutex
	var order []int
	var made []*roster.Import
	var files []*slowFile
	for n := range 48 {
		file := &slowFile{Reader: strings.NewReader(players(600)), now: &now, most: &most, onRows: func() {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, n)
		}}
		i, err := s.Create(t.Context(), coach(n%8), file, roster.Options{})
		if err != nil {
			t.Fatal(err)
		}
		made, files = append(made, i), append(files, file)
	}
	for n, i := range made {
		got, err := s.Await(t.Context(), coach(n%8), i.ID, time.Minute)
		if err != nil || got.State() != roster.Ready || got.Counts[roster.Waiting] != 600 {
			t.Errorf("file %d: %v, state %s, rows %v; want all 600 rows", n, err, got.State(), got.Counts)
		}
	}
	if got := most.Load(); got != 2 {
		t.Errorf("%d files were read at the same time, want 2", got)
	}
	s.Stop() // a file is closed after its import is ready
	for n := range made {
		if !files[n].closed.Load() {
			t.Errorf("file %d is open", n)
		}
		if at := slices.Index(order, n); at < n-8 || at > n+8 { // a busy machine can hold one reader back while the other reads several files
			t.Errorf("file %d was read as number %d", n, at)
		}
	}
}

// TestFileOfClientThatHasGone: a file whose client has gone leaves the line.
func TestFileOfClientThatHasGone(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite(t), time.Now)
	started, hold := make(chan struct{}, 2), make(chan struct{})
	var now, most atomic.Int64
	for range 2 {
		file := &slowFile{Reader: strings.NewReader(players(501)), now: &now, most: &most, onRows: func() { started <- struct{}{}; <-hold }}
		if _, err := s.Create(t.Context(), coach(0), file, roster.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	<-started
	<-started // both are read
	gone, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer leave()
	if _, err := s.Create(gone, coach(0), roster.NewFile([]byte(players(1))), roster.Options{}); fault.CodeOf(err) != "overloaded" {
		t.Errorf("while two files are read: %v, want overloaded", err)
	}
	close(hold)
	if _, err := s.Create(t.Context(), coach(0), roster.NewFile([]byte(players(1))), roster.Options{}); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// TestStopWhileReading: rows are kept in batches while a file is read. A process that ends leaves
// imports that have failed, and a step adds nothing of them.
func TestStopWhileReading(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite(t), time.Now)
	var made []*roster.Import
	for range 2 {
		i, err := s.Create(t.Context(), coach(0), &endlessFile{File: roster.NewFile([]byte(players(9000))), stopped: s.Stopping()}, roster.Options{})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, i)
	}
	for n, i := range made {
		for deadline := time.Now().Add(time.Minute); i.ReadRows() < 4000; {
			var err error
			if i, err = s.Import(t.Context(), coach(0), i.ID); err != nil || time.Now().After(deadline) {
				t.Fatalf("file %d: %d rows, %v; want 4000 before the file is read", n, i.ReadRows(), err)
			}
			time.Sleep(time.Millisecond)
		}
		if i.ReadRows()%roster.ReadBatch != 0 {
			t.Errorf("file %d: %d rows are kept, want whole batches", n, i.ReadRows())
		}
	}
	s.Stop()
	for n, i := range made {
		if got, err := s.Step(t.Context(), coach(0), i.ID); err != nil || got.State() != roster.Failed || got.Rows() != 9000 {
			t.Errorf("file %d: %+v, %v; want failed", n, got, err)
		}
	}
	if _, err := s.Create(t.Context(), coach(0), roster.NewFile([]byte(players(501))), roster.Options{}); fault.CodeOf(err) != "overloaded" {
		t.Errorf("after the stop: %v", err)
	}
}

// TestImportThatIsNotRead: an import whose process has ended has failed, and a step adds nothing of it.
// An import that was deleted meanwhile, or is complete, gets no rows.
func TestImportThatIsNotRead(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		now, by := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), coach(1)
		s := newService(t, url, func() time.Time { return now })
		i := &roster.Import{
			ID: s.NewID(), CoachID: by.AccountID, FileRows: 3, FileSHA256: "x", ReadingUntil: now.Add(time.Minute),
			CreatedAt: now, EndsAt: now.Add(24 * time.Hour),
		}
		add := func(number int, until time.Time) error {
			row := roster.Row{Number: number, Entry: roster.Entry{StudentName: "A", BirthDate: "1990-01-01"}}
			return s.AddRows(t.Context(), i, []roster.ImportRow{{Row: row, State: roster.Waiting}}, until)
		}
		if err := errors.Join(s.AddImport(t.Context(), i), add(2, now.Add(time.Minute))); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Import(t.Context(), by, i.ID); err != nil || got.State() != roster.Reading || got.Rows() != 3 || got.ReadRows() != 1 {
			t.Errorf("while it is read: %+v, %v", got, err)
		}
		now = now.Add(time.Minute)
		for range 2 {
			if got, err := s.Step(t.Context(), by, i.ID); err != nil || got.State() != roster.Failed || got.Counts[roster.Added] != 0 {
				t.Errorf("after a minute: %+v, %v", got, err)
			}
		}
		if err := add(3, time.Time{}); err != nil { // the process was only slow
			t.Fatal(err)
		}
		if got, err := s.Import(t.Context(), by, i.ID); err != nil || got.State() != roster.Ready {
			t.Errorf("after the last row: %+v, %v", got, err)
		}
		if err := add(4, time.Time{}); fault.CodeOf(err) != "not_found" {
			t.Errorf("rows of a complete import: %v, want not_found", err)
		}
		i.CoachID = coach(2).AccountID
		if err := add(4, time.Time{}); fault.CodeOf(err) != "not_found" {
			t.Errorf("rows of another coach's import: %v, want not_found", err)
		}
	})
}

// TestMemoryOfOneFile: a file of the largest size with the most rows needs little memory while it is
// read.
func TestMemoryOfOneFile(t *testing.T) {
	var file strings.Builder
	file.WriteString("name,dob,note\n")
	for n := range roster.MaxRows {
		fmt.Fprintf(&file, "Asha %05d,2012-04-30,%s\n", n, strings.Repeat("x", 390))
	}
	if file.Len() > roster.MaxBytes || file.Len() < roster.MaxBytes*9/10 {
		t.Fatalf("the file has %d bytes", file.Len())
	}
	text := strings.NewReader(file.String())
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most, n := heap(), int64(0), 0
	sheet, err := roster.ReadSheet(text, text.Size())
	if err != nil {
		t.Fatal(err)
	}
	err = sheet.Each(func(roster.Row) error {
		if n++; n%1000 == 0 {
			most = max(most, heap()-before)
		}
		return nil
	})
	if err != nil || n != roster.MaxRows || most > 1<<20 {
		t.Errorf("%v, %d rows, %d bytes of memory; want at most 1 MiB", err, n, most)
	}
}

// TestLongCells: a cell of more than 1,000 characters is a fault of its row and column, and is not
// kept. The other rows are right, and a long cell of a column that is not read is no fault.
func TestLongCells(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("आ", 1001)
	sheet, err := roster.Parse([]byte("name,dob,guardian,batches,note\n" +
		long + ",2012-04-30,,,\n" + "Bela," + long + ",,,\n" + "Chitra,2012-04-30," + long + "," + long + ",\n" +
		"Dev,2012-04-30,,,\"" + strings.Repeat("x", 1<<20) + "\"\n" + strings.Repeat("अ", 1000) + ",2012-04-30,,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, sheet.Rows[0], 2, roster.StudentName, "cell_too_long")
	wantFault(t, sheet.Rows[1], 3, roster.BirthDate, "cell_too_long")
	wantFault(t, sheet.Rows[2], 4, roster.GuardianName, "cell_too_long")
	wantFault(t, sheet.Rows[2], 4, roster.Batches, "cell_too_long")
	for _, row := range sheet.Rows[3:] {
		if len(row.Faults) > 0 {
			t.Errorf("row %d has faults: %v", row.Number, row.Faults)
		}
	}
	if kept := sheet.Rows[0].Entry.StudentName; len([]rune(kept)) > 41 {
		t.Errorf("%d characters of a long cell are kept", len([]rune(kept)))
	}
}

// endlessFile does not give the end of its rows until the service stops: the reads of its second half
// are about 21 until it is checked.
type endlessFile struct {
	roster.File
	stopped <-chan struct{}
	reads   atomic.Int64
}

func (f *endlessFile) ReadAt(p []byte, at int64) (int, error) {
	if at > f.Size()/2 && f.reads.Add(1) > 25 {
		<-f.stopped
		return 0, io.ErrUnexpectedEOF
	}
	return f.File.ReadAt(p, at)
}
