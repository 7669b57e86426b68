// Package smstest has SMS gateways on real sockets, for tests. They reject requests that
// differ from the documented form (docs/operating.md, section SMS gateway), record the
// messages that they accept, and can simulate failures of real gateways.
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

// Received is an accepted message.
type Received struct {
	ID   string `json:"id"`
	To   string `json:"to"`
	Text string `json:"text"`
	Kind string `json:"kind"`

	// Header is the request's header.
	Header http.Header `json:"-"`
}

// Behaviour is how the gateway responds. The zero value accepts every message.
type Behaviour struct {
	// Status is the response status; 0 means 202.
	Status int
	// RetryAfter and Location are response headers.
	RetryAfter, Location string
	// Delay is the time before the response.
	Delay time.Duration
	// Hold, if set, delays the response until it is closed.
	Hold <-chan struct{}
	// Unresponsive makes the gateway read the request and send no response.
	Unresponsive bool
}

// Gateway listens until it is closed. Its methods are safe for concurrent use.
type Gateway struct {
	listener net.Listener
	server   *http.Server

	mu          sync.Mutex
	behaviour   Behaviour
	attempts    int
	connections int
	accepted    []Received
	faults      []string
	changed     chan struct{} // closed and replaced at each request and message
	behaved     chan struct{} // closed and replaced by Behave
}

// New starts a gateway for a test. The test fails if a request has another form than
// docs/operating.md documents.
func New(tb testing.TB) *Gateway {
	tb.Helper()
	g, err := Start()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := g.Close(); err != nil {
			tb.Errorf("close the gateway: %v", err)
		}
		for _, fault := range g.Faults() {
			tb.Errorf("invalid gateway request: %s", fault)
		}
	})
	return g
}

// Start starts a gateway. The caller must close it.
func Start() (*Gateway, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &Gateway{listener: listener, changed: make(chan struct{}), behaved: make(chan struct{})}
	g.server = &http.Server{Handler: http.HandlerFunc(g.serve), ReadHeaderTimeout: 10 * time.Second, ConnState: g.countConnection}
	go func() { _ = g.server.Serve(listener) }()
	return g, nil
}

// Close stops the gateway at once and aborts the requests in progress.
func (g *Gateway) Close() error { return g.server.Close() }

// URL returns the address to which messages are posted.
func (g *Gateway) URL() string { return "http://" + g.listener.Addr().String() + "/send" }

// Spec returns the value of TOUCHLINE_SMS for this gateway.
func (g *Gateway) Spec() string { return "http:" + g.URL() }

// Behave changes the behaviour from the next request on. It closes the connections of
// requests that an unresponsive gateway holds.
func (g *Gateway) Behave(b Behaviour) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.behaviour = b
	close(g.behaved)
	g.behaved = make(chan struct{})
}

// Accepted returns the accepted messages, duplicates included, oldest first.
func (g *Gateway) Accepted() []Received {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.accepted)
}

// Attempts returns the number of requests, accepted or not.
func (g *Gateway) Attempts() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.attempts
}

// Connections returns the number of connections that clients opened.
func (g *Gateway) Connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.connections
}

// Faults describes the requests of another form, without numbers and texts.
func (g *Gateway) Faults() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.faults)
}

// Await waits for an accepted message for which match returns true, until ctx ends.
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
			return Received{}, fmt.Errorf("no matching message among %d: %w", len(accepted), ctx.Err())
		}
	}
}

// notifyChange wakes Await. The caller holds g.mu.
func (g *Gateway) notifyChange() {
	close(g.changed)
	g.changed = make(chan struct{})
}

func (g *Gateway) countConnection(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.connections++
	}
}

func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		// A client of another test that repeats a request to a port used before.
		http.Error(w, "send POST", http.StatusMethodNotAllowed)
		return
	}
	m, fault := parse(r)
	g.mu.Lock()
	g.attempts++
	b := g.behaviour
	if fault != "" {
		g.faults = append(g.faults, fault)
	}
	g.notifyChange()
	behaved := g.behaved
	g.mu.Unlock()

	if fault != "" {
		http.Error(w, fault, http.StatusBadRequest)
		return
	}
	delay := time.After(b.Delay)
	if b.Unresponsive {
		delay = nil
	} else {
		behaved = nil
	}
	select {
	case <-delay:
		if b.Hold != nil {
			<-b.Hold
		}
		g.respond(w, b, m)
	case <-behaved:
		panic(http.ErrAbortHandler) // close the connection without a response
	case <-r.Context().Done():
	}
}

func (g *Gateway) respond(w http.ResponseWriter, b Behaviour, m Received) {
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
		g.notifyChange()
		g.mu.Unlock()
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, strconv.Itoa(status))
}

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// parse decodes a request. fault is the fault of its form, or "".
func parse(r *http.Request) (m Received, fault string) {
	m.Header = r.Header.Clone()
	if r.Method != http.MethodPost {
		return m, "method " + r.Method
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return m, fmt.Sprintf("content type %q", got)
	}
	decoder := json.NewDecoder(io.LimitReader(r.Body, 64<<10))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&m); {
	case err != nil:
		return m, "body is not a JSON message"
	case m.ID == "":
		return m, "no id"
	case !e164.MatchString(m.To):
		return m, "to is not an E.164 number"
	case m.Text == "":
		return m, "no text"
	case m.Kind != "otp" && m.Kind != "message":
		return m, fmt.Sprintf("kind %q", m.Kind)
	}
	// The server notices a disconnected client only after the body has been read.
	_, _ = io.Copy(io.Discard, r.Body)
	return m, ""
}
