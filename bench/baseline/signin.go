package baseline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/bench"
)

// The contenders of the sign-in.
const (
	Known = "known number"
	New   = "new number"
)

// Build builds the service as it is released, stripped and without cgo, and returns the program's path.
func Build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "touchline")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "github.com/touchline/touchline/cmd/touchline")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return program, cmd.Run()
}

// Server is the released program on a database of its own.
type Server struct {
	fixture Fixture // for its database and its closers
	program string
	address string
	env     []string
	// terminal gets what the program prints; nil is nobody.
	terminal io.Writer
}

// NewServer builds the program and prepares a database; sms is where messages go.
func NewServer(ctx context.Context, engine, sms string) (*Server, error) {
	s := &Server{}
	dir, url, err := s.fixture.database(engine)
	if err == nil {
		s.program, err = Build(ctx, dir)
	}
	if err == nil {
		s.address, err = bench.FreeAddress()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.env = append(environment(dir, url, sms), "TOUCHLINE_ADDR="+s.address)
	return s, nil
}

// Program is where the program lies.
func (s *Server) Program() string { return s.program }

// Start starts the program and waits until it answers.
func (s *Server) Start(ctx context.Context) (*bench.Process, error) {
	cmd := exec.Command(s.program, "serve")
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stdout = s.terminal
	return bench.Start(ctx, cmd, "http://"+s.address+"/readyz")
}

// Close removes the database. Processes must have been stopped.
func (s *Server) Close() { s.fixture.Close() }

// openSignIn compares the sign-in of coaches who are known with that of coaches who are new. The code of each travels through
// a gateway, so that the sending is in the CPU time too; the wait for it is the client's.
func openSignIn(ctx context.Context, engine string, o bench.Options) ([]bench.Contender, func(), error) {
	gateway, err := openGateway()
	if err != nil {
		return nil, nil, err
	}
	return signIns(ctx, engine, "http:"+gateway.url, gateway, o)
}

// openPrintedSignIn is openSignIn with a service that prints the messages: what the two calls alone take.
func openPrintedSignIn(ctx context.Context, engine string, o bench.Options) ([]bench.Contender, func(), error) {
	return signIns(ctx, engine, "log", &gateway{server: new(http.Server)}, o)
}

func signIns(ctx context.Context, engine, sms string, gateway *gateway, o bench.Options) ([]bench.Contender, func(), error) {
	s, err := NewServer(ctx, engine, sms)
	if err != nil {
		gateway.close()
		return nil, nil, err
	}
	s.terminal = gateway
	p, err := s.Start(ctx)
	if err != nil {
		s.Close()
		gateway.close()
		return nil, nil, err
	}
	done := func() {
		limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		p.Stop(limit) //nolint:errcheck // what it leaves is removed
		s.Close()
		gateway.close()
	}
	const known = 32 // numbers of each worker
	var fresh atomic.Int64
	signIn := func(number func(worker, i int) string) func(int) func() *http.Request {
		return func(worker int) func() *http.Request {
			var i int
			var to string
			return func() *http.Request {
				if to == "" {
					to, i = number(worker, i), i+1
					gateway.expect(to)
					return request(http.MethodPost, "/auth/request-otp", jsonBody, `{"mobile_number":"`+to+`"}`)
				}
				otp := gateway.await(to)
				body := `{"mobile_number":"` + to + `","otp":"` + otp + `"}`
				to = ""
				return request(http.MethodPost, "/auth/login", jsonBody, body)
			}
		}
	}
	contender := bench.Contender{URL: "http://" + s.address, PID: p.PID(), PerOperation: 2}
	one, two := contender, contender
	one.Name, one.Requests = Known, signIn(func(worker, i int) string { return fmt.Sprintf("+91981%07d", worker*known+i%known) })
	two.Name, two.Requests = New, signIn(func(int, int) string { return fmt.Sprintf("+91982%07d", fresh.Add(1)) })
	// The known have signed in before.
	warm := one
	warm.Requests = func(worker int) func() *http.Request {
		next, n := one.Requests(worker), 2*known
		return func() *http.Request {
			if n == 0 {
				return nil
			}
			n--
			return next()
		}
	}
	_, err = bench.Compare(ctx, []bench.Contender{warm}, bench.Options{Rounds: 1, Round: time.Minute, Warmup: -1, Workers: o.Workers})
	if err != nil {
		done()
		return nil, nil, err
	}
	return []bench.Contender{one, two}, done, nil
}

// gateway takes messages as an SMS gateway does and hands out their codes.
type gateway struct {
	url    string
	server *http.Server
	codes  sync.Map // number to chan string
	lines  []byte   // printed, and not understood yet
}

var digits = regexp.MustCompile(`\d{4,10}`)

func openGateway() (*gateway, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g := &gateway{url: "http://" + l.Addr().String()}
	g.server = &http.Server{Handler: g, ReadHeaderTimeout: time.Second}
	go g.server.Serve(l) //nolint:errcheck // it ends by Close
	return g, nil
}

func (g *gateway) close() { g.server.Close() }

// ServeHTTP takes a message.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct{ To, Text string }
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	g.sent(m.To, digits.FindString(m.Text))
}

func (g *gateway) sent(number, otp string) {
	if code, ok := g.codes.Load(number); ok {
		select {
		case code.(chan string) <- otp:
		default:
		}
	}
}

// printed is a message as the service prints it: the number, then the code.
var printed = regexp.MustCompile(`│ to (\+[\d -]+) \(otp\)\n│\n│\D*(\d+)`)

// Write takes what the service prints, a message at a time.
func (g *gateway) Write(text []byte) (int, error) {
	g.lines = append(g.lines, text...)
	for {
		m := printed.FindSubmatchIndex(g.lines)
		if m == nil {
			break
		}
		number := strings.NewReplacer(" ", "", "-", "").Replace(string(g.lines[m[2]:m[3]]))
		g.sent(number, string(g.lines[m[4]:m[5]]))
		g.lines = g.lines[m[1]:]
	}
	if len(g.lines) > 4096 { // of what else it prints
		g.lines = bytes.Clone(g.lines[len(g.lines)-1024:])
	}
	return len(text), nil
}

func (g *gateway) expect(number string) { g.codes.Store(number, make(chan string, 1)) }

// await returns the code that was sent to number, "" if none comes.
func (g *gateway) await(number string) string {
	code, _ := g.codes.Load(number)
	defer g.codes.Delete(number)
	select {
	case otp := <-code.(chan string):
		return otp
	case <-time.After(10 * time.Second):
		return ""
	}
}
