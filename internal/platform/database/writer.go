package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"time"
)

// maxBatch limits how many transactions share one commit, and so how long the first of
// them waits for the last.
const maxBatch = 64

// writer runs the writing transactions of SQLite, which allows one writer. The commit is
// the cost, so transactions that wait while another batch commits share the next commit:
// one BEGIN IMMEDIATE, a savepoint for each transaction, one COMMIT. The callers get their
// results after the COMMIT.
//
// The function of a transaction runs on its caller's goroutine. A panic there unwinds only
// that caller; the writer rolls the transaction back.
type writer struct {
	pool *sql.DB
	jobs chan *job
	done chan struct{}
	waits
	once sync.Once

	// Only the loop uses these. Both are nil after a failure left the connection in an
	// unknown state; the next batch opens another one.
	conn *sql.Conn
	stmt *prepared
}

// job is one waiting transaction.
type job struct {
	start   chan handle  // its function may run now
	outcome chan outcome // its function has run
	end     chan error   // nil after the commit or rollback that its outcome asked for
}

// outcome says how a transaction ends.
type outcome int

const (
	rollback outcome = iota
	commit
	panicked // roll back; the caller no longer waits
	damaged  // roll back and open another connection
)

func startWriter(t target) (*writer, error) {
	pool, err := t.openWriter()
	if err != nil {
		return nil, err
	}
	w := &writer{pool: pool, jobs: make(chan *job), done: make(chan struct{})}
	if err := w.connectFirst(); err != nil {
		_ = pool.Close()
		return nil, err
	}
	go w.loop()
	return w, nil
}

// connectFirst opens the first connection, for at most busyTimeout. If several processes open a
// new file, journal_mode(WAL) of one fails at once: SQLite does not wait to upgrade a lock.
func (w *writer) connectFirst() error {
	start := time.Now()
	for attempt := 1; ; attempt++ {
		err := w.connect()
		if err == nil || !mayRetry(err) || time.Since(start) > busyTimeout || !backoff(context.Background(), attempt) {
			return err
		}
	}
}

// close waits for the running batch and closes the connection. do must not be called any
// more.
func (w *writer) close() (err error) {
	w.once.Do(func() {
		close(w.jobs)
		<-w.done
		w.disconnect()
		err = w.pool.Close()
	})
	return err
}

// do runs fn in a transaction. The end of ctx or own ends the wait only until the writer
// has taken the job: after that, fn writes to variables of the caller.
func (w *writer) do(ctx, own context.Context, t *Tx, fn func(*Tx) error) error {
	j := &job{start: make(chan handle, 1), outcome: make(chan outcome, 1), end: make(chan error, 1)}
	select {
	case w.jobs <- j:
	default:
		start := time.Now()
		select {
		case w.jobs <- j:
			w.add(time.Since(start))
		case <-ctx.Done():
			return ctx.Err()
		case <-own.Done():
			return own.Err()
		}
	}
	var result error
	for {
		select {
		case on := <-j.start:
			result = j.run(context.WithoutCancel(own), t, on, fn)
		case failure := <-j.end:
			if failure != nil {
				return failure
			}
			return result
		}
	}
}

// run calls fn and reports its outcome, even if fn does not return.
func (j *job) run(ctx context.Context, t *Tx, on handle, fn func(*Tx) error) error {
	out := panicked
	defer func() { j.outcome <- out }()
	t.on = on
	err := t.run(ctx, fn)
	switch {
	case err == nil:
		out = commit
	case isDamaged(t.failed):
		out = damaged
	default:
		out = rollback
	}
	return err
}

func (w *writer) loop() {
	defer close(w.done)
	for first := range w.jobs {
		w.busy.Store(true)
		for _, j := range w.runBatch(w.collectBatch(first)) {
			w.runAlone(j)
		}
		w.busy.Store(false)
	}
}

// collectBatch takes the jobs that wait, up to maxBatch.
func (w *writer) collectBatch(first *job) []*job {
	batch := []*job{first}
	for len(batch) < maxBatch {
		select {
		case j, ok := <-w.jobs:
			if !ok {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// runAlone runs one job in a transaction without a savepoint.
func (w *writer) runAlone(j *job) {
	if err := w.begin(); err != nil {
		j.end <- err
		return
	}
	if out := w.runFunc(j); out != commit {
		w.rollback()
		if out == damaged {
			w.disconnect()
		}
		j.end <- nil
		return
	}
	if err := w.exec(`COMMIT`); err != nil {
		w.abandon(err)
		j.end <- &commitError{err}
		return
	}
	j.end <- nil
}

// runBatch runs several jobs in one transaction. It returns the jobs that must run alone:
// a single job; and all jobs of a batch that SQLite rolled back or failed to commit, so
// that each caller gets its own error.
func (w *writer) runBatch(batch []*job) (remaining []*job) {
	if len(batch) == 1 {
		return batch
	}
	if err := w.begin(); err != nil {
		for _, j := range batch {
			j.end <- err
		}
		return nil
	}
	waiting := make([]*job, 0, len(batch))
	for i, j := range batch {
		out, err := w.runInSavepoint(j)
		if out != panicked {
			waiting = append(waiting, j)
		}
		if err != nil {
			w.abandon(err)
			return append(waiting, batch[i+1:]...)
		}
	}
	if err := w.exec(`COMMIT`); err != nil {
		w.abandon(err)
		return waiting
	}
	for _, j := range waiting {
		j.end <- nil
	}
	return nil
}

// runInSavepoint runs one job of a batch. An error means that the whole transaction is
// rolled back, as SQLite does by itself if the disk is full.
func (w *writer) runInSavepoint(j *job) (outcome, error) {
	if err := w.exec(`SAVEPOINT one`); err != nil {
		return rollback, err
	}
	out := w.runFunc(j)
	if out == damaged {
		return out, driver.ErrBadConn
	}
	if out != commit {
		if err := w.exec(`ROLLBACK TO one`); err != nil {
			return out, err
		}
	}
	return out, w.exec(`RELEASE one`)
}

// runFunc lets the caller's goroutine run the function of a job, and waits for it.
func (w *writer) runFunc(j *job) outcome {
	j.start <- w.stmt
	return <-j.outcome
}

// begin starts a transaction. It opens a connection if there is none.
func (w *writer) begin() error {
	if w.conn == nil {
		if err := w.connect(); err != nil {
			return err
		}
	}
	err := w.exec(`BEGIN IMMEDIATE`)
	if err != nil && !mayRetry(err) {
		w.disconnect()
	}
	return err
}

// rollback ends the transaction. SQLite may have rolled it back already, for example
// because the disk is full; then ROLLBACK fails, which is harmless.
func (w *writer) rollback() {
	if err := w.exec(`ROLLBACK`); err != nil && !isNoTransaction(err) {
		w.disconnect()
	}
}

// abandon rolls back after err, and closes a damaged connection.
func (w *writer) abandon(err error) {
	w.rollback()
	if isDamaged(err) || errors.Is(err, driver.ErrBadConn) {
		w.disconnect()
	}
}

func (w *writer) exec(query string) error {
	_, err := w.stmt.ExecContext(context.Background(), query)
	return err
}

func (w *writer) connect() error {
	conn, err := w.pool.Conn(context.Background())
	if err != nil {
		return err
	}
	w.conn, w.stmt = conn, newPrepared(conn)
	return nil
}

// disconnect closes the connection instead of returning it to the pool.
func (w *writer) disconnect() {
	if w.conn == nil {
		return
	}
	w.stmt.close()
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = w.conn.Close()
	w.conn, w.stmt = nil, nil
}
