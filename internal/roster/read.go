package roster

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// readBatch is the number of rows that are held in memory. A file of at most so many rows is
	// read before Create returns.
	readBatch = 500
	// readingLease is how long an import counts as being read after its process was heard of last.
	// The process is heard of each readingBeat while its file waits, and with each batch.
	readingLease = time.Minute
	readingBeat  = 20 * time.Second
	// awaitBeat is how often Await looks at an import.
	awaitBeat = 500 * time.Millisecond
	// failTimeout limits the last write about a file that is not read to its end.
	failTimeout = 5 * time.Second
)

// read reads the rows of a long file, a batch at a time, when its turn comes.
func (s *Service) read(r *reader) {
	defer s.readers.remove(r)
	defer func() { _ = r.file.Close() }() // it was only read
	ctx := s.readers.ctx
	err := s.enterLine(ctx, r.i)
	if err == nil {
		err = s.addAllRows(ctx, r)
		s.line.leave()
	}
	if err == nil || slices.Contains([]fault.Kind{fault.NotFound, fault.Unauthenticated}, fault.KindOf(err)) {
		return // also if the coach has newer imports, or has closed the account
	}
	s.Log.Warn("read a file of players: the coach has to send it again", "import_id", r.i.ID, "error", err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failTimeout)
	defer cancel()
	_ = s.addRows(ctx, r.i, nil, s.Now()) // else it counts as failed after readingLease
}

// enterLine waits for the turn of a file, and meanwhile says that this process is running.
func (s *Service) enterLine(ctx context.Context, i *Import) error {
	entered := make(chan error, 1)
	go func() { entered <- s.line.enter(ctx, &s.line.reads) }()
	beat := time.NewTicker(readingBeat)
	defer beat.Stop()
	for {
		select {
		case err := <-entered:
			return err
		case <-beat.C:
			_ = s.addRows(ctx, i, nil, s.Now().Add(readingLease)) // the next beat tries again
		}
	}
}

func (s *Service) addAllRows(ctx context.Context, r *reader) error {
	rows := make([]ImportRow, 0, readBatch)
	added := 0
	return r.sheet.each(func(row Row) error {
		rows = append(rows, s.importRow(r, row))
		added++
		var until time.Time
		if added < r.sheet.rows {
			if len(rows) < readBatch {
				return nil
			}
			until = s.Now().Add(readingLease)
		}
		err := s.addRows(ctx, r.i, rows, until)
		rows = rows[:0]
		return err
	})
}

// Await returns an import of the calling coach when its file was read, or as it is after limit.
func (s *Service) Await(ctx context.Context, by actor.Actor, id string, limit time.Duration) (*Import, error) {
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		done := s.readers.done(id)
		i, err := s.Import(ctx, by, id)
		if err != nil || i.State() != Reading {
			return i, err
		}
		select {
		case <-done:
		case <-time.After(awaitBeat): // another process may read it
		case <-end.C:
			return i, nil
		}
	}
}
