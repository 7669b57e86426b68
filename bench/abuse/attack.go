package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/httpx/http2test"
)

// addresses are where attacks come from: alone from the first, all at once from all eight.
var addresses = []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7", "127.0.0.8", "127.0.0.9"}

const (
	// bodySize is how much of a body is sent, and missing how much more is announced. Both
	// together are the largest spreadsheet.
	bodySize, missing = 4<<20 - 50, 50
	// pause is the time between two requests of an attacker. Each keeps its connection until
	// the service closes it, at most for hold.
	pause, hold = 5 * time.Second, 35 * time.Second
)

// attack runs until its context ends.
type attack struct {
	name string
	run  func(ctx context.Context, s *service, from *sender)
}

var attacks = []attack{
	{"nothing", func(ctx context.Context, _ *service, _ *sender) { <-ctx.Done() }}, // for comparison
	{"forms", func(ctx context.Context, s *service, from *sender) {
		from.atOnce(ctx, 560, func(int) request {
			return post("/coach/players/import", "application/x-www-form-urlencoded", "", "text=")
		})
	}},
	{"files", func(ctx context.Context, s *service, from *sender) {
		from.atOnce(ctx, 1120+16*freeCoaches, func(i int) request {
			if i < 1120 {
				return post("/coach/players/import", "multipart/form-data; boundary=XX", "Cookie: "+s.free[0].cookie, "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n")
			}
			return post("/api/players/import", "text/csv", "Authorization: Bearer "+s.free[i%freeCoaches].access, "name,dob\n")
		})
	}},
	{"spreadsheets", func(ctx context.Context, s *service, from *sender) {
		sheet := spreadsheet()
		from.atOnce(ctx, 48, func(i int) request {
			return request{
				header: fmt.Sprintf("POST /api/players/import HTTP/1.1\r\nHost: t\r\nContent-Type: text/csv\r\nContent-Length: %d\r\nAuthorization: Bearer %s\r\n\r\n", len(sheet), s.paying[i%payingCoaches].access),
				body:   sheet,
			}
		})
	}},
	{"connections", func(ctx context.Context, s *service, from *sender) {
		from.atOnce(ctx, 6000, func(int) request {
			return request{header: "GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n", stays: true}
		})
	}},
	// Responses that wait for the client: over HTTP/2 with a window of 0. A service without TLS does not speak HTTP/2.
	{"streams", func(ctx context.Context, s *service, from *sender) {
		if !s.encrypted() {
			<-ctx.Done()
			return
		}
		from.windows(ctx, 400, 250)
	}},
}

func attackNames() (names []string) {
	for _, a := range attacks {
		names = append(names, a.name)
	}
	return names
}

// spreadsheet returns 10,000 valid rows of nearly 4 MiB.
func spreadsheet() []byte {
	var b strings.Builder
	b.WriteString("Student name,Date of birth,Notes\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "Player %d,2001-04-30,%s\n", i, strings.Repeat("x", 380))
	}
	return []byte(b.String())
}

// filler is the rest of every body that never ends.
var filler = []byte(strings.Repeat("x", bodySize))

// request is a request of an attacker.
type request struct {
	header string
	body   []byte
	// stays says that the connection stays open after the response.
	stays bool
}

// post returns a POST whose body stops before its end.
func post(path, mediaType, credential, start string) request {
	header := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: t\r\nContent-Type: %s\r\nContent-Length: %d\r\n", path, mediaType, bodySize+missing)
	if credential != "" {
		header += credential + "\r\n"
	}
	return request{header: header + "\r\n" + start, body: filler[len(start):]}
}

// sender sends the requests of an attack.
type sender struct {
	name, target string
	encrypted    bool
	from         []string
	counts       *counts
}

// atOnce runs n attackers, each with one open connection, until ctx ends.
func (s *sender) atOnce(ctx context.Context, n int, request func(i int) request) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r, d := request(i), net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(s.from[i%len(s.from)])}}
			for ctx.Err() == nil {
				s.counts.add(s.name, s.send(ctx, &d, r))
				sleep(ctx, pause)
			}
		})
		time.Sleep(time.Millisecond) // the client, too, has a backlog
	}
	wg.Wait()
}

// send sends a request and returns the status of its response, 0 without one.
func (s *sender) send(ctx context.Context, d *net.Dialer, r request) (status int) {
	conn, err := d.DialContext(ctx, "tcp", s.target)
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw := conn
	stop := context.AfterFunc(ctx, func() { raw.Close() }) //nolint:errcheck // it is not needed any more
	defer stop()
	_ = conn.SetDeadline(time.Now().Add(hold)) // a TCP connection has deadlines
	if s.encrypted {
		conn = tls.Client(conn, http2test.AnyCertificate)
	}
	go func() {
		if _, err := io.WriteString(conn, r.header); err == nil {
			_, _ = conn.Write(r.body) // the service may refuse the rest
		}
	}()
	reader := bufio.NewReaderSize(conn, 512)
	resp, err := http.ReadResponse(reader, nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	if r.stays {
		_ = conn.SetDeadline(time.Time{})
		_, _ = reader.ReadByte() // until one side closes it
	}
	return resp.StatusCode
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// counts counts the responses to attacks by status.
type counts struct {
	mu       sync.Mutex
	byAttack map[string]map[int]int
}

func (c *counts) add(attack string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byAttack == nil {
		c.byAttack = map[string]map[int]int{}
	}
	if c.byAttack[attack] == nil {
		c.byAttack[attack] = map[int]int{}
	}
	c.byAttack[attack][status]++
}
