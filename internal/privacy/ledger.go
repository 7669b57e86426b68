package privacy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

const (
	// ledgerBatch is the number of erasures in one statement.
	ledgerBatch = 500
	// ledgerOverlap is how much older than the newest line of the file an erasure may be that commits after it: a
	// transaction takes at most 10 s, and the clocks of replicas differ by some seconds.
	ledgerOverlap = time.Minute
)

// Ledger is the file ERASURES. It has a line for each erasure: time, kind and id. Replicas can share a file, or have one each:
// every file gets the erasures of all replicas. An erasure can be in a file more than once.
type Ledger struct {
	Path string
	DB   *store.DB

	mu sync.Mutex
	// newest is the time of the newest line, and recent has the ids of lines that are not older than ledgerOverlap before it;
	// nil until the file was read.
	newest time.Time
	recent map[string]time.Time
}

// Erasure is a line of a Ledger.
type Erasure struct {
	At time.Time
	// Kind is store.PlayerErased or the role of an account.
	Kind, ID string
}

func (e Erasure) line() string {
	return e.At.UTC().Format(time.RFC3339Nano) + " " + e.Kind + " " + e.ID + "\n"
}

func parseErasure(line string) (e Erasure, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 3 {
		return e, false
	}
	at, err := time.Parse(time.RFC3339Nano, fields[0])
	e = Erasure{at, fields[1], fields[2]}
	return e, err == nil && (e.Kind == store.PlayerErased || actor.Role(e.Kind).Valid())
}

// ReadLedger calls fn with each erasure of a file, and returns the numbers of lines that it cannot read, such as a line that a full
// disk cut off. It reads nothing from a file that does not exist.
func ReadLedger(path string, fn func(Erasure) error) (unreadable []int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readErasures(f, fn)
}

func readErasures(file io.Reader, fn func(Erasure) error) (unreadable []int, err error) {
	r := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		if line != "" && line != "\n" {
			if e, ok := parseErasure(line); !ok || err != nil {
				unreadable = append(unreadable, n)
			} else if err := fn(e); err != nil {
				return unreadable, err
			}
		}
		if errors.Is(err, io.EOF) {
			return unreadable, nil
		}
		if err != nil {
			return unreadable, err
		}
	}
}

// Append appends the erasures that the file does not have, and truncates the write-ahead log of SQLite, which can have what they
// erased. An error leaves them for the next call. Without a path it does nothing.
func (l *Ledger) Append(ctx context.Context) error {
	if l.Path == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		return fmt.Errorf("read ERASURES: %w", err)
	}
	at, id := int64(0), ""
	if !l.newest.IsZero() {
		at = l.newest.Add(-ledgerOverlap).UnixMicro()
	}
	for written := false; ; {
		rs, err := l.DB.Query(ctx, `
			SELECT kind, object_id, erased_at FROM erasures
			WHERE (erased_at, object_id) > ($1, $2) ORDER BY erased_at, object_id LIMIT $3`, at, id, ledgerBatch)
		list, err := database.Collect(rs, err, func(s database.Scanner) (e Erasure, err error) {
			return e, s.Scan(&e.Kind, &e.ID, database.IntoTime(&e.At))
		})
		if err != nil {
			return fmt.Errorf("read erasures: %w", err)
		}
		n, err := l.write(list)
		if written = written || n > 0; err != nil {
			return fmt.Errorf("write ERASURES: %w", err)
		}
		if len(list) < ledgerBatch {
			if written {
				return l.DB.EmptyLog(ctx)
			}
			return nil
		}
		last := list[len(list)-1]
		at, id = last.At.UnixMicro(), last.ID
	}
}

// open creates the file, and reads it the first time.
func (l *Ledger) open() error {
	_, err := os.Stat(l.Path)
	if err == nil && l.recent != nil {
		return nil
	}
	l.newest, l.recent = time.Time{}, map[string]time.Time{} // also if the file was moved away
	f, err := os.OpenFile(l.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = ReadLedger(l.Path, func(e Erasure) error {
		l.add(e)
		return nil
	})
	return err
}

// add notes a line of the file.
func (l *Ledger) add(e Erasure) {
	l.recent[e.ID] = e.At
	if !e.At.After(l.newest) {
		return
	}
	l.newest = e.At
	if len(l.recent) > 2*ledgerBatch {
		for id, at := range l.recent {
			if at.Before(l.newest.Add(-ledgerOverlap)) {
				delete(l.recent, id)
			}
		}
	}
}

// write appends the erasures of list that the file does not have, and syncs it. It returns how many those are.
func (l *Ledger) write(list []Erasure) (int, error) {
	var lines strings.Builder
	var added []Erasure
	for _, e := range list {
		if _, has := l.recent[e.ID]; !has {
			lines.WriteString(e.line())
			added = append(added, e)
		}
	}
	if len(added) == 0 {
		return 0, nil
	}
	f, err := os.OpenFile(l.Path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return 0, err
	}
	text := lines.String()
	last := []byte{'\n'}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			text = "\n" + text // a full disk cut off the line before
		}
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	for _, e := range added {
		l.add(e)
	}
	return len(added), nil
}

// MergeLedger appends the erasures of another file ERASURES to the one at path, but for those that it has, and returns how many they are.
func MergeLedger(path string, other io.Reader) (int, error) {
	l := &Ledger{Path: path, recent: map[string]time.Time{}}
	has := map[string]bool{}
	_, err := ReadLedger(path, func(e Erasure) error {
		has[e.ID] = true
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read ERASURES: %w", err)
	}
	var missing []Erasure
	_, err = readErasures(other, func(e Erasure) error {
		if !has[e.ID] {
			has[e.ID] = true
			missing = append(missing, e)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	n, err := l.write(missing)
	return n, fault.Wrap(err, "write ERASURES")
}
