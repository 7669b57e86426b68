package roster_test

import (
	"context"
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
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/roster"
)

// memoryStore keeps imports and counts their rows.
type memoryStore struct {
	roster.Store
	mu      sync.Mutex
	imports map[string]*roster.Import
	// first are the imports in the order in which their first rows came.
	first   []string
	longest int // batch of rows
}

func (m *memoryStore) AddImport(_ context.Context, i *roster.Import, rows []roster.ImportRow, _ int) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.imports[i.ID] != nil {
		return false, nil
	}
	stored := *i
	stored.Counts = map[roster.RowState]int{}
	m.imports[i.ID] = &stored
	m.add(&stored, rows)
	return true, nil
}

func (m *memoryStore) AddImportRows(_ context.Context, i *roster.Import, rows []roster.ImportRow, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored := m.imports[i.ID]
	if stored == nil || stored.ReadingUntil.IsZero() {
		return fault.Missing()
	}
	if stored.ReadRows() == 0 && len(rows) > 0 {
		m.first = append(m.first, i.ID)
	}
	stored.ReadingUntil = until
	m.add(stored, rows)
	return nil
}

func (m *memoryStore) add(i *roster.Import, rows []roster.ImportRow) {
	for _, row := range rows {
		i.Counts[row.State]++
	}
	m.longest = max(m.longest, len(rows))
}

func (m *memoryStore) Import(_ context.Context, coachID, id string) (*roster.Import, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored := m.imports[id]
	if stored == nil || stored.CoachID != coachID {
		return nil, fault.Missing()
	}
	i := *stored
	return &i, nil
}

func newService(store *memoryStore) *roster.Service {
	var id atomic.Int64
	return &roster.Service{
		Store: store, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		NewID: func() string { return fmt.Sprintf("0198f2c4-6a10-7c3e-9b52-%012d", id.Add(1)) },
		Rules: roster.Rules{
			Phones:    phone.Parser{DefaultRegion: "IN"},
			Text:      func(_ roster.Column, text string) (string, string, string) { return text, "", "" },
			BirthDate: func(string) (bool, string) { return false, "" },
			Email:     func(string) string { return "" },
			FoldName:  strings.ToLower,
		},
		CheckFeature: func(context.Context, actor.Actor) error { return nil },
	}
}

// slowFile counts the files that are read at the same time.
type slowFile struct {
	*strings.Reader
	now, most *atomic.Int64
	closed    atomic.Bool
}

func (f *slowFile) ReadAt(p []byte, at int64) (int, error) {
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
		fmt.Fprintf(&text, "%04x,2012-04-30\n", i)
	}
	return text.String()
}

// TestTwoFilesAtOnce: a process reads two of 48 files of 8 coaches at the same time, in the order in
// which they came, and each of them to its end. It closes them.
func TestTwoFilesAtOnce(t *testing.T) {
	t.Parallel()
	store := &memoryStore{imports: map[string]*roster.Import{}}
	s := newService(store)
	var now, most atomic.Int64
	var made []*roster.Import
	var files []*slowFile
	for n := range 48 {
		file := &slowFile{Reader: strings.NewReader(players(1500)), now: &now, most: &most}
		i, err := s.Create(t.Context(), actor.Actor{AccountID: fmt.Sprint("coach", n%8)}, file)
		if err != nil {
			t.Fatal(err)
		}
		made, files = append(made, i), append(files, file)
	}
	for n, i := range made {
		got, err := s.Await(t.Context(), actor.Actor{AccountID: i.CoachID}, i.ID, time.Minute)
		if err != nil || got.State() != roster.Ready || got.Counts[roster.Waiting] != 1500 || !files[n].closed.Load() {
			t.Errorf("file %d: %v, state %s, rows %v, closed %t; want all 1500 rows", n, err, got.State(), got.Counts, files[n].closed.Load())
		}
	}
	if got := most.Load(); got != 2 {
		t.Errorf("%d files were read at the same time, want 2", got)
	}
	if store.longest != roster.ReadBatch {
		t.Errorf("the longest batch has %d rows, want %d", store.longest, roster.ReadBatch)
	}
	for n, i := range made {
		if at := slices.Index(store.first, i.ID); at < n-1 || at > n+1 { // two at the same time may change their order
			t.Errorf("file %d was read as number %d", n, at)
		}
	}
}

// TestFileOfClientThatHasGone: a file whose client has gone leaves the line.
func TestFileOfClientThatHasGone(t *testing.T) {
	t.Parallel()
	s := newService(&memoryStore{imports: map[string]*roster.Import{}})
	started, hold := make(chan struct{}, 1200), make(chan struct{})
	s.Rules.BirthDate = func(string) (bool, string) { started <- struct{}{}; <-hold; return false, "" }
	coach := actor.Actor{AccountID: "coach"}
	for range 2 {
		if _, err := s.Create(t.Context(), coach, roster.NewFile([]byte(players(501)))); err != nil {
			t.Fatal(err)
		}
	}
	<-started
	<-started // both are read
	gone, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer leave()
	if _, err := s.Create(gone, coach, roster.NewFile([]byte(players(1)))); fault.CodeOf(err) != "overloaded" {
		t.Errorf("while two files are read: %v, want overloaded", err)
	}
	close(hold)
	if _, err := s.Create(t.Context(), coach, roster.NewFile([]byte(players(1)))); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// TestStopWhileReading: a process that ends leaves imports that have failed, and
// a step adds nothing of them.
func TestStopWhileReading(t *testing.T) {
	t.Parallel()
	store := &memoryStore{imports: map[string]*roster.Import{}}
	s := newService(store)
	var made []*roster.Import
	coach := actor.Actor{AccountID: "coach"}
	for range 2 {
		i, err := s.Create(t.Context(), coach, &endlessFile{File: roster.NewFile([]byte(players(9000))), stopped: s.Stopping()})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, i)
	}
	s.Stop()
	for n, i := range made {
		if got, err := s.Step(t.Context(), coach, i.ID); err != nil || got.State() != roster.Failed || got.Rows() != 9000 {
			t.Errorf("file %d: %+v, %v; want failed", n, got, err)
		}
	}
	if _, err := s.Create(t.Context(), coach, roster.NewFile([]byte(players(501)))); fault.CodeOf(err) != "overloaded" {
		t.Errorf("after the stop: %v", err)
	}
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
