// Package touchlinetest runs the whole service inside a test: the server on a
// loopback port, a real database, a fake SMS gateway and a clock that the test
// can advance. It checks every response against the OpenAPI document.
package touchlinetest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/clock"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/store/storetest"
)

// Service is one running replica.
type Service struct {
	URL string
	// AdminURL is the address of the operators' listener.
	AdminURL string
	Clock    *clock.Clock
	Gateway  *smstest.Gateway
	Config   *config.Config
	Log      *Log

	tb            testing.TB
	serverOptions func(*server.Options)
	client        *http.Client
	// adminClient checks responses against the operators' OpenAPI document.
	adminClient *http.Client
	stop        func() error
}

// Option changes the configuration before the service starts.
type Option func(*config.Config)

// Each runs test on SQLite and on PostgreSQL in parallel, with one service for each.
func Each(t *testing.T, test func(t *testing.T, s *Service), options ...Option) {
	storetest.Each(t, func(t *testing.T, url string) { test(t, New(t, url, options...)) })
}

// Either runs test on SQLite or on PostgreSQL, with one service; storetest.Either says on which. It is for tests that send one request after the
// other: a race, a lock or a failure of the database needs Each.
func Either(t *testing.T, test func(t *testing.T, s *Service), options ...Option) {
	storetest.Either(t, func(t *testing.T, url string) { test(t, New(t, url, options...)) })
}

// noOverload is MAX_IN_FLIGHT of a service whose test is not about overload: on a busy
// machine a test can send more than the service handles.
const noOverload = "100000"

// connections is the number of connections of one process: one listens, and two transactions can run at the same
// time. Each connection is a process of PostgreSQL that starts with empty caches, so more of
// them take more processor time. ManyConnections is for tests of concurrent requests.
const connections = 3

// ManyConnections lets more transactions run at the same time, for tests that send many
// requests concurrently. On a busy machine a transaction waits long for a lock behind the others. It keeps its place there until the
// end of its time, 10 s; with the usual lock_timeout of 1 s it would go to the end of the queue each second.
func ManyConnections(c *config.Config) {
	setConnections(c, 8, "lock_timeout", "9s", "idle_in_transaction_session_timeout", "9s")
}

// setConnections sets the number of connections to PostgreSQL, and parameters of their sessions: names, each before its value.
func setConnections(c *config.Config, n int, params ...string) {
	if u, err := url.Parse(c.DatabaseURL.Reveal()); err == nil && u.Scheme == "postgres" {
		query := u.Query()
		query.Set("pool_max_conns", strconv.Itoa(n))
		for param := range slices.Chunk(params, 2) {
			query.Set(param[0], param[1])
		}
		u.RawQuery = query.Encode()
		c.DatabaseURL = config.SecretURL(u.String())
	}
}

// New starts a service on the database at url with the default settings of a service
// that sends SMS, except that limits per client address and on all sends are off, because
// all HTTP requests of a test come from one address, and that each approval request is one SMS.
func New(tb testing.TB, url string, options ...Option) *Service {
	return NewWith(tb, url, func(*server.Options) {}, options...)
}

// NewWith is New for a service whose server.Options are changed by serverOptions.
func NewWith(tb testing.TB, url string, serverOptions func(*server.Options), options ...Option) *Service {
	gateway := smstest.New(tb)
	cfg, err := config.Load(nil, []string{"TOUCHLINE_SMS=" + gateway.Spec()})
	if err != nil {
		tb.Fatal(err)
	}
	cfg.Addr, cfg.AdminAddr = "127.0.0.1:0", "127.0.0.1:0"
	cfg.DataDir = tb.TempDir()
	cfg.Files = config.SecretURL("file:" + filepath.Join(cfg.DataDir, "files"))
	cfg.DatabaseURL = config.SecretURL(url)
	cfg.OTPSendsPerAddressHour, cfg.OTPSendsTotalHour, cfg.RequestsPerAddressMinute = 0, 0, 0
	cfg.MessagesGather = 0
	cfg.ShutdownDrain = 0
	cfg.MaxInFlight = noOverload
	setConnections(cfg, connections)
	cfg.Countries = []string{"*"}
	for _, option := range options {
		option(cfg)
	}
	s := &Service{Clock: new(clock.Clock), Gateway: gateway, Config: cfg, Log: new(Log), tb: tb, serverOptions: serverOptions}
	s.start()
	return s
}

