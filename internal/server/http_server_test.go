package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// testTimeout is the longest that these tests wait for a response.
const testTimeout = 30 * time.Second

// dial opens a connection to the host of an http URL.
func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(address, "http://"), testTimeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testTimeout))
	return conn.(*net.TCPConn)
}

// sendAndCloseWrite sends a request, closes the sending side of the connection, and
// returns the status of the response. It reads the whole response.
func sendAndCloseWrite(t *testing.T, address, method, path, token, body string) int {
	t.Helper()
	conn := dial(t, address)
	defer conn.Close()
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: t.example\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", method, path, len(body))
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"+body); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode
}

// TestHalfClosedConnectionGetsResponse: a client that closes its sending side after the
// request, as nc -N does, still gets the response.
func TestHalfClosedConnectionGetsResponse(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, "+919812300001")
		id := coach.Upload(t, "certification", "first aid.pdf", touchlinetest.PDF(5000, 1), "title", "First aid").String("document_id")
		for range 20 {
			for _, tt := range []struct {
				address, method, path, token, body string
				want                               int
			}{
				{s.URL, "GET", "/healthz", "", "", 200},
				{s.URL, "GET", "/readyz", "", "", 200},
				{s.AdminURL, "GET", "/readyz", "", "", 200},
				{s.URL, "GET", "/a/AbCdEfGhIjKlMnOpQrStUv", "", "", 404},
				{s.URL, "GET", "/api/coaches", "", "", 200},
				{s.URL, "GET", "/api/coach/dashboard", coach.Access, "", 200},
				{s.URL, "GET", "/api/coach/documents/" + id + "/content", coach.Access, "", 200},
				{s.URL, "POST", "/api/notifications/read", coach.Access, `{"all": true}`, 200},
				{s.URL, "PATCH", "/api/coach/profile", coach.Access, `{"bio": "Football."}`, 200},
			} {
				if got := sendAndCloseWrite(t, tt.address, tt.method, tt.path, tt.token, tt.body); got != tt.want {
					t.Errorf("%s %s: got %d, want %d", tt.method, tt.path, got, tt.want)
				}
			}
		}
		// An event stream ends when the client closes its sending side.
		conn := dial(t, s.URL)
		if _, err := io.WriteString(conn, "GET /api/notifications/stream HTTP/1.1\r\nHost: t.example\r\nAuthorization: Bearer "+coach.Access+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		stream, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || stream.StatusCode != 200 {
			t.Fatal(stream, err)
		}
		defer stream.Body.Close()
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, stream.Body); err != nil {
			t.Errorf("read the stream to its end: %v", err)
		}
	})
}
