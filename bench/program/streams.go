package program

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/bench"
)

const (
	// streamsOfAccount is how many streams an account may have.
	streamsOfAccount = 10
	// openAtOnce is how many streams are opened at the same time.
	openAtOnce = 16
	// streamsIdle is how long the transactions of idle streams are counted.
	streamsIdle = 20 * time.Second
	// streamEvents is how many events are timed.
	streamEvents = 30
	// streamTimeout ends a measurement whose event does not arrive.
	streamTimeout = 10 * time.Second
)

// StreamLoad is what open notification streams cost.
type StreamLoad struct {
	Streams int
	// Transactions are the transactions a second of the database, without and with the streams. They are 0 on SQLite.
	Idle, Open float64
	// CPU is the share of one processor that the service uses with the idle streams.
	CPU float64
	// Memory is the resident memory of the process with the streams, in bytes, and Peak its largest value.
	Memory, Peak int64
	// Event is the time from the response to a decision until the stream has its event: on another replica on PostgreSQL.
	Event Percentiles
}

// String returns one line for people.
func (l StreamLoad) String() string {
	return fmt.Sprintf("%d streams: %.1f transactions/s, %.1f without them; %.2f processors; %d MB resident, peak %d MB; an event after %s",
		l.Streams, l.Open, l.Idle, l.CPU, l.Memory>>20, l.Peak>>20, l.Event)
}

// MeasureStreams opens n streams at one process and measures their cost while nothing happens, and then how late events are.
func MeasureStreams(ctx context.Context, p Program, engine string, n int) (StreamLoad, error) {
	s, err := run(ctx, p, engine, 1, "TOUCHLINE_STREAMS=100000", "TOUCHLINE_MAX_CONNECTIONS=200000")
	if err != nil {
		return StreamLoad{}, err
	}
	defer s.close()
	l := StreamLoad{Streams: n}
	tokens, err := s.streamAccounts(ctx, n)
	if err != nil {
		return l, fmt.Errorf("sign in: %w", err)
	}
	replica, err := s.replica(ctx)
	if err != nil {
		return l, fmt.Errorf("start another replica: %w", err)
	}
	if replica != s {
		defer stop(replica.process)
	}
	if l.Idle, _, err = s.transactions(ctx); err != nil {
		return l, err
	}
	streams, err := replica.openStreams(ctx, tokens, n)
	defer func() {
		for _, st := range streams {
			st.Close()
		}
	}()
	if err != nil {
		return l, err
	}
	before, err := bench.CPUTime(replica.process.PID())
	if err != nil {
		return l, err
	}
	var took time.Duration
	if l.Open, took, err = s.transactions(ctx); err != nil {
		return l, err
	}
	after, err := bench.CPUTime(replica.process.PID())
	if err != nil {
		return l, err
	}
	l.CPU = (after - before).Seconds() / took.Seconds()
	if l.Memory, l.Peak, err = bench.Memory(replica.process.PID()); err != nil {
		return l, err
	}
	l.Event, err = s.timeEvents(ctx, replica)
	return l, err
}

// streamAccounts signs in as many coaches as n streams need, and at most a thousand.
func (s *runningServer) streamAccounts(ctx context.Context, n int) ([]string, error) {
	c := newClient(s.server.URL())
	tokens := make([]string, max(min(n, 1000), (n+streamsOfAccount-1)/streamsOfAccount))
	for i := range tokens {
		number := fmt.Sprintf("+91985%07d", i)
		s.gateway.expect(number)
		access, _, err := c.signIn(ctx, number, "coach", func() string { return s.gateway.await(number) })
		if err != nil {
			return nil, err
		}
		tokens[i] = "Bearer " + access
	}
	return tokens, nil
}

// replica starts another process with the same database. On SQLite, which one process uses, it returns s.
func (s *runningServer) replica(ctx context.Context) (*runningServer, error) {
	if !strings.HasPrefix(s.server.database.URL, "postgres") {
		return s, nil
	}
	address, err := bench.FreeAddress()
	if err != nil {
		return nil, err
	}
	other := *s.server
	other.address = address
	cmd := exec.Command(other.program, "serve")
	cmd.Env = append(append(os.Environ(), other.env...), "TOUCHLINE_ADDR="+address)
	process, err := bench.Start(ctx, cmd, other.URL()+"/readyz")
	return &runningServer{name: s.name, server: &other, process: process}, err
}

