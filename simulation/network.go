package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// message is one that a provider accepted.
type message struct {
	ID, Channel, To, Text string // Channel: sms, chat, mail, voice
	Kind                  string // otp, message or call
	At                    time.Time
	// Tried is when the service first sent it to a provider, which may have taken it later. The service counts it then.
	Tried time.Time
	// Receipt is the address for reports about the message, Step that for the steps of a call, both without the host. Stop ends mail to the address.
	Receipt, Step, Stop string
	// Unsure says that the service does not know that it was accepted: it got no answer, its process ended, or WhatsApp has not said that it sent it.
	Unsure bool
	// Earlier is the first acceptance of the same message, or nil. Again says that the service knew of it.
	Earlier *message
	Again   bool
	// Forgotten says that the service was restored from an older backup since.
	Forgotten bool
	// Ref is the reference of a chat in reports; told says that they came. Attempt counts the attempts of the same message.
	Ref     string
	told    bool
	Attempt int
}

// The hosts of the providers in memory. The one for mail is on loopback.
const (
	smsHost, chatHost, voiceHost, mailHost = "sms.example", "chat.example", "voice.example", "mail"
)

// network is the simulated providers. The service reaches them through http.DefaultTransport, in memory; push services, webhooks and the mail
// server must be real addresses, and are on loopback.
type network struct {
	run  *Run
	mu   sync.Mutex
	sent []*message
	// taken is how many messages take has returned, settled how many are certain.
	taken, settled int
	behaviours     map[string]behaviour // by host; a missing one accepts
	loopback       *loopback
	mail           *mailServer
	identity       *identityProvider
	first          map[string]*message  // by id
	tried          map[string]time.Time // by id
	attempts       map[string]int       // by id
	smsFailed      time.Time            // when an SMS failed last
}

// behaviour is how a provider answers.
type behaviour int

const (
	accepts behaviour = iota
	refuses           // answers 503
	hangs             // answers nothing
	forgets           // takes the message and closes the connection without an answer
	rejects           // answers 400: the number cannot get a message
)

func newNetwork(r *Run) *network {
	n := &network{run: r, first: map[string]*message{}, tried: map[string]time.Time{}, attempts: map[string]int{}, behaviours: map[string]behaviour{}}
	n.loopback, n.mail, n.identity = newLoopback(n), newMailServer(n), newIdentityProvider(n)
	t := http.DefaultTransport.(*http.Transport)
	t.DisableKeepAlives = true
	t.DialContext = n.dial
	return n
}

func (n *network) close() {
	n.loopback.server.Close()
	n.identity.server.Close()
	_ = n.mail.server.Close() // the service has ended
}

func (n *network) dial(_ context.Context, _, address string) (net.Conn, error) {
	host, _, _ := strings.Cut(address, ":")
	if host != smsHost && host != chatHost && host != voiceHost {
		return nil, fmt.Errorf("simulation: %s does not exist", address)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	client, server := net.Pipe()
	go n.serve(server, host)
	if n.behaviours[host] == hangs {
		n.run.everHeld = true
		if host == smsHost {
			n.smsFailed = n.run.clock.now // the request may be gone before it is read
		}
		return silent{client}, nil
	}
	return client, nil
}

// silent is a connection on which no answer comes: it times out at once, so that the simulation does not wait.
type silent struct{ net.Conn }

func (silent) Read([]byte) (int, error) { return 0, timeout{errors.New("simulation: i/o timeout")} }

type timeout struct{ error }

func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

// serve answers one request to a host.
func (n *network) serve(c net.Conn, host string) {
	defer c.Close()
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	var content bytes.Buffer
	if _, err := content.ReadFrom(req.Body); err != nil {
		return
	}
	n.mu.Lock()
	m := map[string]func(*http.Request, []byte) *message{smsHost: readSMS, chatHost: readChat, voiceHost: readCall}[host](req, content.Bytes())
	status := n.accept(host, m)
	n.mu.Unlock()
	if status == 0 {
		return
	}
	body := answerOf(host, m)
	answer := http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Close: true, Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ContentLength: -1}
	var b bytes.Buffer
	_ = answer.Write(&b)
	_, _ = c.Write(b.Bytes()) // the service may be gone
}

// accept takes a message, and returns the status of the answer or 0 for none. The caller holds n.mu.
func (n *network) accept(host string, m *message) int {
	how := n.behaviours[host]
	n.attempts[m.ID]++
	m.Attempt = n.attempts[m.ID]
	if m.Tried = n.tried[m.ID]; m.Tried.IsZero() {
		m.Tried = n.run.clock.now
		if m.ID != "" {
			n.tried[m.ID] = m.Tried
		}
	}
	if how != accepts {
		n.run.failed[m.To] = true
		if host == smsHost {
			n.smsFailed = n.run.clock.now
		}
	}
	switch {
	case killer.ended(): // the process that sent it is gone
		return 0
	case how == refuses:
		return http.StatusServiceUnavailable
	case how == rejects:
		return http.StatusBadRequest
	case how == hangs:
		return 0
	}
	m.At, m.Unsure = n.run.clock.now, how == forgets || m.Channel == "chat"
	n.sent = append(n.sent, m)
	if m.Earlier = n.first[m.ID]; m.Earlier == nil && m.ID != "" { // an answer in a chat has none
		n.first[m.ID] = m
	}
	m.Again = m.Earlier != nil && !m.Earlier.Unsure
	if how == forgets {
		return 0
	}
	if host == chatHost {
		return http.StatusOK
	}
	return http.StatusAccepted
}

func (n *network) behave(host string, b behaviour) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.behaviours[host] = b
}

func (n *network) behaviour(host string) behaviour {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.behaviours[host]
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

// triedAgain reports whether the service tried to send m again after it was accepted.
func (n *network) triedAgain(m *message) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.attempts[m.ID] > m.Attempt
}

// newest returns the newest message of a kind to a number, not by mail, or nil.
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

// created is when the service made a message by SMS or chat: its id is a UUIDv7. An answer in a chat has no id and leaves at once.
func (m *message) created() time.Time {
	id, err := uuid.Parse(m.ID)
	if err != nil {
		return m.At
	}
	return time.Unix(id.Time().UnixTime())
}

// segments is how many SMS a text is, by GSM 03.38: 160 characters or 70 outside of its alphabet, less in several parts. Others are none.
func (m *message) segments() int {
	if m.Channel != "sms" {
		return 0
	}
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
