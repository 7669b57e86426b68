package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

// Contender is one of the things compared.
type Contender struct {
	// Name stands in the result, and in errors.
	Name string

	// Handler is served by this process on a loopback port. It is the alternative to URL.
	Handler http.Handler

	// URL is the root of a server that runs already, http://host:port, and PID its process where its CPU time is wanted.
	URL string
	PID int

	// Requests returns what a worker, numbered from 0, calls for each of its requests. It is called once a round for each
	// worker, and what it returns is never called concurrently. A nil request says that the worker has no more work this round.
	// Only method, path, query, header and body of a request are used.
	Requests func(worker int) func() *http.Request

	// Answer is told of each answer, by the worker that asked; an error ends the comparison. The body is only lent.
	// Nil wants a status of 2xx.
	Answer func(worker, status int, body []byte) error

	// Before is called before each turn, the warm-up too, and is not measured: it puts back what the turn before used up.
	Before func(ctx context.Context) error

	// PerOperation is the number of requests that make one operation; 0 means 1. Signing in, for one, takes two.
	PerOperation int
}

// Options say how much is measured. The zero value is useful.
type Options struct {
	Rounds  int           // turns of each contender; 0 means 5
	Round   time.Duration // how long a turn lasts; 0 means one second
	Warmup  time.Duration // an unmeasured turn of each before the first; 0 means a tenth of Round, less than 0 none
	Workers int           // connections that ask at the same time; 0 means 8
}

func (o Options) withDefaults() Options {
	if o.Rounds == 0 {
		o.Rounds = 5
	}
	if o.Round == 0 {
		o.Round = time.Second
	}
	if o.Warmup == 0 {
		o.Warmup = o.Round / 10
	}
	if o.Workers == 0 {
		o.Workers = 8
	}
	return o
}

// Compare lets the contenders take turns and returns what each did. It ends early with an error if an answer was not what the
// contender should give, or ctx ended: a measurement of failing requests is worth nothing.
func Compare(ctx context.Context, contenders []Contender, o Options) (Result, error) {
	o = o.withDefaults()
	targets := make([]*target, 0, len(contenders))
	defer func() {
		for _, t := range targets {
			t.close()
		}
	}()
	for _, c := range contenders {
		t, err := open(c, o.Workers)
		if err != nil {
			return Result{}, fmt.Errorf("open %s: %w", c.Name, err)
		}
		targets = append(targets, t)
	}

	if o.Warmup > 0 {
		for _, t := range targets {
			if _, err := t.turn(ctx, o.Warmup); err != nil {
				return Result{}, fmt.Errorf("warm up %s: %w", t.Name, err)
			}
		}
	}
	result := Result{Options: o, Series: make([]Series, len(targets))}
	for i, t := range targets {
		result.Series[i].Name = t.Name
	}
	for round := range o.Rounds {
		for i, t := range targets {
			sample, err := t.turn(ctx, o.Round)
			if err != nil {
				return Result{}, fmt.Errorf("round %d of %s: %w", round+1, t.Name, err)
			}
			result.Series[i].Rounds = append(result.Series[i].Rounds, sample)
		}
	}
	return result, nil
}

// target is a contender with its server and its connections.
type target struct {
	Contender
	server  *http.Server
	workers []*conn
}

func open(c Contender, workers int) (*target, error) {
	t := &target{Contender: c}
	if t.PerOperation == 0 {
		t.PerOperation = 1
	}
	if (c.Handler == nil) == (c.URL == "") {
		return nil, errors.New("a contender has a handler or a URL")
	}
	var address string
	if c.Handler != nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		t.server = &http.Server{Handler: c.Handler, ReadHeaderTimeout: 10 * time.Second}
		// The label is inherited by whatever the server starts: a CPU profile can be looked at by contender (-tagfocus).
		pprof.Do(context.Background(), pprof.Labels("contender", c.Name), func(context.Context) {
			go t.server.Serve(l) //nolint:errcheck // it ends by Close
		})
		address = l.Addr().String()
	} else {
		u, err := url.Parse(c.URL)
		if err != nil {
			return nil, err
		}
		if u.Scheme != "http" || u.Port() == "" {
			return nil, fmt.Errorf("%s is not http://host:port", c.URL)
		}
		address = u.Host
	}
	for range workers {
		t.workers = append(t.workers, &conn{address: address})
	}
	return t, nil
}

func (t *target) close() {
	for _, c := range t.workers {
		c.close()
	}
	if t.server != nil {
		t.server.Close()
	}
}

// turn asks with every worker at once until the time is up or none has work left.
func (t *target) turn(ctx context.Context, d time.Duration) (Sample, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		sample Sample
		failed error
	)
	if t.Before != nil {
		if err := t.Before(ctx); err != nil {
			return Sample{}, err
		}
	}
	runtime.GC() // so that nobody pays for what the one before left
	before, err := t.cpu()
	if err != nil {
		return Sample{}, err
	}
	start := time.Now()
	for i := range t.workers {
		wg.Go(func() {
			latencies, err := t.work(ctx, i, start.Add(d))
			mu.Lock()
			defer mu.Unlock()
			sample.latencies = append(sample.latencies, latencies...)
			if err != nil && failed == nil {
				failed = err
				cancel()
			}
		})
	}
	wg.Wait()
	sample.Elapsed = time.Since(start)
	if failed != nil {
		return Sample{}, failed
	}
	after, err := t.cpu()
	if err != nil {
		return Sample{}, err
	}
	if len(sample.latencies) == 0 {
		return Sample{}, errors.New("no operation was completed")
	}
	sample.CPU = after - before
	sample.summarise()
	return sample, nil
}

// cpu is the CPU time that the contender's process has used, 0 where it has none of its own.
func (t *target) cpu() (time.Duration, error) {
	if t.PID == 0 {
		return 0, nil
	}
	return CPUTime(t.PID)
}

// work is one worker's share of a turn: the time that each completed operation took.
func (t *target) work(ctx context.Context, worker int, end time.Time) ([]time.Duration, error) {
	var (
		next      = t.Requests(worker)
		conn      = t.workers[worker]
		latencies []time.Duration
	)
	for time.Now().Before(end) {
		var took time.Duration
		for range t.PerOperation {
			if err := ctx.Err(); err != nil {
				return latencies, err
			}
			req := next()
			if req == nil {
				return latencies, nil
			}
			// Making the request and looking at the answer is the client's time, not the operation's.
			asked := time.Now()
			status, body, err := conn.do(req)
			took += time.Since(asked)
			if err != nil {
				return latencies, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
			}
			if err := t.answered(worker, status, body); err != nil {
				return latencies, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
			}
		}
		latencies = append(latencies, took)
	}
	return latencies, nil
}

func (t *target) answered(worker, status int, body []byte) error {
	if t.Answer != nil {
		return t.Answer(worker, status, body)
	}
	if status < 200 || status > 299 {
		return fmt.Errorf("answered %d: %.500s", status, body)
	}
	return nil
}
