package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/httpx/http2test"
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

// isClosed reports whether the server has closed conn. It is for tests in synctest.Test.
func isClosed(conn net.Conn) bool { return isClosedWithin(conn, 100*time.Millisecond) }

// isClosedWithin reports whether the server closes conn before d has passed.
func isClosedWithin(conn net.Conn, d time.Duration) bool {
	_ = conn.SetReadDeadline(time.Now().Add(d))
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
// a part of a header, keeps a quarter of all, the newest.
func TestIdleConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := blocking(t)
		dial := serveOverPipes(t, h, 40, nil, nil)
		idle := openIdle(40, func() net.Conn { return dial("127.0.0.2") })
		if status := get(dial("127.0.0.3"), "/"); status != 200 {
			t.Errorf("another address got %d, want 200", status)
		}
		if oldest, newest := count(idle[:30], isClosed), count(idle[30:], isClosed); oldest != 30 || newest != 0 {
			t.Errorf("closed: %d of the 30 oldest connections and %d of the newest, want all and none", oldest, newest)
		}
	})
}

// TestListenersBoundConnections: both listeners close the oldest connections of an address with too many, and serve a client of another at once.
func TestListenersBoundConnections(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.MaxConnections = 40 })
	for url, quarter := range map[string]int{s.URL: 10, s.AdminURL: 250} {
		address := strings.TrimPrefix(url, "http://")
		idle := openIdle(quarter+30, func() net.Conn { return dialFrom(t, "127.0.0.2", address) })
		start := time.Now()
		if status := get(dialFrom(t, "127.0.0.3", address), "/healthz"); status != 200 {
			t.Errorf("%s: another address got %d after %s, want 200", url, status, time.Since(start))
		}
		closed := func(conn net.Conn) bool { return isClosedWithin(conn, served) }
		if n := count(idle[:30], closed); n != 30 {
			t.Errorf("%s: %d of the 30 oldest connections are closed, want all", url, n)
		}
	}
}

// openIdle opens n connections. Each other one sends a part of a header.
func openIdle(n int, dial func() net.Conn) []net.Conn {
	var idle []net.Conn
	for i := range n {
		conn := dial()
		if i%2 == 0 {
			fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\n")
		}
		idle = append(idle, conn)
	}
	return idle
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

// TestBusyConnectionsStay: a connection that serves a request, such as an event stream, is
// never closed for another: one more of its address is refused, and one more of all waits until
// one of them is idle.
func TestBusyConnectionsStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, waiting, release := blocking(t)
		dial := serveOverPipes(t, h, 8, nil, nil)
		var busy []net.Conn
		for i := range 8 {
			conn := dial(fmt.Sprintf("127.0.0.%d", 2+i/2))
			fmt.Fprint(conn, "GET /wait HTTP/1.1\r\nHost: t\r\n\r\n")
			<-waiting
			busy = append(busy, conn)
			if i == 1 {
				if status := get(dial("127.0.0.2"), "/"); status != 0 {
					t.Errorf("a third busy connection of an address got %d, want none", status)
				}
			}
		}
		answer := make(chan int, 1)
		newcomer := dial("127.0.0.9")
		go func() { answer <- get(newcomer, "/") }()
		select {
		case status := <-answer:
			t.Errorf("a connection beyond the limit got %d, want none before another is idle", status)
		case <-time.After(200 * time.Millisecond): // in which no response may arrive
		}
		if n := count(busy, isClosed); n != 0 {
			t.Errorf("%d busy connections are closed, want 0", n)
		}
		for _, conn := range busy {
			_ = conn.SetReadDeadline(time.Time{})
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
		release()
		if status := <-answer; status != 200 {
			t.Errorf("after the others were idle: got %d, want 200", status)
		}
	})
}

// TestOldestIdleConnectionMakesRoom: at the limit of all connections, the connection that has been idle
// for the longest time is closed, of whatever address it is.
func TestOldestIdleConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := blocking(t)
		dial := serveOverPipes(t, h, 4, nil, nil)
		var conns []net.Conn
		for i := range 4 {
			conn := dial(fmt.Sprintf("127.0.0.%d", 2+i))
			if status := get(conn, "/"); status != 200 {
				t.Fatalf("connection %d got %d", i, status)
			}
			synctest.Wait()
			conns = append(conns, conn)
		}
		get(conns[0], "/") // now the second has been idle for the longest time
		synctest.Wait()
		if status := get(dial("127.0.0.9"), "/"); status != 200 {
			t.Errorf("got %d, want 200", status)
		}
		for i, want := range []bool{false, true, false, false} {
			if got := isClosed(conns[i]); got != want {
				t.Errorf("connection %d: closed %t, want %t", i, got, want)
			}
		}
	})
}

