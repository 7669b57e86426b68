package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// message is one that a provider accepted.
type message struct {
	ID, Channel, To, Text string
	Kind                  string // otp or message
	At                    time.Time
	// Receipt is the address for reports about the message.
	Receipt string
	// Unsure says that the service does not know that it was accepted: it got no answer, or its process ended.
	Unsure bool
	// Earlier is the first acceptance of the same message, or nil.
	Earlier *message
}

// network is the simulated providers. The service reaches the SMS gateway through http.DefaultTransport, in memory; push services and webhooks
// must be real addresses, and are on loopback.
type network struct {
	run  *Run
	mu   sync.Mutex
	sent []*message
	// taken is how many messages take has returned, settled how many are certain.
	taken, settled int
	gateway        behaviour
	loopback       *loopback
	first          map[string]*message // by id
}

// behaviour is how the SMS gateway answers.
type behaviour int

const (
	accepts behaviour = iota
	refuses           // answers 503
	hangs             // answers nothing
	forgets           // takes the message and closes the connection without an answer
	rejects           // answers 400: the number cannot get an SMS
)

func newNetwork(r *Run) *network {
	n := &network{run: r, first: map[string]*message{}}
	n.loopback = newLoopback(n)
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
	defer n.mu.Unlock()
	client, server := net.Pipe()
	go n.serve(server)
	if n.gateway == hangs {
		n.run.everHeld = true
		return silent{client}, nil
	}
	return client, nil
}

// silent is a connection to a host that does not answer: its reads time out at once, so that the simulation does not wait.
type silent struct{ net.Conn }

func (silent) Read([]byte) (int, error) { return 0, timeout{errors.New("simulation: i/o timeout")} }

type timeout struct{ error }

func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

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

// accept takes a message as Kannel does, and returns the status of the answer or 0 for none.
func (n *network) accept(req *http.Request) int {
	content, err := io.ReadAll(req.Body)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.gateway != accepts {
		n.run.failed[req.Header.Get("X-Kannel-To")] = true
	}
	switch {
	case err != nil || killer.ended(): // the process that sent it is gone
		return 0
	case n.gateway == refuses:
		return http.StatusServiceUnavailable
	case n.gateway == rejects:
		return http.StatusBadRequest
	case n.gateway == hangs:
		return 0
	}
	receipt, _, _ := strings.Cut(strings.TrimPrefix(req.Header.Get("X-Kannel-DLR-Url"), publicURL), "?")
	// /receipts/<delivery>.<attempt>.kannel/<secret>: a further attempt has the same delivery.
	id, _, _ := strings.Cut(strings.TrimPrefix(receipt, "/receipts/"), ".")
	m := &message{ID: id, Channel: "sms", To: req.Header.Get("X-Kannel-To"), Text: string(content), Kind: "message", At: n.run.clock.now, Receipt: receipt, Unsure: n.gateway == forgets}
	if code.MatchString(m.Text) && !strings.Contains(m.Text, "/a/") {
		m.Kind = "otp"
	}
	n.sent = append(n.sent, m)
	if m.Earlier = n.first[m.ID]; m.Earlier == nil {
		n.first[m.ID] = m
	}
	if m.Unsure {
		return 0
	}
	return http.StatusAccepted
}

func (n *network) behave(b behaviour) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gateway = b
}

// settle notes at the end of a step whether the process knows of what it sent in the step.
func (n *network) settle(ended bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range n.sent[n.settled:] {
		m.Unsure = m.Unsure || ended
	}
	n.settled = len(n.sent)
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

// newest returns the newest message of a kind to a number, or nil.
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

// segments is how many SMS a text is, by GSM 03.38: 160 characters or 70 outside of its alphabet, less in several parts.
func (m *message) segments() int {
	one, many := 160, 153
	n := len([]rune(m.Text))
	if n != len(m.Text) {
		one, many = 70, 67
	}
	if n <= one {
		return 1
	}
	return (n + many - 1) / many
}
