package roster

import (
	"context"
	"sync"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// The most files that wait or are read, of a coach and of the process.
const (
	maxFilesOfCoach = 16
	maxFiles        = 256
)

// readers are the files that are read after Create has returned.
type readers struct {
	mu      sync.Mutex
	ctx     context.Context // ends with Stop
	cancel  context.CancelFunc
	running map[*reader]string // their imports; "" before the import is kept
	wait    sync.WaitGroup
}

// student identifies the student of a row: the folded name and the birth date.
type student struct{ name, birthDate string }

// reader reads the rows of one file.
type reader struct {
	by      actor.Actor
	i       *Import
	sheet   *sheet
	file    File
	options Options
	batches batchIDs
	// students are the rows of the students in the file so far.
	students map[student]int
	done     chan struct{}
}

// Stop ends the reading of all files and waits for that. Their imports have failed.
func (s *Service) Stop() {
	s.readers.mu.Lock()
	s.readers.init()
	s.readers.cancel()
	s.readers.mu.Unlock()
	s.readers.wait.Wait()
}

// init makes the context; the caller holds the lock.
func (rs *readers) init() {
	if rs.ctx == nil {
		rs.ctx, rs.cancel = context.WithCancel(context.Background())
		rs.running = map[*reader]string{}
	}
}

func errBusy() *fault.Error {
	return fault.Overloaded("Many files are being read at the moment. Send yours again in a few seconds.")
}

// admit counts a file until remove. It returns an error if too many wait.
func (rs *readers) admit(r *reader) error {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.init()
	ofCoach := 0
	for other := range rs.running {
		if other.by.AccountID == r.by.AccountID {
			ofCoach++
		}
	}
	if len(rs.running) >= maxFiles || ofCoach >= maxFilesOfCoach || rs.ctx.Err() != nil {
		return errBusy()
	}
	rs.running[r] = ""
	rs.wait.Add(1)
	return nil
}

// start names the import of r.
func (rs *readers) start(r *reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.running[r] = r.i.ID
}

// done returns what is closed when this process has read the file of an import; nil if it does not.
func (rs *readers) done(id string) <-chan struct{} {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for r, of := range rs.running {
		if of == id {
			return r.done
		}
	}
	return nil
}

func (rs *readers) remove(r *reader) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	delete(rs.running, r)
	close(r.done)
	rs.wait.Done()
}