// TestBusiestAddressMakesRoom: at the limit of all connections, a connection of the address with
// the most is closed, although the only one of another has been idle for a longer time. An
// address gets none if it has more, all busy, than the others.
func TestBusiestAddressMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, waiting, _ := blocking(t)
		dial := serveOverPipes(t, h, 13, nil, nil)
		alone := dial("127.0.0.2")
		if status := get(alone, "/"); status != 200 {
			t.Fatalf("the first connection got %d", status)
		}
		for i := range 12 {
			dial(fmt.Sprintf("127.0.0.%d", 3+i/3)) // an address may have 3
		}
		for range 5 {
			if status := get(dial("127.0.0.9"), "/"); status != 200 {
				t.Errorf("a client of another address got %d, want 200", status)
			}
			synctest.Wait() // its connection is idle
		}
		if status := get(alone, "/"); status != 200 {
			t.Errorf("the only connection of an address got %d, want 200", status)
		}

		dial = serveOverPipes(t, h, 12, nil, nil)
		for i := range 12 {
			conn := dial(fmt.Sprintf("127.0.0.%d", 2+max(0, i-1)))
			if i < 2 {
				fmt.Fprint(conn, "GET /wait HTTP/1.1\r\nHost: t\r\n\r\n")
				<-waiting
			}
		}
		if status := get(dial("127.0.0.2"), "/"); status != 0 {
			t.Errorf("the third connection of an address got %d, want none: the others have one each", status)
		}
		if status := get(dial("127.0.0.99"), "/"); status != 200 {
			t.Errorf("the first connection of an address got %d, want 200", status)
		}
	})
}

// TestConnectionsOfProxy: a trusted proxy may have all connections.
func TestConnectionsOfProxy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := blocking(t)
		dial := serveOverPipes(t, h, 8, []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}, nil)
		var conns []net.Conn
		for range 8 {
			conns = append(conns, dial("127.0.0.2"))
		}
		if n := count(conns, func(c net.Conn) bool { return get(c, "/") == 200 }); n != 8 {
			t.Errorf("%d of 8 connections of the proxy are served, want all", n)
		}
	})
}

// TestHTTP2ConnectionIsIdleWithoutStreams: over TLS, a handshake that hangs and an HTTP/2
// connection without streams make room; one with a stream stays.
func TestHTTP2ConnectionIsIdleWithoutStreams(t *testing.T) {
	t.Parallel()
	config := encrypted(t)
	synctest.Test(t, func(t *testing.T) {
		h, waiting, release := blocking(t)
		dial := serveOverPipes(t, h, 12, nil, config)
		begin := func(path string) *http2test.Conn {
			c := http2Over(t, dial("127.0.0.2"), 1000)
			if _, err := c.Get(path); err != nil {
				t.Fatal(err)
			}
			return c
		}
		wantEnd := func(c *http2test.Conn) {
			t.Helper()
			if e, err := c.Next(); err != nil || e.Status != 200 || !e.Ended {
				t.Fatalf("got %+v, %v; want a response", e, err)
			}
			synctest.Wait()
		}
		busy := begin("/wait")
		<-waiting
		hangs := dial("127.0.0.2")
		wantEnd(begin("/"))
		wantEnd(begin("/")) // an address may have 3
		if !isClosed(hangs) {
			t.Error("a handshake that hangs is open, want closed: it was idle for the longest time")
		}
		for range 5 {
			wantEnd(begin("/"))
		}
		release()
		wantEnd(busy)
	})
}

// TestAddressOfConnection: an IPv6 /64 and an IPv4 address, however written, count as one address.
func TestAddressOfConnection(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, second string
		one           bool
	}{
		"same /64":      {"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true},
		"other /64":     {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
		"same IPv4":     {"192.0.2.1", "192.0.2.1", true},
		"mapped IPv4":   {"192.0.2.1", "::ffff:192.0.2.1", true},
		"other IPv4":    {"192.0.2.1", "192.0.2.2", false},
		"trusted proxy": {"::ffff:10.0.0.1", "10.0.0.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial := serveOverPipes(t, http.NotFoundHandler(), 4, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, nil)
				first := dial(tt.first)
				dial(tt.second)
				synctest.Wait()
				if got := isClosed(first); got != tt.one {
					t.Errorf("the first connection is closed: %t, want %t", got, tt.one)
				}
			})
		})
	}
}
