package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"time"
)

// Contender is one of the servers that Compare measures.
type Contender struct {
	// Name appears in the result and in errors.
	Name string

	// URL is the root of a running server, http://host:port. PID is its process; 0 means that its CPU time is not measured.
	URL string
	PID int

	// Requests returns the function that makes the requests of one worker; workers are numbered from 0. Compare calls it once
	// for each worker and turn, and never calls the returned function concurrently. A nil request ends the worker's turn.
	// A request needs no scheme and no host: Compare adds them for the contender.
	Requests func(worker int) func() *http.Request

	// Response, if it is not nil, checks each response of status 2xx; an error ends the comparison, as another status does. The
	// body is valid until Response returns.
	Response func(worker int, body []byte) error

	// Before runs before each turn, the warm-up included, and is not measured. It restores the data that a turn changed.
	Before func(ctx context.Context) error

	// PerOperation is the number of requests of one operation; 0 means 1. A sign-in takes two.
	PerOperation int
}

// Options set the length of a measurement.
type Options struct {
	Rounds  int           // turns of each contender
	Round   time.Duration // how long a turn lasts
	Warmup  time.Duration // an unmeasured turn of each before the first; 0 means none
	Workers int           // concurrent connections
}

// Compare measures the contenders in turns (A, B, C, A, B, C, …) and returns the samples of each. The first response that a
// contender's Response function refuses ends the comparison with an error, and so does the end of ctx.
func Compare(ctx context.Context, contenders []Contender, o Options) (Result, error) {
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

// responseTimeout ends a comparison whose server does not respond.
const responseTimeout = 30 * time.Second

// target is a contender with its client.
type target struct {
	Contender
	base    *url.URL
	client  *http.Client
	workers int
}

func open(c Contender, workers int) (*target, error) {
	t := &target{Contender: c, workers: workers}
	if t.PerOperation == 0 {
		t.PerOperation = 1
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" || u.Port() == "" {
		return nil, fmt.Errorf("%q is not http://host:port", c.URL)
	}
	t.base = u
	t.client = &http.Client{
		Timeout: responseTimeout,
		Transport: &http.Transport{
			MaxConnsPerHost:     workers,
			MaxIdleConnsPerHost: workers,
			DisableCompression:  true,
		},
	}
	return t, nil
}

func (t *target) close() { t.client.CloseIdleConnections() }

// turn runs all workers until the time is up or none has work left.
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
	runtime.GC() // so that this turn does not pay for the garbage of the turn before
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

// cpu returns the CPU time that the contender's process has used, 0 without a PID.
func (t *target) cpu() (time.Duration, error) {
	if t.PID == 0 {
		return 0, nil
	}
	return CPUTime(t.PID)
}

// work runs one worker of a turn and returns the latency of each completed operation.
func (t *target) work(ctx context.Context, worker int, end time.Time) ([]time.Duration, error) {
	var (
		next      = t.Requests(worker)
		body      bytes.Buffer
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
			// The time to make the request and to check the response is not part of the latency.
			start := time.Now()
			status, err := t.do(ctx, req, &body)
			took += time.Since(start)
			if err == nil {
				err = t.check(worker, status, body.Bytes())
			}
			if err != nil {
				return latencies, fmt.Errorf("%s %s: %w", req.Method, req.URL.Path, err)
			}
		}
		latencies = append(latencies, took)
	}
	return latencies, nil
}

// do sends req to the contender and reads the whole response into body.
func (t *target) do(ctx context.Context, req *http.Request, body *bytes.Buffer) (status int, err error) {
	sent := req.WithContext(ctx)
	u := *req.URL
	u.Scheme, u.Host = t.base.Scheme, t.base.Host
	sent.URL = &u
	res, err := t.client.Do(sent)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body.Reset()
	_, err = body.ReadFrom(res.Body)
	return res.StatusCode, err
}

func (t *target) check(worker, status int, body []byte) error {
	if status < 200 || status > 299 {
		return fmt.Errorf("status %d: %.500s", status, body)
	}
	if t.Response == nil {
		return nil
	}
	return t.Response(worker, body)
}