// transactions returns the transactions a second of the database over streamsIdle, 0 on SQLite, and how long it counted them.
func (s *runningServer) transactions(ctx context.Context) (rate float64, took time.Duration, err error) {
	count := func() (n int64, err error) { return 0, nil }
	if strings.HasPrefix(s.server.database.URL, "postgres") {
		conn, err := pgx.Connect(ctx, s.server.database.URL)
		if err != nil {
			return 0, 0, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		count = func() (n int64, err error) {
			err = conn.QueryRow(ctx, `SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()`).Scan(&n)
			return n, err
		}
	}
	begun := time.Now()
	before, err := count()
	if err != nil {
		return 0, 0, err
	}
	select {
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	case <-time.After(streamsIdle):
	}
	after, err := count()
	took = time.Since(begun)
	return float64(after-before) / took.Seconds(), took, err
}

// stream is an open notification stream.
type stream struct {
	net.Conn
	lines *bufio.Reader
}

// openStreams opens n streams, openAtOnce at the same time. It returns those that it opened also with an error.
func (s *runningServer) openStreams(ctx context.Context, tokens []string, n int) (streams []*stream, err error) {
	var (
		mu   sync.Mutex
		wait sync.WaitGroup
		next int
	)
	for range openAtOnce {
		wait.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= n || err != nil || ctx.Err() != nil
				mu.Unlock()
				if stop {
					return
				}
				st, failed := s.openStream(tokens[i%len(tokens)])
				mu.Lock()
				if failed != nil {
					err = cmp.Or(err, fmt.Errorf("stream %d: %w", i, failed))
				} else {
					streams = append(streams, st)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	return streams, cmp.Or(err, ctx.Err())
}

// openStream opens a stream and reads its first line.
func (s *runningServer) openStream(token string) (*stream, error) {
	conn, err := net.DialTimeout("tcp", s.server.address, streamTimeout)
	if err != nil {
		return nil, err
	}
	st := &stream{conn, bufio.NewReaderSize(conn, 1024)}
	if _, err = fmt.Fprintf(conn, "GET /api/notifications/stream HTTP/1.1\r\nHost: bench\r\nAuthorization: %s\r\n\r\n", token); err == nil {
		_, err = st.until("retry: ")
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return st, nil
}

// until reads until a line that begins with prefix and returns the time.
func (st *stream) until(prefix string) (time.Time, error) {
	if err := st.SetReadDeadline(time.Now().Add(streamTimeout)); err != nil {
		return time.Time{}, err
	}
	for seen := ""; ; {
		line, err := st.lines.ReadString('\n')
		if err != nil {
			return time.Time{}, fmt.Errorf("no line %q after %.200q: %w", prefix, seen, err)
		}
		if strings.HasPrefix(line, prefix) {
			return time.Now(), nil
		}
		seen += line
	}
}

// timeEvents lets a guardian decide at s and measures until a stream of the coach at replica has the event.
func (s *runningServer) timeEvents(ctx context.Context, replica *runningServer) (Percentiles, error) {
	c := newClient(s.server.URL())
	a := s.workers[0]
	st, err := replica.openStream(a.coach.Get("Authorization"))
	if err != nil {
		return Percentiles{}, err
	}
	defer st.Close()
	var late []time.Duration
	for i := range streamEvents {
		time.Sleep(50 * time.Millisecond)
		body := fmt.Sprintf(`{"player_id":"%s","action":"approved"}`, a.players[i/2%len(a.players)])
		if i%2 == 1 {
			body = strings.Replace(body, "approved", "revoked", 1)
		}
		if _, err := c.send(ctx, http.MethodPut, "/api/approval/guardian-response", a.guardian, []byte(body)); err != nil {
			return Percentiles{}, err
		}
		decided := time.Now()
		at, err := st.until("event: notification")
		if err != nil {
			return Percentiles{}, err
		}
		late = append(late, max(0, at.Sub(decided)))
	}
	return percentiles(late), nil
}
