// Package smstest is an SMS gateway on a real socket for tests and for trying
// things out. It holds callers to the contract (section 6), remembers what it
// accepted, and can be told to behave as badly as real ones do.
package smstest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Received is a message as it came over the wire.
type Received struct {
	ID   string `json:"id"`
	To   string `json:"to"`
	Text string `json:"text"`
	Kind string `json:"kind"`

	// Header is the request's.
	Header http.Header `json:"-"`
}

// Behaviour is how the gateway answers; the zero value accepts everything.
type Behaviour struct {
	// Status is answered instead of 202.
	Status int
	// RetryAfter and Location are those headers of the answer.
	RetryAfter, Location string
	// Delay is waited before answering.
	Delay time.Duration
	// Deaf takes the request and never answers.
	Deaf bool
}

// Gateway listens until it is closed. Its methods are safe for concurrent use.
type Gateway struct {
	// Notice is called with each message that is accepted, where it is not nil. It
	// is set before the first message.
	Notice func(Received)

	listener net.Listener
	server   *http.Server
	done     chan struct{}

	mu        sync.Mutex
	behaviour Behaviour
	attempts  int
	connected int
	accepted  []Received
	faults    []string
	changed   chan struct{} // closed at each change, then replaced
}

// New starts a gateway for a test, which fails if anything but the contract's
// requests arrives.
func New(tb testing.TB) *Gateway {
	tb.Helper()
	g, err := Start("127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := g.Close(); err != nil {
			tb.Errorf("close the gateway: %v", err)
		}
		for _, fault := range g.Faults() {
			tb.Errorf("the gateway got %s", fault)
		}
	})
	return g
}

// Start starts a gateway that listens on addr.
func Start(addr string) (*Gateway, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	g := &Gateway{listener: listener, done: make(chan struct{}), changed: make(chan struct{})}
	g.server = &http.Server{Handler: http.HandlerFunc(g.serve), ReadHeaderTimeout: 10 * time.Second, ConnState: g.connection}
	go func() { _ = g.server.Serve(listener) }()
	return g, nil
}

// Close ends it at once, whatever is under way.
func (g *Gateway) Close() error {
	close(g.done)
	return g.server.Close()
}

// URL is where messages are posted.
func (g *Gateway) URL() string { return "http://" + g.listener.Addr().String() + "/send" }

// Spec is what TOUCHLINE_SMS is set to.
func (g *Gateway) Spec() string { return "http:" + g.URL() }

// Behave changes how it answers from the next request on. Requests that a deaf
// gateway holds are let go without an answer.
func (g *Gateway) Behave(b Behaviour) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.behaviour = b
	g.change()
}

// Accepted returns what it accepted, oldest first, repetitions among it.
func (g *Gateway) Accepted() []Received {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.accepted)
}

// Attempts is how many requests came, accepted or not.
func (g *Gateway) Attempts() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.attempts
}

// Connections is how many connections were made.
func (g *Gateway) Connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.connected
}

// Faults are the requests that were not as the contract says, without numbers and
// texts.
func (g *Gateway) Faults() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.faults)
}

// Await returns the first accepted message that match is true of, waiting for it
// until the context ends.
func (g *Gateway) Await(ctx context.Context, match func(Received) bool) (Received, error) {
	for {
		g.mu.Lock()
		i := slices.IndexFunc(g.accepted, match)
		accepted, changed := g.accepted, g.changed
		g.mu.Unlock()
		if i >= 0 {
			return accepted[i], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Received{}, fmt.Errorf("no such message among %d: %w", len(accepted), ctx.Err())
		}
	}
}

// change wakes whoever waits; g.mu is held.
func (g *Gateway) change() {
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *Gateway) connection(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.connected++
	}
}

func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	m, fault := read(r)
	g.mu.Lock()
	g.attempts++
	b := g.behaviour
	if fault != "" {
		g.faults = append(g.faults, fault)
	}
	g.change()
	changed := g.changed
	g.mu.Unlock()

	if fault != "" {
		http.Error(w, fault, http.StatusBadRequest)
		return
	}
	if b.Deaf {
		g.hold(r, changed)
		panic(http.ErrAbortHandler) // the connection closes without an answer
	}
	select {
	case <-time.After(b.Delay):
	case <-r.Context().Done():
		return
	case <-g.done:
		return
	}
	g.answer(w, b, m)
}

// hold waits until the caller leaves or the gateway is deaf no more.
func (g *Gateway) hold(r *http.Request, changed chan struct{}) {
	for {
		select {
		case <-changed:
			g.mu.Lock()
			deaf := g.behaviour.Deaf
			changed = g.changed
			g.mu.Unlock()
			if !deaf {
				return
			}
		case <-r.Context().Done():
			return
		case <-g.done:
			return
		}
	}
}

func (g *Gateway) answer(w http.ResponseWriter, b Behaviour, m Received) {
	status := b.Status
	if status == 0 {
		status = http.StatusAccepted
	}
	if b.RetryAfter != "" {
		w.Header().Set("Retry-After", b.RetryAfter)
	}
	if b.Location != "" {
		w.Header().Set("Location", b.Location)
	}
	if status/100 == 2 {
		g.mu.Lock()
		g.accepted = append(g.accepted, m)
		g.change()
		g.mu.Unlock()
		if g.Notice != nil {
			g.Notice(m)
		}
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, strconv.Itoa(status))
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// read takes a request apart and says what is wrong with it.
func read(r *http.Request) (m Received, fault string) {
	m.Header = r.Header.Clone()
	if r.Method != http.MethodPost {
		return m, "a " + r.Method
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return m, fmt.Sprintf("the content type %q", got)
	}
	decoder := json.NewDecoder(io.LimitReader(r.Body, 64<<10))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&m); {
	case err != nil:
		return m, "what is no message in JSON"
	case m.ID == "":
		return m, "no id"
	case !e164.MatchString(m.To):
		return m, "a number that is not in E.164"
	case m.Text == "":
		return m, "no text"
	case m.Kind != "otp" && m.Kind != "message":
		return m, fmt.Sprintf("the kind %q", m.Kind)
	}
	// Read to the end: only then does the server notice that a caller has left.
	_, _ = io.Copy(io.Discard, r.Body)
	return m, ""
}
