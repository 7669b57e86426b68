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
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx/http2test"
	"github.com/touchline/touchline/internal/server"
)

// http2Over returns an HTTP/2 connection over conn. The server may send window bytes of each response.
func http2Over(t *testing.T, conn net.Conn, window uint32) *http2test.Conn {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(testTimeout))
	c, err := http2test.New(t.Context(), conn, window)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// open opens n streams and returns how many responses began with each status, and the events of the streams that did not end.
func open(t *testing.T, c *http2test.Conn, n int) (statuses map[int]int, waiting int) {
	t.Helper()
	for range n {
		if _, err := c.Get("/healthz"); err != nil {
			t.Fatal(err)
		}
	}
	statuses = map[int]int{}
	ended := 0
	for begun := 0; begun < n || ended < statuses[429]; {
		e, err := c.Next()
		if err != nil {
			t.Fatalf("after %v: %v", statuses, err)
		}
		if e.Status != 0 {
			statuses[e.Status]++
			begun++
		}
		if e.Ended {
			ended++
		}
		if e.Data > 0 || e.Reset {
			t.Errorf("event %+v, want headers", e)
		}
	}
	return statuses, n - ended
}

// short answers with a few bytes.
var short = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"status":"ok"}`) })

// TestStreamsOfOneAddress: streams that wait for the window of the client count for their address, on all its connections. One more gets 429
// without a body. A client of another address is served.
func TestStreamsOfOneAddress(t *testing.T) {
	t.Parallel()
	config := encrypted(t)
	synctest.Test(t, func(t *testing.T) {
		dial := serveOverPipes(t, short, 160, nil, config) // 40 of one address
		for i, want := range []int{32, 8, 0} {
			c := http2Over(t, dial("127.0.0.2"), 0)
			statuses, waiting := open(t, c, 32)
			if statuses[200] != want || statuses[429] != 32-want || waiting != want {
				t.Errorf("connection %d: %v, %d wait for the window; want %d", i, statuses, waiting, want)
			}
			if c.MaxStreams != 32 {
				t.Errorf("the server allows %d streams of a connection, want 32", c.MaxStreams)
			}
		}
		if statuses, waiting := open(t, http2Over(t, dial("127.0.0.3"), 1000), 1); statuses[200] != 1 || waiting > 1 {
			t.Errorf("another address: %v", statuses)
		}
		if statuses, _ := open(t, http2Over(t, dial("127.0.0.2"), 1000), 1); statuses[429] != 1 {
			t.Errorf("the address again: %v", statuses)
		}
	})
}

// TestStreamsOfProxy: the streams of a trusted proxy are those of all its clients.
func TestStreamsOfProxy(t *testing.T) {
	t.Parallel()
	config := encrypted(t)
	synctest.Test(t, func(t *testing.T) {
		dial := serveOverPipes(t, short, 8, []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}, config)
		if statuses, waiting := open(t, http2Over(t, dial("127.0.0.2"), 0), 32); statuses[200] != 32 || waiting != 32 {
			t.Errorf("the proxy: %v", statuses)
		}
	})
}

// TestShareOfStreams: if all streams are used, another address still gets its share.
func TestShareOfStreams(t *testing.T) {
	t.Parallel()
	config := encrypted(t)
	synctest.Test(t, func(t *testing.T) {
		dial := serveOverPipes(t, short, 40, nil, config) // 10 of one address
		for i := range 4 {
			if statuses, _ := open(t, http2Over(t, dial(fmt.Sprintf("127.0.0.%d", 2+i)), 0), 32); statuses[200] != 10 {
				t.Errorf("address %d: %v, want 10 streams", i, statuses)
			}
		}
		if statuses, _ := open(t, http2Over(t, dial("127.0.0.6"), 0), 32); statuses[200] != 8 { // 40 of five addresses
			t.Errorf("the fifth address: %v, want 8 streams", statuses)
		}
	})
}

// TestRefusedStreams: only so many refusals of an address wait to leave; more streams are reset.
func TestRefusedStreams(t *testing.T) {
	admitted, refused, reset := server.CountStreams(40, 1000)
	if admitted != 10 || refused != 256 || reset != 1000-10-256 {
		t.Errorf("%d admitted, %d refused, %d reset", admitted, refused, reset)
	}
}

// TestWritesOfOneAddress: 256 responses of an address may wait for the window of their client. One more ends its connection, and another address
// is served.
func TestWritesOfOneAddress(t *testing.T) {
	t.Parallel()
	config := encrypted(t)
	synctest.Test(t, func(t *testing.T) {
		dial := serveOverPipes(t, short, 4000, nil, config) // 1,000 streams of one address
		for range 8 {
			if statuses, _ := open(t, http2Over(t, dial("127.0.0.2"), 0), 32); statuses[200] != 32 {
				t.Fatalf("%v, want 32 streams", statuses)
			}
		}
		c := http2Over(t, dial("127.0.0.2"), 0)
		if _, err := c.Get("/healthz"); err != nil {
			t.Fatal(err)
		}
		for {
			e, err := c.Next()
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the connection is open")
			}
			if err != nil {
				break // the server closed it
			}
			if e.Ended || e.Data > 0 {
				t.Fatalf("a response came: %+v", e)
			}
		}
		if statuses, _ := open(t, http2Over(t, dial("127.0.0.3"), 1000), 1); statuses[200] != 1 {
			t.Errorf("another address: %v", statuses)
		}
	})
}

// TestDiscardsOfOneAddress: the rest of 64 refused bodies of an address is read at once. The connection of one more is closed after its response,
// and that of another address is not.
func TestDiscardsOfOneAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
		dial := serveOverPipes(t, refuse, 4000, nil, nil)
		send := func(from string) net.Conn {
			conn := dial(from)
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\nx", 1<<20)
			_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
			if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != http.StatusForbidden {
				t.Fatalf("%v, %v", resp, err)
			}
			synctest.Wait() // the server reads the rest
			return conn
		}
		var read []net.Conn
		for range 64 {
			read = append(read, send("127.0.0.2"))
		}
		one, other := send("127.0.0.2"), send("127.0.0.3")
		_ = one.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := one.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the 65th connection is open")
		}
		if n := count(append(read, other), isClosed); n != 0 {
			t.Errorf("%d of the first 64 connections and of another address are closed", n)
		}
	})
}

// TestStalledStream: a response that waits for the window for 10 s is given up, whatever deadline its handler has set, and its stream is not
// counted any more. An event stream lives on while its events leave.
func TestStalledStream(t *testing.T) {
	t.Parallel()
	config := encrypted(t)
	synctest.Test(t, func(t *testing.T) {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			switch r.URL.Path {
			case "/large":
				_ = control.SetWriteDeadline(time.Now().Add(time.Hour))
				_, _ = w.Write(make([]byte, 1<<20))
			case "/events":
				_ = control.SetWriteDeadline(time.Now().Add(time.Hour))
				for range 10 {
					if _, err := io.WriteString(w, "data: x\n\n"); err != nil || control.Flush() != nil {
						return
					}
					time.Sleep(20 * time.Second)
				}
			default:
				short(w, r)
			}
		})
		dial := serveOverPipes(t, handler, 8, nil, config) // 2 of one address
		begin := func(window uint32, path string) (c *http2test.Conn, took func() time.Duration) {
			c, err := http2test.New(t.Context(), dial("192.0.2.1"), window)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if _, err := c.Get(path); err != nil {
				t.Fatal(err)
			}
			return c, func() time.Duration {
				for {
					e, err := c.Next()
					if err != nil || e.Ended {
						t.Fatalf("%s: %+v, %v; want a reset", path, e, err)
					}
					if e.Reset {
						return time.Since(start)
					}
				}
			}
		}
		for _, tt := range []struct {
			path   string
			window uint32
		}{{"/healthz", 0}, {"/healthz", 3}, {"/large", 0}, {"/large", 5000}, {"/events", 0}} {
			c, took := begin(tt.window, tt.path)
			if d := took(); d < 10*time.Second || d > 11*time.Second {
				t.Errorf("%s with a window of %d: reset after %s, want 10 s", tt.path, tt.window, d)
			}
			_ = c.Close()
		}
		c, _ := begin(1000, "/events")
		var data int
		for {
			e, err := c.Next()
			if err != nil || e.Reset || e.Status == 429 {
				t.Fatalf("events: %+v, %v", e, err)
			}
			if data += e.Data; e.Ended {
				break
			}
		}
		if data != 90 {
			t.Errorf("%d bytes of events, want 90", data)
		}
		_ = c.Close()
	})
}

// TestResponsesOverHTTP2: responses are what the handlers wrote.
func TestResponsesOverHTTP2(t *testing.T) {
	t.Parallel()
	config := encrypted(t)
	synctest.Test(t, func(t *testing.T) {
		large := strings.Repeat("0123456789abcdef", 1<<16)
		dial := serveOverPipes(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/large":
				_, _ = io.WriteString(w, large)
			case "/parts":
				w.WriteHeader(http.StatusAccepted)
				for i := range 1000 {
					_, _ = fmt.Fprintf(w, "%8d", i)
				}
			case "/empty":
				w.WriteHeader(http.StatusNoContent)
				if _, err := w.Write([]byte("x")); !errors.Is(err, http.ErrBodyNotAllowed) {
					t.Errorf("a body of 204: %v", err)
				}
			case "/nothing":
			default:
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, "<p>none")
			}
		}), 100, nil, config)
		client := &http.Client{Timeout: testTimeout, Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: http2test.AnyCertificate,
			DialContext: func(context.Context, string, string) (net.Conn, error) { return dial("127.0.0.2"), nil },
		}}
		for _, tt := range []struct {
			method, path string
			status       int
			length       int64
			body         int
		}{
			{"GET", "/large", 200, -1, 1 << 20},
			{"GET", "/parts", 202, -1, 8000},
			{"GET", "/empty", 204, 0, 0},
			{"GET", "/nothing", 200, 0, 0},
			{"GET", "/x", 404, 7, 7},
			{"HEAD", "/x", 404, 7, 0},
		} {
			r, err := http.NewRequestWithContext(t.Context(), tt.method, "https://t"+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.ProtoMajor != 2 || resp.StatusCode != tt.status || resp.ContentLength != tt.length || len(body) != tt.body {
				t.Errorf("%s %s: got %s %d, length %d, %d bytes, %v", tt.method, tt.path, resp.Proto, resp.StatusCode, resp.ContentLength, len(body), err)
			}
			if tt.path == "/x" && resp.Header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Errorf("type %q", resp.Header.Get("Content-Type"))
			}
		}
	})
}
