package server_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// promptly is the longest that a connection may stay open for the rest of a body that
// does not arrive: briefly in the handler, briefly after the response, and some for a busy
// machine. The read timeout of the server is longer.
const (
	promptly = 15 * time.Second
	briefly  = 500 * time.Millisecond
)

// shortTimeouts replaces the waits for the rest of a body, of 5 s each.
func shortTimeouts(o *server.Options) {
	o.UploadTimeouts.End, o.DiscardStall = briefly, briefly
}

// readAnswer reads one response and waits until the server closes the connection, if
// it announces that. closed is false if it keeps the connection open.
func readAnswer(t *testing.T, conn io.Reader, method string) (status int, closed bool) {
	t.Helper()
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	if resp.Close {
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("read after Connection: close: %v, want EOF", err)
		}
	}
	return resp.StatusCode, resp.Close
}

// TestChunkedBodyClosesConnection: the connection of a chunked HTTP/1.1 body is closed
// after the response, on both listeners; the connection of another body stays open.
func TestChunkedBodyClosesConnection(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	const otp = `{"mobile_number": "+919812300001"}`
	for _, tt := range []struct {
		name, url, path, header, body string
		status                        int
		closed                        bool
	}{
		{"chunked", s.URL, "/auth/request-otp", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(otp), otp), 202, true},
		{"chunked and refused", s.URL, "/api/players/add", "Transfer-Encoding: chunked", "1\r\n{\r\n0\r\n\r\n", 401, true},
		{"chunked, operators", s.AdminURL, "/api/admin/kyc", "Transfer-Encoding: chunked", "0\r\n\r\n", 405, true},
		{"with a length", s.URL, "/auth/verify-otp", "Content-Length: 2", "{}", 422, false},
	} {
		conn := dial(t, tt.url)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\n%s\r\n\r\n%s", tt.path, tt.header, tt.body)
		if status, closed := readAnswer(t, conn, "POST"); status != tt.status || closed != tt.closed {
			t.Errorf("%s: got %d, closed %t; want %d, closed %t", tt.name, status, closed, tt.status, tt.closed)
		}
	}
}

// TestBodyShorterThanItsLength: a client that announces more bytes than it sends, and
// waits, gets its response soon, and does not delay a stop.
func TestBodyShorterThanItsLength(t *testing.T) {
	t.Parallel()
	s := touchlinetest.NewWith(t, storetest.SQLite(t), shortTimeouts)
	c := s.Coach(t, "+919812300001")
	form, contentType := touchlinetest.Form(map[string]string{"kind": "identity"}, "a.pdf", touchlinetest.PDF(3000, 1))
	upload := func(token string) string {
		return fmt.Sprintf("POST /api/coach/documents HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer %s\r\n%s\r\nContent-Length: %d\r\n\r\n%s", token, contentType, len(form)+9, form)
	}
	var all sync.WaitGroup // all wait at the same time, whatever -parallel is
	defer all.Wait()
	for _, tt := range []struct {
		name, request string
		status        int
	}{
		{"upload", upload(c.Access), 400},
		{"upload without its last chunk", fmt.Sprintf("POST /api/coach/documents HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer %s\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", c.Access, contentType, len(form), form), 400},
		{"refused upload", upload("x"), 401},
		{"ignored body", "GET /healthz HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n", 200},
		{"unknown path", "POST /nowhere HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n", 404},
	} {
		all.Go(func() {
			t.Run(tt.name, func(t *testing.T) {
				conn := dial(t, s.URL)
				start := time.Now()
				if _, err := conn.Write([]byte(tt.request)); err != nil {
					t.Fatal(err)
				}
				status, closed := readAnswer(t, conn, "POST")
				if took := time.Since(start); status != tt.status || !closed || took > promptly {
					t.Errorf("got %d, closed %t after %s; want %d, closed within %s", status, closed, took, tt.status, promptly)
				}
			})
		})
	}
	t.Run("stop", func(t *testing.T) {
		other := touchlinetest.NewWith(t, storetest.SQLite(t), shortTimeouts)
		c := other.Coach(t, "+919812300001")
		conn := dial(t, other.URL)
		if _, err := conn.Write([]byte(upload(c.Access))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond) // the handler reads the body
		start := time.Now()
		if err := other.Stop(); err != nil || time.Since(start) > promptly {
			t.Errorf("stop: %v after %s, want within %s", err, time.Since(start), promptly)
		}
		if status, _ := readAnswer(t, conn, "POST"); status != 400 {
			t.Errorf("got %d, want 400", status)
		}
	})
}

