package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// message is one that a provider accepted.
type message struct {
	ID, Channel, To, Kind, Text string
	At                          time.Time
	// Unsure says that the service got no answer, so that it may send the message again.
	Unsure bool
}

// network is the simulated providers. The service reaches them through http.DefaultTransport.
type network struct {
	clock *clock

	mu      sync.Mutex
	sent    []*message
	taken   int // messages that take has returned
	gateway behaviour
}

// behaviour is how the SMS gateway answers.
type behaviour int

const (
	accepts behaviour = iota
	refuses           // answers 503
	hangs             // answers nothing
	forgets           // takes the message and closes the connection without an answer
	rejects           // answers 422: the number cannot get an SMS
)

func newNetwork(c *clock) *network {
	n := &network{clock: c}
	t := http.DefaultTransport.(*http.Transport)
	t.DisableKeepAlives = true
	t.DialContext = n.dial
	return n
}

func (n *network) dial(_ context.Context, _, address string) (net.Conn, error) {
	if !strings.HasPrefix(address, "sms.example:") {
		return nil, fmt.Errorf("simulation: %s does not exist", address)
	}
	n.mu.Lock()
	hanging := n.gateway == hangs
	n.mu.Unlock()
	client, server := net.Pipe()
	go n.serve(server)
	if hanging {
		return silent{client}, nil
	}
	return client, nil
}

// silent is a connection to a host that does not answer: its reads time out at once, so that the simulation does not wait.
type silent struct{ net.Conn }

func (s silent) Read([]byte) (int, error) { return 0, errTimeout }

var errTimeout net.Error = timeoutError{errors.New("simulation: i/o timeout")}

type timeoutError struct{ error }

func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// serve answers one request.
func (n *network) serve(c net.Conn) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	status := n.accept(req)
	if status == 0 {
		return
	}
	answer := http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Close: true, Body: http.NoBody}
	var b bytes.Buffer
	_ = answer.Write(&b)
	_, _ = c.Write(b.Bytes()) // the service may be gone
}

// accept takes a message, and returns the status of the answer or 0 for none.
func (n *network) accept(req *http.Request) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case killer.ended(): // the process that sent it is gone
		return 0
	case n.gateway == refuses:
		return http.StatusServiceUnavailable
	case n.gateway == rejects:
		return http.StatusUnprocessableEntity
	case n.gateway == hangs:
		return 0
	}
	m := &message{Channel: "sms", At: n.clock.now, Unsure: n.gateway == forgets}
	if err := json.NewDecoder(req.Body).Decode(m); err != nil {
		return http.StatusBadRequest
	}
	n.sent = append(n.sent, m)
	if m.Unsure {
		return 0
	}
	return http.StatusAccepted
}

// take returns the messages since the last call, sorted and without codes and links, for the trace.
func (n *network) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var lines []string
	for _, m := range n.sent[n.taken:] {
		lines = append(lines, m.Channel+" "+m.Kind+" "+m.To)
	}
	n.taken = len(n.sent)
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// newest returns the newest message of a kind to a number.
func (n *network) newest(to, kind string) *message {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range slices.Backward(n.sent) {
		if m.To == to && m.Kind == kind {
			return m
		}
	}
	return nil
}
