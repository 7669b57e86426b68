package program

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/touchline/touchline/bench"
)

// Program is a built program. An empty Path builds the service of this module.
type Program struct{ Name, Path string }

// Operations are the operations that [Group.Compare] can measure, in the order of a usual run.
var Operations = []string{"sign-in", "first sign-in", "read", "refresh", "decision", "add player"}

// Group is one or more programs, usually two builds, each a server with a separate database on the same engine.
type Group struct {
	servers []*runningServer
}

// NewGroup starts the programs and prepares the same data in each database over HTTP. Call Close to stop them.
func NewGroup(ctx context.Context, programs []Program, engine string, workers int) (*Group, error) {
	g := &Group{}
	for _, program := range programs {
		s, err := run(ctx, program, engine, workers, "TOUCHLINE_MAX_IN_FLIGHT=100000")
		if err != nil {
			g.Close()
			return nil, fmt.Errorf("%s: %w", program.Name, err)
		}
		g.servers = append(g.servers, s)
	}
	return g, nil
}

// Close stops the servers and removes their databases.
func (g *Group) Close() {
	for _, s := range g.servers {
		s.close()
	}
}

// Compare measures one of Operations on all programs in turns.
func (g *Group) Compare(ctx context.Context, operation string, o bench.Options) (bench.Result, error) {
	contenders := make([]bench.Contender, len(g.servers))
	for i, s := range g.servers {
		c, err := s.contender(operation)
		if err != nil {
			return bench.Result{}, err
		}
		c.Before = g.drained
		contenders[i] = c
	}
	return bench.Compare(ctx, contenders, o)
}

// drained waits until no server delivers messages.
func (g *Group) drained(ctx context.Context) error {
	for _, s := range g.servers {
		if err := s.gateway.drained(ctx); err != nil {
			return err
		}
	}
	return nil
}

// playersOfWorker is how many players share the decisions of a worker. The response to a decision holds the player's history,
// so a single player would make each decision slower than the one before.
const playersOfWorker = 20

// runningServer is a program with its database, its SMS gateway and the accounts of each worker.
type runningServer struct {
	name       string
	server     *Server
	process    *bench.Process
	gateway    *gateway
	workers    []*accounts
	added      atomic.Int64 // players added so far
	registered atomic.Int64 // coaches registered so far
}

// accounts are the people that one worker acts for.
type accounts struct {
	coach, guardian http.Header // with an access token
	refreshToken    string      // of a second session of the coach
	players         []string    // ids; the guardian has approved none at first
	next            int         // index of the next player
}

func (a *accounts) nextPlayer() string {
	a.next++
	return a.players[a.next%len(a.players)]
}

func run(ctx context.Context, program Program, engine string, workers int, env ...string) (*runningServer, error) {
	gateway, err := openGateway()
	if err != nil {
		return nil, err
	}
	s := &runningServer{name: program.Name, gateway: gateway}
	if s.server, err = NewServer(ctx, program.Path, engine, "http:"+gateway.url, append(env, "TOUCHLINE_ACCESS_TOKEN_LIFETIME=24h")...); err != nil {
		s.close()
		return nil, err
	}
	if err := s.server.removeTierLimits(); err != nil {
		s.close()
		return nil, err
	}
	if s.process, err = s.server.Start(ctx); err != nil {
		s.close()
		return nil, err
	}
	if err := s.prepare(ctx, workers); err != nil {
		s.close()
		return nil, fmt.Errorf("prepare: %w", err)
	}
	return s, nil
}

func (s *runningServer) close() {
	if s.process != nil {
		stop(s.process)
	}
	if s.server != nil {
		s.server.Close()
	}
	s.gateway.close()
}

// removeTierLimits gives every coach a tier without limits.
func (s *Server) removeTierLimits() error {
	path := filepath.Join(s.database.Dir, "tiers.json")
	s.env = append(s.env, "TOUCHLINE_TIERS="+path)
	return os.WriteFile(path, []byte(`{"tiers": [{"name": "unlimited", "title": "Unlimited", "self_service": true}]}`), 0o600)
}

// contender returns an operation of this server.
func (s *runningServer) contender(operation string) (bench.Contender, error) {
	c := bench.Contender{Name: s.name, URL: s.server.URL(), PID: s.process.PID()}
	switch operation {
	case "sign-in":
		c.PerOperation, c.Requests = 2, signIns(s.gateway, knownNumber)
	case "first sign-in":
		c.PerOperation, c.Requests = 2, signIns(s.gateway, func(int, int) string { return fmt.Sprintf("+91982%07d", s.registered.Add(1)) })
	case "read":
		c.Requests = s.eachWorker(s.availability)
	case "refresh":
		c.Requests, c.Response = s.eachWorker(s.refresh), s.refreshed
	case "decision":
		c.PerOperation, c.Requests = 3, s.eachWorker(s.decision)
	case "add player":
		c.Requests = s.eachWorker(s.addPlayer)
	default:
		return c, fmt.Errorf("no operation %q", operation)
	}
	return c, nil
}

func (s *runningServer) eachWorker(requests func(*accounts) func() *http.Request) func(int) func() *http.Request {
	return func(worker int) func() *http.Request { return requests(s.workers[worker]) }
}

// availability reads the availability of a player as the guardian.
func (s *runningServer) availability(a *accounts) func() *http.Request {
	return func() *http.Request {
		return bench.NewRequest(http.MethodGet, "/api/services/availability/"+a.nextPlayer(), a.guardian, "")
	}
}

func (s *runningServer) refresh(a *accounts) func() *http.Request {
	return func() *http.Request {
		return bench.NewRequest(http.MethodPost, "/auth/refresh", bench.JSONHeader, `{"refresh_token":"`+a.refreshToken+`"}`)
	}
}

func (s *runningServer) refreshed(worker int, body []byte) (err error) {
	s.workers[worker].refreshToken, err = bench.StringMember(body, "refresh_token")
	return err
}

// decision is three requests about one player: the guardian approves, the guardian revokes, and the coach sends a new request,
// which leaves the player as it was.
func (s *runningServer) decision(a *accounts) func() *http.Request {
	step, player := 0, ""
	decide := func(action string) *http.Request {
		return bench.NewRequest(http.MethodPut, "/api/approval/guardian-response", a.guardian,
			`{"player_id":"`+player+`","action":"`+action+`"}`)
	}
	return func() *http.Request {
		step++
		switch step % 3 {
		case 1:
			player = a.nextPlayer()
			return decide("approved")
		case 2:
			return decide("revoked")
		default:
			return bench.NewRequest(http.MethodPost, "/api/approval/send-guardian-request", a.coach, `{"player_id":"`+player+`"}`)
		}
	}
}

// addPlayer adds a player with a guardian and a student who have no other player; both receive an SMS.
func (s *runningServer) addPlayer(a *accounts) func() *http.Request {
	return func() *http.Request {
		n := s.added.Add(1)
		return bench.NewRequest(http.MethodPost, "/api/players/add", a.coach,
			playerBody(fmt.Sprintf("+91985%07d", n), fmt.Sprintf("+91986%07d", n), n))
	}
}

// playerBody is the body of POST /api/players/add; studentNumber may be empty. n makes the student's name unique.
func playerBody(guardianNumber, studentNumber string, n int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"student":{"full_name":"Asha Rao %d","date_of_birth":"2014-04-30"`, n)
	if studentNumber != "" {
		b.WriteString(`,"contact_number":"` + studentNumber + `"`)
	}
	b.WriteString(`},"guardian":{"name":"Ravi Rao","relationship":"father","mobile_number":"` + guardianNumber + `"}}`)
	return b.String()
}
