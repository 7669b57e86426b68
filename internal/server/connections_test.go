package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// served is the time in which a response must arrive on a busy machine.
const served = 5 * time.Second

// dialFrom returns a connection to address from a local address.
func dialFrom(t *testing.T, local, address string) net.Conn {
	t.Helper()
	d := net.Dialer{Timeout: served, LocalAddr: &net.TCPAddr{IP: net.ParseIP(local)}}
	conn, err := d.Dial("tcp", address)
	if errors.Is(err, os.ErrInvalid) || err != nil && strings.Contains(err.Error(), "assign requested address") {
		t.Skipf("this system has no address %s", local)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// get sends a request for path and returns the status of the response, or 0 if none arrives.
func get(conn net.Conn, path string) int {
	_ = conn.SetDeadline(time.Now().Add(served))
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: t\r\n\r\n", path); err != nil {
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// isClosed reports whether the server has closed conn.
func isClosed(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func count(conns []net.Conn, is func(net.Conn) bool) int {
	var n atomic.Int64
	var all sync.WaitGroup
	for _, conn := range conns {
		all.Go(func() {
			if is(conn) {
				n.Add(1)
			}
		})
	}
	all.Wait()
	return int(n.Load())
}

// TestIdleConnectionsOfOneAddress: an address with many connections that send nothing, or only
// a part of a header, keeps a quarter of all, the newest, on both listeners. A client of another
// address is served at once.
func TestIdleConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.MaxConnections = 40 })
	for _, url := range []string{s.URL, s.AdminURL} {
		address, quarter := strings.TrimPrefix(url, "http://"), 10
		if url == s.AdminURL {
			quarter = 250
		}
		var idle []net.Conn
		for i := range quarter + 30 {
			conn := dialFrom(t, "127.0.0.2", address)
			if i%2 == 0 {
				fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\n")
			}
			idle = append(idle, conn)
		}
		start := time.Now()
		if status := get(dialFrom(t, "127.0.0.3", address), "/healthz"); status != 200 {
			t.Errorf("%s: another address got %d after %s, want 200", url, status, time.Since(start))
		}
		if n := count(idle[:30], isClosed); n != 30 {
			t.Errorf("%s: %d of the 30 oldest connections are closed, want all", url, n)
		}
		if n := count(idle[30:], isClosed); n != 0 {
			t.Errorf("%s: %d of the newest connections are closed, want 0", url, n)
		}
	}
}

// blocking serves /wait until release is called, and other paths at once.
func blocking(t *testing.T) (h http.Handler, waiting <-chan struct{}, release func()) {
	ctx, release := context.WithCancel(context.Background())
	t.Cleanup(release)
	arrived := make(chan struct{}, 100)
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			arrived <- struct{}{}
			<-ctx.Done()
		}
	}), arrived, release
}

func serveConnections(t *testing.T, h http.Handler, limit int, trusted []netip.Prefix, encrypted *tls.Config) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() { _ = server.ServeConnections(l, h, limit, trusted, encrypted) }()
	return l.Addr().String()
}

// TestBusyConnectionsStay: a connection that serves a request, such as an event stream, is
// never closed for another: one more of its address is refused, and one more of all waits until
// one of them is idle.
func TestBusyConnectionsStay(t *testing.T) {
	t.Parallel()
	h, waiting, release := blocking(t)
	address := serveConnections(t, h, 8, nil, nil)
	var busy []net.Conn
	for i := range 8 {
		conn := dialFrom(t, fmt.Sprintf("127.0.0.%d", 2+i/2), address)
		fmt.Fprint(conn, "GET /wait HTTP/1.1\r\nHost: t\r\n\r\n")
		<-waiting
		busy = append(busy, conn)
		if i == 1 {
			if status := get(dialFrom(t, "127.0.0.2", address), "/"); status != 0 {
				t.Errorf("a third busy connection of an address got %d, want none", status)
			}
		}
	}
	answer := make(chan int, 1)
	newcomer := dialFrom(t, "127.0.0.9", address)
	go func() { answer <- get(newcomer, "/") }()
	select {
	case status := <-answer:
		t.Errorf("a connection beyond the limit got %d, want none before another is idle", status)
	case <-time.After(200 * time.Millisecond): // in which no response may arrive
	}
	if n := count(busy, isClosed); n != 0 {
		t.Errorf("%d busy connections are closed, want 0", n)
	}
	release()
	if status := <-answer; status != 200 {
		t.Errorf("after the others were idle: got %d, want 200", status)
	}
}

// TestOldestIdleConnectionMakesRoom: at the limit of all connections, the connection that has been idle
// for the longest time is closed, of whatever address it is.
func TestOldestIdleConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	h, _, _ := blocking(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	idle := make(chan struct{}, 10)
	go func() { _ = server.ServeConnectionsIdle(l, h, 4, nil, nil, func() { idle <- struct{}{} }) }()
	address := l.Addr().String()
	var conns []net.Conn
	for i := range 4 {
		conn := dialFrom(t, fmt.Sprintf("127.0.0.%d", 2+i), address)
		if status := get(conn, "/"); status != 200 {
			t.Fatalf("connection %d got %d", i, status)
		}
		<-idle
		conns = append(conns, conn)
	}
	get(conns[0], "/") // now the second has been idle for the longest time
	<-idle
	if status := get(dialFrom(t, "127.0.0.9", address), "/"); status != 200 {
		t.Errorf("got %d, want 200", status)
	}
	for i, want := range []bool{false, true, false, false} {
		if got := isClosed(conns[i]); got != want {
			t.Errorf("connection %d: closed %t, want %t", i, got, want)
		}
	}
}

