package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync"
)

// maxBatch bounds how many transactions share one commit, and so how long the
// first of them waits for the last.
const maxBatch = 64

// writer is the one that writes to SQLite. The commit is the cost, so whatever
// waits while one is made shares the next: one BEGIN IMMEDIATE, a savepoint for
// each transaction, one COMMIT, and only then are they answered.
//
// A transaction's function runs on its caller's own goroutine, in turn. A panic
// there unwinds the caller and nobody else; the writer sees only that the turn
// was not finished, and undoes it.
type writer struct {
	pool *sql.DB
	jobs chan *job
	done chan struct{}
	once sync.Once

	// Only the loop touches these. Both are nil after a failure left the
	// connection in doubt; the next batch opens another.
	conn *sql.Conn
	stmt *prepared
}

// job is one waiting transaction.
type job struct {
	turn chan handle  // its function may run now
	out  chan outcome // it has run
	end  chan error   // committed, or why not
	kept bool
}

// outcome says what to do with the work of a turn.
type outcome int

const (
	undo     outcome = iota
	keep             // as part of the commit
	vanished         // panicked: undo, and nobody waits for an answer
)

func startWriter(t target) (*writer, error) {
	pool, err := t.openWriter()
	if err != nil {
		return nil, err
	}
	w := &writer{pool: pool, jobs: make(chan *job), done: make(chan struct{})}
	if err := w.connect(); err != nil {
		_ = pool.Close()
		return nil, err
	}
	go w.loop()
	return w, nil
}

// close waits for the batch under way and closes the connection. The caller has
// seen to it that nobody calls do any more.
func (w *writer) close() (err error) {
	w.once.Do(func() {
		close(w.jobs)
		<-w.done
		w.drop()
		err = w.pool.Close()
	})
	return err
}

// do has fn run in a transaction. Until the writer takes it, the end of ctx or
// own ends the wait; from then on the caller stays for the answer, because fn
// writes to what the caller holds.
func (w *writer) do(ctx, own context.Context, t *Tx, fn func(*Tx) error) (committed bool, err error) {
	j := &job{turn: make(chan handle, 1), out: make(chan outcome, 1), end: make(chan error, 1)}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return false, ctx.Err()
	case <-own.Done():
		return false, own.Err()
	}
	var answer error
	for {
		select {
		case on := <-j.turn:
			answer = j.play(context.WithoutCancel(own), t, on, fn)
		case failure := <-j.end:
			if failure != nil {
				return false, failure
			}
			return j.kept, answer
		}
	}
}

// play takes the job's turn, and reports it even if fn does not return.
func (j *job) play(ctx context.Context, t *Tx, on handle, fn func(*Tx) error) error {
	out := vanished
	defer func() { j.out <- out }()
	t.on = on
	kept, err := t.run(ctx, fn)
	out = undo
	if kept {
		out = keep
	}
	return err
}

func (w *writer) loop() {
	defer close(w.done)
	for first := range w.jobs {
		batch := w.gather(first)
		if left := w.together(batch); left != nil {
			for _, j := range left {
				w.alone(j)
			}
		}
	}
}

// gather takes whoever is waiting, up to maxBatch.
func (w *writer) gather(first *job) []*job {
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

// alone runs one job as a transaction of its own, without a savepoint's cost.
func (w *writer) alone(j *job) {
	j.kept = false // of a batch whose commit failed
	if err := w.begin(); err != nil {
		j.end <- err
		return
	}
	switch w.ask(j) {
	case keep:
		if err := w.exec(`COMMIT`); err != nil {
			w.rollback()
			j.end <- &commitError{err}
			return
		}
		j.kept = true
	default:
		w.rollback()
	}
	j.end <- nil
}

// together runs a batch in one transaction and answers it. Where the whole was
// undone through the fault of one, or the commit failed, it returns those still
// to be served, each alone: so each hears of its own failure and no other's.
func (w *writer) together(batch []*job) (left []*job) {
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
		out, err := w.turn(j)
		if out != vanished {
			waiting = append(waiting, j)
		}
		j.kept = out == keep
		if err != nil {
			w.rollback()
			return append(waiting, batch[i+1:]...)
		}
	}
	if err := w.exec(`COMMIT`); err != nil {
		w.rollback()
		return waiting
	}
	for _, j := range waiting {
		j.end <- nil
	}
	return nil
}

// turn runs one job of a batch inside a savepoint. An error means that the whole
// transaction is gone: SQLite undoes it by itself on a full disk, for one.
func (w *writer) turn(j *job) (outcome, error) {
	if err := w.exec(`SAVEPOINT one`); err != nil {
		return undo, err
	}
	out := w.ask(j)
	if out != keep {
		if err := w.exec(`ROLLBACK TO one`); err != nil {
			return out, err
		}
	}
	return out, w.exec(`RELEASE one`)
}

// ask gives the job its turn and waits until it has had it.
func (w *writer) ask(j *job) outcome {
	j.turn <- w.stmt
	return <-j.out
}

// begin starts a transaction, on a fresh connection where the last is in doubt.
func (w *writer) begin() error {
	if w.conn == nil {
		if err := w.connect(); err != nil {
			return err
		}
	}
	err := w.exec(`BEGIN IMMEDIATE`)
	if err != nil && !mayRepeat(err) {
		w.drop()
	}
	return err
}

// rollback undoes the transaction. SQLite may have done so already, on a full disk
// for one, and then answers that there is none, which is as good.
func (w *writer) rollback() {
	if err := w.exec(`ROLLBACK`); err != nil && !noTransaction(err) {
		w.drop()
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

// drop closes the connection for good rather than give it back to the pool.
func (w *writer) drop() {
	if w.conn == nil {
		return
	}
	w.stmt.close()
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = w.conn.Close()
	w.conn, w.stmt = nil, nil
}