// now is the clock of the service: in the zone of the system, as time.Now.
func (s *Service) now() time.Time { return s.Clock.Now().Local() }

// Replica starts another replica with the same database, files, keys and clock.
func (s *Service) Replica(options ...Option) *Service {
	cfg := *s.Config
	cfg.PublicURL = config.Defaults().PublicURL // start replaces the default with the replica's address
	for _, option := range options {
		option(&cfg)
	}
	r := &Service{Clock: s.Clock, Gateway: s.Gateway, Config: &cfg, Log: new(Log), tb: s.tb, serverOptions: s.serverOptions}
	r.start()
	return r
}

func (s *Service) start() {
	s.tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.tb.Fatal(err)
	}
	cfg := *s.Config
	if cfg.PublicURL == config.Defaults().PublicURL {
		cfg.PublicURL = "http://" + l.Addr().String()
		s.Config.PublicURL = cfg.PublicURL
	}
	ctx, cancel := context.WithCancel(context.Background())
	serverOptions := server.Options{
		Now: s.now, NewTicker: s.Clock.NewTicker, Terminal: io.Discard,
		Log: slog.New(slog.NewJSONHandler(s.Log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	s.serverOptions(&serverOptions)
	app, err := server.Open(ctx, &cfg, serverOptions)
	if err != nil {
		cancel()
		s.tb.Fatalf("open the service: %v", err)
	}
	done := make(chan error, 1)
	adminListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		s.tb.Fatal(err)
	}
	go func() { done <- app.Serve(ctx, l, adminListener) }()
	s.URL = "http://" + l.Addr().String()
	s.AdminURL = "http://" + adminListener.Addr().String()
	s.client = &http.Client{
		Transport: ValidatingTransport(s.tb, &http.Transport{MaxIdleConnsPerHost: 256}),
		Timeout:   CallLimit,
	}
	s.adminClient = &http.Client{
		Transport: validatingTransport{s.tb, &http.Transport{}, loadAdminContract},
		Timeout:   CallLimit,
	}
	s.stop = sync.OnceValue(func() error {
		// A client may have opened a connection that no request used. Shutdown waits 5 s for one.
		s.client.CloseIdleConnections()
		s.adminClient.CloseIdleConnections()
		cancel()
		err := <-done
		return errors.Join(err, app.Close())
	})
	s.tb.Cleanup(func() {
		if err := s.stop(); err != nil {
			s.tb.Errorf("stop the service: %v", err)
		}
	})
}

// Stop shuts the service down as SIGTERM does and waits until it has stopped.
func (s *Service) Stop() error { return s.stop() }

var digits = regexp.MustCompile(`\d{4,10}`)

// OTP waits for the code that is sent to number after skip earlier ones.
func (s *Service) OTP(number string, skip int) string {
	s.tb.Helper()
	m := s.SMS(number, "otp", skip)
	return digits.FindString(m.Text)
}

// SMS waits for the message of a kind ("otp" or "message") that is sent to number
// after skip earlier ones.
func (s *Service) SMS(number, kind string, skip int) smstest.Received {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	seen := map[string]bool{}
	m, err := s.Gateway.Await(ctx, func(m smstest.Received) bool {
		if m.To != number || m.Kind != kind {
			return false
		}
		fresh := !seen[m.ID]
		seen[m.ID] = true
		return fresh && len(seen) > skip
	})
	if err != nil {
		s.tb.Fatalf("wait for %s %d to %s: %v", kind, skip+1, number, err)
	}
	return m
}

// Sent returns how many messages of a kind the gateway has accepted for number.
func (s *Service) Sent(number, kind string) int {
	seen := map[string]bool{} // a message may be sent twice if the clock jumps over its lease
	for _, m := range s.Gateway.Accepted() {
		if m.To == number && m.Kind == kind {
			seen[m.ID] = true
		}
	}
	return len(seen)
}

// Log collects the log lines of a service.
type Log struct {
	mu    sync.Mutex
	lines []byte
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, p...)
	return len(p), nil
}

// String returns all lines so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.lines)
}
