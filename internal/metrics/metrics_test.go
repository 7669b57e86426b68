package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// fakeSource is a database with fixed metrics.
type fakeSource struct{ down, readOnly, stuck, oneLane bool }

func (s fakeSource) Writable(ctx context.Context) error {
	if s.stuck {
		time.Sleep(20 * time.Second) // like a write on SQLite, whatever ctx says
	}
	if s.down || s.readOnly {
		return errors.New("down")
	}
	return nil
}
func (s fakeSource) Failures() uint64 { return 3 }
func (s fakeSource) Pools() map[string]database.Pool {
	return map[string]database.Pool{"shared": {Limit: 16, InUse: 2, Waits: 5, Waited: 1500 * time.Millisecond}}
}

func (s fakeSource) Backlog(ctx context.Context, lane message.Lane, _ int) (int, time.Time, error) {
	if s.down || s.oneLane && lane.Kind != message.OTP || ctx.Err() != nil {
		return 0, time.Time{}, errors.New("down")
	}
	return 7, time.Unix(990, 0), nil
}

var build = buildinfo.Info{Release: "1.2.3", Commit: "abc", Go: "go1"}

func now() time.Time { return time.Unix(1000, 0) }

// scrape returns the metrics of m and of the database source as text.
func scrape(t *testing.T, m *metrics.Metrics, source fakeSource) string {
	t.Helper()
	w := httptest.NewRecorder()
	metrics.Handler(m.Registry(metrics.Sources{Database: source, Lanes: message.SMS.Lanes(), Now: now})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != 200 {
		t.Fatalf("scrape: got %d, want 200: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// TestDatabaseMetrics checks that touchline_database_up is 0 if the database is down, takes
// no writes or is stuck, and that a scrape does not wait for a stuck one. The outbox is
// complete if it can be read, and missing if not.
func TestDatabaseMetrics(t *testing.T) {
	const outbox = "touchline_outbox_waiting{channel=\"sms\",kind=\"otp\"} 7\n|touchline_outbox_late_seconds{channel=\"sms\",kind=\"request\"} 10\n|go_goroutines"
	for name, tt := range map[string]struct {
		source            fakeSource
		contains, missing string
	}{
		"up":        {fakeSource{}, "touchline_database_up 1\n|touchline_database_errors_total 3\n|" + outbox, "nothing"},
		"down":      {fakeSource{down: true}, "touchline_database_up 0\n|touchline_database_errors_total 3\n", "touchline_outbox_waiting{"},
		"read-only": {fakeSource{readOnly: true}, "touchline_database_up 0\n|touchline_database_errors_total 3\n|" + outbox, "nothing"},
		"stuck":     {fakeSource{stuck: true}, "touchline_database_up 0\n|touchline_database_errors_total 3\n|" + outbox, "nothing"},
		"one lane":  {fakeSource{oneLane: true}, "touchline_database_up 0\n|touchline_database_errors_total 3\n", "touchline_outbox_waiting{"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				text := scrape(t, metrics.New(build), tt.source)
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("the scrape took %s", took)
				}
				time.Sleep(time.Minute) // until the stuck write has ended
				for want := range strings.SplitSeq(tt.contains, "|") {
					if !strings.Contains(text, want) {
						t.Errorf("got no %q in\n%s", want, text)
					}
				}
				if strings.Contains(text, tt.missing) {
					t.Errorf("got %q", tt.missing)
				}
			})
		})
	}
}

// TestUnknownMethodsShareOneLabel: unknown methods do not create new series.
func TestUnknownMethodsShareOneLabel(t *testing.T) {
	m := metrics.New(build)
	observe := m.Observe("public")
	for _, method := range []string{"GET", "BREW", "brew", "X"} {
		observe(method, &httpx.RequestInfo{Route: "/api/me", Status: 200}, time.Millisecond)
	}
	text := scrape(t, m, fakeSource{})
	for _, want := range []string{
		`touchline_http_requests_total{listener="public",method="GET",route="/api/me",status="200"} 1`,
		`touchline_http_requests_total{listener="public",method="other",route="/api/me",status="200"} 3`,
		`touchline_http_request_duration_seconds_count{listener="public",route="/api/me"} 4`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got no %s in\n%s", want, text)
		}
	}
}

// TestDurationsWithoutStreams: a stream is counted, but its duration is not measured.
func TestDurationsWithoutStreams(t *testing.T) {
	m := metrics.New(build)
	m.Observe("public")("GET", &httpx.RequestInfo{Route: "/stream", Status: 200, Stream: true}, time.Hour)
	text := scrape(t, m, fakeSource{})
	if want := `touchline_http_requests_total{listener="public",method="GET",route="/stream",status="200"} 1`; !strings.Contains(text, want) {
		t.Errorf("got no %s in\n%s", want, text)
	}
	if strings.Contains(text, "touchline_http_request_duration_seconds_count{") {
		t.Errorf("got the duration of a stream in\n%s", text)
	}
}

// TestCountersStartAtZero: an alert on growth needs the series before its first event.
func TestCountersStartAtZero(t *testing.T) {
	text := scrape(t, metrics.New(build), fakeSource{})
	for _, want := range []string{
		`touchline_otp_total{outcome="incorrect"} 0`, `touchline_otp_total{outcome="fraud_suspected"} 0`,
		`touchline_sessions_total{event="reused"} 0`, `touchline_webhook_attempts_total{outcome="retried"} 0`,
		`touchline_deliveries_total{channel="sms",kind="otp",outcome="retried"} 0`,
		`touchline_deliveries_total{channel="sms",kind="notice",outcome="failed"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("got no %s in\n%s", want, text)
		}
	}
}

func TestBuildInfo(t *testing.T) {
	text := scrape(t, metrics.New(build), fakeSource{})
	if want := `touchline_build_info{goversion="go1",revision="abc",version="1.2.3"} 1`; !strings.Contains(text, want) {
		t.Errorf("got no %s in\n%s", want, text)
	}
}

// BenchmarkServe measures the middleware with and without metrics.
func BenchmarkServe(b *testing.B) {
	for name, observe := range map[string]func(string, *httpx.RequestInfo, time.Duration){
		"without metrics": nil, "with metrics": metrics.New(build).Observe("public"),
	} {
		b.Run(name, func(b *testing.B) {
			middleware := httpx.Middleware{Settings: httpx.Settings{Log: slog.New(slog.DiscardHandler), Observe: observe}}
			r := httptest.NewRequest(http.MethodGet, "/api/me", http.NoBody)
			next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				middleware.Serve(w, r, &httpx.RequestInfo{Route: "/api/me"}, next)
			}
		})
	}
}