// TestBusiestAddressMakesRoom: at the limit of all connections, a connection of the address with
// the most is closed, although the only one of another has been idle for a longer time. An
// address gets none if it has more, all busy, than the others.
func TestBusiestAddressMakesRoom(t *testing.T) {
	t.Parallel()
	h, waiting, _ := blocking(t)
	address := serveConnections(t, h, 13, nil, nil)
	alone := dialFrom(t, "127.0.0.2", address)
	if status := get(alone, "/"); status != 200 {
		t.Fatalf("the first connection got %d", status)
	}
	for i := range 12 {
		dialFrom(t, fmt.Sprintf("127.0.0.%d", 3+i/3), address) // an address may have 3
	}
	for range 5 {
		if status := get(dialFrom(t, "127.0.0.9", address), "/"); status != 200 {
			t.Errorf("a client of another address got %d, want 200", status)
		}
	}
	if status := get(alone, "/"); status != 200 {
		t.Errorf("the only connection of an address got %d, want 200", status)
	}

	address = serveConnections(t, h, 12, nil, nil)
	for i := range 12 {
		conn := dialFrom(t, fmt.Sprintf("127.0.0.%d", 2+max(0, i-1)), address)
		if i < 2 {
			fmt.Fprint(conn, "GET /wait HTTP/1.1\r\nHost: t\r\n\r\n")
			<-waiting
		}
	}
	if status := get(dialFrom(t, "127.0.0.2", address), "/"); status != 0 {
		t.Errorf("the third connection of an address got %d, want none: the others have one each", status)
	}
	if status := get(dialFrom(t, "127.0.0.99", address), "/"); status != 200 {
		t.Errorf("the first connection of an address got %d, want 200", status)
	}
}

// TestConnectionsOfProxy: a trusted proxy may have all connections.
func TestConnectionsOfProxy(t *testing.T) {
	t.Parallel()
	h, _, _ := blocking(t)
	address := serveConnections(t, h, 8, []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}, nil)
	var conns []net.Conn
	for range 8 {
		conns = append(conns, dialFrom(t, "127.0.0.2", address))
	}
	if n := count(conns, func(c net.Conn) bool { return get(c, "/") == 200 }); n != 8 {
		t.Errorf("%d of 8 connections of the proxy are served, want all", n)
	}
}

// TestHTTP2ConnectionIsIdleWithoutStreams: over TLS, a handshake that hangs and an HTTP/2
// connection without streams make room; one with a stream stays.
func TestHTTP2ConnectionIsIdleWithoutStreams(t *testing.T) {
	t.Parallel()
	h, waiting, release := blocking(t)
	certificate := httptest.NewTLSServer(nil)
	defer certificate.Close()
	address := serveConnections(t, h, 12, nil, &tls.Config{Certificates: certificate.TLS.Certificates, NextProtos: []string{"h2"}})
	client := func() *http.Client { // with one connection
		return &http.Client{Timeout: testTimeout, Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			DialContext: func(context.Context, string, string) (net.Conn, error) { return dialFrom(t, "127.0.0.2", address), nil },
		}}
	}
	call := func(c *http.Client, path string) error {
		resp, err := c.Get("https://" + address + path)
		if err == nil {
			_ = resp.Body.Close()
			if resp.ProtoMajor != 2 {
				err = errors.New(resp.Proto)
			}
		}
		return err
	}
	stream := make(chan error, 1)
	go func() { stream <- call(client(), "/wait") }()
	<-waiting
	hangs := dialFrom(t, "127.0.0.2", address)
	if err := errors.Join(call(client(), "/"), call(client(), "/")); err != nil { // an address may have 3
		t.Fatal(err)
	}
	if !isClosed(hangs) {
		t.Error("a handshake that hangs is open, want closed: it was idle for the longest time")
	}
	for range 5 {
		if err := call(client(), "/"); err != nil {
			t.Fatal(err)
		}
	}
	release()
	if err := <-stream; err != nil {
		t.Errorf("the connection with a stream: %v", err)
	}
}

// addressListener returns one connection for each address, which never sends a byte.
type addressListener struct {
	pipeListener
	addresses chan string
}

type addressedConn struct {
	net.Conn
	address net.Addr
}

func (c addressedConn) RemoteAddr() net.Addr { return c.address }

func (l addressListener) Accept() (net.Conn, error) {
	address, ok := <-l.addresses
	if !ok {
		return nil, net.ErrClosed
	}
	conn := <-l.pipeListener
	return addressedConn{conn, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))}, nil
}

// TestAddressOfConnection: an IPv6 /64 and an IPv4 address, however written, count as one address.
func TestAddressOfConnection(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, second string
		one           bool
	}{
		"same /64":      {"[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff::9]:2", true},
		"other /64":     {"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:2", false},
		"same IPv4":     {"192.0.2.1:1", "192.0.2.1:2", true},
		"mapped IPv4":   {"192.0.2.1:1", "[::ffff:192.0.2.1]:2", true},
		"other IPv4":    {"192.0.2.1:1", "192.0.2.2:2", false},
		"trusted proxy": {"[::ffff:10.0.0.1]:1", "10.0.0.1:2", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := addressListener{make(pipeListener), make(chan string)}
				done := make(chan error, 1)
				go func() {
					done <- server.ServeConnections(l, http.NotFoundHandler(), 4, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, nil)
				}()
				var clients []net.Conn
				for _, address := range []string{tt.first, tt.second} {
					client, accepted := net.Pipe()
					l.addresses <- address
					l.pipeListener <- accepted
					clients = append(clients, client)
				}
				synctest.Wait()
				if got := isClosed(clients[0]); got != tt.one {
					t.Errorf("the first connection is closed: %t, want %t", got, tt.one)
				}
				close(l.addresses)
				<-done
				for _, client := range clients {
					_ = client.Close()
				}
			})
		})
	}
}