// TestDefaultTimeoutsOfBodies: by default a handler of an upload waits 5 s for the end of the
// body, and the connection 5 s for a body that the handler has not read.
func TestDefaultTimeoutsOfBodies(t *testing.T) {
	t.Parallel()
	readForm := func(w http.ResponseWriter, r *http.Request) {
		body := upload.NewBody(r.Body, http.NewResponseController(w), upload.Timeouts{})
		defer body.Done()
		if _, err := upload.ReadForm(body, r.Header, nil, upload.Fields{Texts: []string{"kind"}}); err == nil {
			t.Error("a form that is too short was read")
		}
	}
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		want    time.Duration
	}{
		"ignored body": {func(http.ResponseWriter, *http.Request) {}, 5 * time.Second},
		"upload":       {readForm, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := make(pipeListener, 1)
				served := make(chan error, 1)
				go func() { served <- server.ServeDefaults(l, tt.handler, slog.New(slog.DiscardHandler)) }()
				client, accepted := net.Pipe()
				l <- accepted
				start := time.Now()
				const form = "--b\r\nContent-Disposition: form-data; name=\"kind\"\r\n\r\nx\r\n--b--\r\n"
				fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: t\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n%s", len(form)+9, form)
				_, closed := readAnswer(t, client, "POST")
				if took := time.Since(start).Truncate(time.Second); !closed || took != tt.want {
					t.Errorf("closed %t after %s, want closed after %s", closed, took, tt.want)
				}
				close(l)
				<-served
			})
		})
	}
}

// fullListener fails n times, as a process without a free file does, and is closed then.
type fullListener struct {
	pipeListener
	n int
}

func (l *fullListener) Accept() (net.Conn, error) {
	if l.n--; l.n < 0 {
		return nil, net.ErrClosed
	}
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
}

// TestAcceptErrors: the log warns each minute that connections cannot be accepted.
func TestAcceptErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		l := &fullListener{n: 100} // net/http waits up to a second after each error
		if err := server.ServeDefaults(l, http.NotFoundHandler(), slog.New(slog.NewTextHandler(&log, nil))); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 2 || !strings.Contains(log.String(), "too many open files") {
			t.Errorf("%d warnings in 90 s, want 2:\n%s", n, &log)
		}
	})
}

// TestRefusedBodyIsRead: a client that sends a whole body before it reads the response gets
// the response, and no reset connection, also if the body is much too large.
func TestRefusedBodyIsRead(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	c := s.Coach(t, "+919812300001")
	large := make([]byte, 12<<20)
	for _, tt := range []struct {
		path, header string
		size, status int
	}{
		{"/auth/request-otp", "Content-Type: application/json", 6 << 20, 413},
		{"/coach/sign-in", "Content-Type: application/x-www-form-urlencoded", 6 << 20, 413},
		{"/api/coach/documents", "Content-Type: multipart/form-data; boundary=b", 12 << 20, 413},
	} {
		conn := dial(t, s.URL)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer %s\r\n%s\r\nContent-Length: %d\r\n\r\n", tt.path, c.Access, tt.header, tt.size)
		if _, err := conn.Write(large[:tt.size]); err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		if status, _ := readAnswer(t, conn, "POST"); status != tt.status {
			t.Errorf("%s: got %d, want %d", tt.path, status, tt.status)
		}
	}
}
