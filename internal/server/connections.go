package server

import (
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/ratelimit"
)

// addressShare is the part of all connections that one address may have. Mobile networks put
// thousands of phones behind one address.
const addressShare = 4

// candidates is how many of the longest idle connections are compared at the limit of all.
const candidates = 64

// connections bounds the open connections of one listener: in all, and the connections of one
// address except of a trusted proxy. At a limit an idle connection is closed for a new one: at
// the limit of an address its longest idle, at the limit of all one of the address with the
// most connections. A connection is idle while it serves no request: also one that has sent no
// complete header, or whose TLS handshake is unfinished.
type connections struct {
	limit, addressLimit int
	trusted             []netip.Prefix
	log                 *slog.Logger

	mu       sync.Mutex
	room     sync.Cond // signalled when a connection closes or becomes idle, and when closed is set
	closed   bool      // no connection is accepted any more
	open     int
	idle     list.List // of *connection, the longest idle first
	streams  int       // that are served over HTTP/2
	networks map[string]*network
	warned   map[string]time.Time // by message
}

// network counts the connections of one address, or of one IPv6 /64.
type network struct {
	name string
	open int
	idle list.List // of *connection, the longest idle first
	// streams are served over HTTP/2; refusals are leaving; writes over HTTP/2 and discards of bodies wait for their client.
	streams, refusals, writes, discards int
}

// size returns the number of its open connections; 0 for an address without a limit.
func (n *network) size() int {
	if n == nil {
		return 0
	}
	return n.open
}

func newConnections(limit int, trusted []netip.Prefix, log *slog.Logger) *connections {
	c := &connections{limit: limit, addressLimit: max(1, limit/addressShare), trusted: trusted, log: log, networks: map[string]*network{}, warned: map[string]time.Time{}}
	c.room.L = &c.mu
	return c
}

// count returns the number of open connections.
func (c *connections) count() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return float64(c.open)
}

// observe is the ConnState of an http.Server. An HTTP/2 connection is active while it has a stream.
func (c *connections) observe(conn net.Conn, state http.ConnState) {
	own := ownConnection(conn)
	if own == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateActive, http.StateHijacked:
		own.setBusy()
	case http.StateIdle:
		own.setIdle()
		c.room.Signal()
	}
}

// admit waits until conn has room, and returns it as an open connection. It returns false if
// its address has too many connections that all serve requests, if all are open and its
// address has more than the others, or after close.
func (c *connections) admit(conn net.Conn) (*connection, bool) {
	own := &connection{Conn: conn, all: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.closed {
		own.network = c.networkOf(conn)
		var longest *list.Element
		switch {
		case own.network != nil && own.network.open >= c.addressLimit:
			if longest = own.network.idle.Front(); longest == nil {
				c.warn("refuse connections of an address that has a quarter of MAX_CONNECTIONS and uses all; name each proxy in TRUSTED_PROXIES", "connections", c.addressLimit)
				return nil, false
			}
		case c.open >= c.limit:
			if longest = c.ofBusiestAddress(); longest == nil {
				c.room.Wait()
				continue
			}
			if own.network.size() > longest.Value.(*connection).network.size() {
				return nil, false
			}
		default:
			own.enter()
			return own, true
		}
		idle := longest.Value.(*connection)
		idle.leave()
		_ = idle.Conn.Close() // http.Server sees the error of its read
	}
	return nil, false
}

// ofBusiestAddress returns, of the longest idle connections, the first whose address has the
// most connections; nil if no connection is idle. The longest idle of all would often be the
// only connection of a client, while an attacker opens new ones.
func (c *connections) ofBusiestAddress() *list.Element {
	busiest := c.idle.Front()
	for e, n := busiest, 0; e != nil && n < candidates; e, n = e.Next(), n+1 {
		if e.Value.(*connection).network.size() > busiest.Value.(*connection).network.size() {
			busiest = e
		}
	}
	return busiest
}

// networkOf returns the network of conn, or nil if it has no limit.
func (c *connections) networkOf(conn net.Conn) *network {
	client := ratelimit.Client(conn.RemoteAddr().String(), nil, nil)
	if !client.IsValid() || slices.ContainsFunc(c.trusted, func(p netip.Prefix) bool { return p.Contains(client) }) {
		return nil
	}
	name := ratelimit.Network(client)
	if n := c.networks[name]; n != nil {
		return n
	}
	return &network{name: name}
}

// warn logs a message at most once a minute. The log has no addresses of clients.
func (c *connections) warn(message string, args ...any) {
	if now := time.Now(); now.Sub(c.warned[message]) >= warnInterval {
		c.warned[message] = now
		c.log.Warn(message, args...)
	}
}

// forget removes an address that has no connection and no stream.
func (c *connections) forget(n *network) {
	if n != nil && n.open == 0 && n.streams == 0 && n.refusals == 0 && c.networks[n.name] == n {
		delete(c.networks, n.name)
	}
}

// connection is an open connection. Its lock is the lock of connections.
type connection struct {
	net.Conn
	all     *connections
	network *network // nil without a limit for its address
	left    bool
	// idle and idleOfNetwork are its elements of the lists of idle connections; nil while it
	// serves a request.
	idle, idleOfNetwork *list.Element
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.all.mu.Lock()
	c.leave()
	c.all.mu.Unlock()
	return c.Conn.Close()
}

func (c *connection) enter() {
	c.all.open++
	if n := c.network; n != nil {
		n.open++
		c.all.networks[n.name] = n
	}
	c.setIdle()
}

// leave ends the count of the connection, once.
func (c *connection) leave() {
	if c.left {
		return
	}
	c.setBusy()
	c.left = true
	c.all.open--
	if n := c.network; n != nil {
		n.open--
		c.all.forget(n)
	}
	c.all.room.Signal()
}

func (c *connection) setIdle() {
	if c.left || c.idle != nil {
		return
	}
	c.idle = c.all.idle.PushBack(c)
	if c.network != nil {
		c.idleOfNetwork = c.network.idle.PushBack(c)
	}
}

func (c *connection) setBusy() {
	if c.idle == nil {
		return
	}
	c.all.idle.Remove(c.idle)
	if c.network != nil {
		c.network.idle.Remove(c.idleOfNetwork)
	}
	c.idle, c.idleOfNetwork = nil, nil
}

// listen returns l with its connections bounded by c.
func (c *connections) listen(l net.Listener) net.Listener { return &boundedListener{l, c} }

type boundedListener struct {
	net.Listener
	connections *connections
}

// Accept implements net.Listener. It does not return a connection beyond a limit.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if own, ok := l.connections.admit(conn); ok {
			return own, nil
		}
		_ = conn.Close()
	}
}

// Close implements net.Listener. It ends an Accept that waits for room.
func (l *boundedListener) Close() error {
	c := l.connections
	c.mu.Lock()
	c.closed = true
	c.room.Signal()
	c.mu.Unlock()
	return l.Listener.Close()
}
