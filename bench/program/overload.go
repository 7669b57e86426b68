package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/bench"
)

const (
	// capacityWorkers send requests one after the other to find the capacity.
	capacityWorkers = 64
	// overloadFactor is the rate of the overload in capacities.
	overloadFactor = 3
	// overloadConnections and overloadCalls limit the client.
	overloadConnections = 5000
	overloadCalls       = 20_000
	// A service has recovered when recoveryRequests in a row each take at most recoveryLatency.
	recoveryRequests = 20
	recoveryLatency  = 100 * time.Millisecond
	// clientTimeout is how long the client waits for a response.
	clientTimeout = 10 * time.Second
)

// Overload is how a service behaves while three times its capacity arrives. Three of four requests read an availability, and one
// adds a player.
type Overload struct {
	Capacity float64 // requests a second that capacityWorkers complete
	Offered  float64 // requests a second that arrive
	Served   float64 // requests a second that are served meanwhile. Higher is better.
	Refused  float64 // requests a second with the status 503
	Failed   int     // requests with another 5xx status, or without a response
	// P50 and P99 are the latencies of served requests from their arrival. Lower is better.
	P50, P99 time.Duration
	// Recovery is the time from the end of the overload to normal latencies.
	Recovery time.Duration
	// Memory is the largest resident memory of the process in bytes.
	Memory int64
	// AtCapacity and InOverload are the processors that were busy. What the client needs, the service does not have.
	AtCapacity, InOverload Processors
}

// Processors are how many processors the service and its client kept busy.
type Processors struct{ Service, Client float64 }

// String returns one line for people.
func (o Overload) String() string {
	return fmt.Sprintf("capacity %.0f/s, offered %.0f/s, served %.0f/s (%.0f %% of the capacity), refused %.0f/s, failed %d, p50 %s, p99 %s, recovered after %s, memory %.0f MiB, processors of service and client %.2f and %.2f at capacity, %.2f and %.2f in the overload",
		o.Capacity, o.Offered, o.Served, 100*o.Served/o.Capacity, o.Refused, o.Failed, o.P50.Round(time.Millisecond), o.P99.Round(time.Millisecond),
		o.Recovery.Round(time.Millisecond), float64(o.Memory)/(1<<20), o.AtCapacity.Service, o.AtCapacity.Client, o.InOverload.Service, o.InOverload.Client)
}

// MeasureOverload measures a program: its capacity for a time, and then the overload for the same time.
func MeasureOverload(ctx context.Context, p Program, engine string, duration time.Duration) (Overload, error) {
	s, err := run(ctx, p, engine, capacityWorkers)
	if err != nil {
		return Overload{}, err
	}
	defer s.close()
	var o Overload
	o.AtCapacity, err = s.processors(func() error {
		result, err := bench.Compare(ctx, []bench.Contender{{Name: p.Name, URL: s.server.URL(), Requests: s.eachWorker(s.mixed)}},
			bench.Options{Rounds: 1, Round: duration, Warmup: duration / 5, Workers: capacityWorkers})
		if err == nil {
			o.Capacity = result.Series[0].Throughput()
		}
		return err
	})
	if err != nil {
		return o, err
	}
	c := newOverloadClient(s.server.URL())
	o.InOverload, err = s.processors(func() error { return c.offer(ctx, s, overloadFactor*o.Capacity, duration) })
	if err != nil {
		return o, err
	}
	end := time.Now()
	if err := c.awaitRecovery(ctx, s); err != nil {
		return o, err
	}
	o.Recovery = time.Since(end)
	c.calls.Wait()
	c.summarise(&o, duration)
	_, o.Memory, err = bench.Memory(s.process.PID())
	return o, err
}

// processors returns the processors that were busy while a function ran.
func (s *runningServer) processors(during func() error) (Processors, error) {
	start := time.Now()
	service, errService := bench.CPUTime(s.process.PID())
	client, errClient := bench.CPUTime(os.Getpid())
	if err := errors.Join(errService, errClient, during()); err != nil {
		return Processors{}, err
	}
	serviceEnd, errService := bench.CPUTime(s.process.PID())
	clientEnd, errClient := bench.CPUTime(os.Getpid())
	took := time.Since(start).Seconds()
	return Processors{(serviceEnd - service).Seconds() / took, (clientEnd - client).Seconds() / took}, errors.Join(errService, errClient)
}

// mixed is three reads and one new player in turn.
func (s *runningServer) mixed(a *accounts) func() *http.Request {
	read, add, n := s.availability(a), s.addPlayer(a), 0
	return func() *http.Request {
		if n++; n%4 == 0 {
			return add()
		}
		return read()
	}
}

// overloadClient sends requests at a rate and does not wait for earlier responses.
type overloadClient struct {
	base  *url.URL
	http  *http.Client
	calls sync.WaitGroup

	mu              sync.Mutex
	open            int
	offered         int
	served          []time.Duration
	refused, failed int
}

func newOverloadClient(base string) *overloadClient {
	u, err := url.Parse(base)
	if err != nil {
		panic(err)
	}
	return &overloadClient{base: u, http: &http.Client{
		Timeout:   clientTimeout,
		Transport: &http.Transport{MaxConnsPerHost: overloadConnections, MaxIdleConnsPerHost: overloadConnections, DisableCompression: true},
	}}
}

// offer sends rate requests a second for a time. Beyond overloadCalls a request fails at once.
func (c *overloadClient) offer(ctx context.Context, s *runningServer, rate float64, duration time.Duration) error {
	next := make([]func() *http.Request, len(s.workers))
	for i, a := range s.workers {
		next[i] = s.mixed(a)
	}
	start := time.Now()
	for time.Since(start) < duration {
		for due := int(rate * time.Since(start).Seconds()); c.offered < due; c.offered++ {
			c.begin(next[c.offered%len(next)](), start.Add(time.Duration(float64(c.offered)/rate*float64(time.Second))))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// begin sends a request that arrived at a time.
func (c *overloadClient) begin(r *http.Request, arrived time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == overloadCalls {
		c.failed++
		return
	}
	c.open++
	c.calls.Go(func() {
		status := c.do(r)
		took := time.Since(arrived)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
		switch {
		case status == http.StatusServiceUnavailable:
			c.refused++
		case status == 0 || status >= 500:
			c.failed++
		default:
			c.served = append(c.served, took)
		}
	})
}

// do returns the status of the response, 0 without one.
func (c *overloadClient) do(r *http.Request) int {
	r.URL.Scheme, r.URL.Host = c.base.Scheme, c.base.Host
	res, err := c.http.Do(r)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0
	}
	return res.StatusCode
}

// awaitRecovery reads until the latencies are normal, at most for a minute.
func (c *overloadClient) awaitRecovery(ctx context.Context, s *runningServer) error {
	read := s.availability(s.workers[0])
	for deadline, inRow := time.Now().Add(time.Minute), 0; inRow < recoveryRequests; {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return errors.Join(errors.New("the service did not recover within a minute"), ctx.Err())
		}
		start := time.Now()
		if status := c.do(read()); status == http.StatusOK && time.Since(start) <= recoveryLatency {
			inRow++
		} else {
			inRow = 0
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

func (c *overloadClient) summarise(o *Overload, duration time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	seconds := duration.Seconds()
	o.Offered, o.Served, o.Refused, o.Failed = float64(c.offered)/seconds, float64(len(c.served))/seconds, float64(c.refused)/seconds, c.failed
	slices.Sort(c.served)
	if n := len(c.served); n > 0 {
		o.P50, o.P99 = c.served[n/2], c.served[n*99/100]
	}
}
