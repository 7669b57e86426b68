package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/notify"
)

// source is a database that says what it is told to.
type source struct{ away bool }

func (s source) Ping(context.Context) error {
	if s.away {
		return errors.New("away")
	}
	return nil
}
func (s source) Failures() uint64 { return 3 }
func (s source) Backlog(context.Context, notify.Lane, int) (int, time.Time, error) {
	return 7, time.Unix(990, 0), nil
}

func now() time.Time { return time.Unix(1000, 0) }

// figures scrapes m.
func figures(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestDatabase(t *testing.T) {
	for _, tt := range []struct {
		away       bool
		has, lacks string
	}{
		{false, "touchline_database_up 1\n|touchline_database_errors_total 3\n|touchline_outbox_waiting{channel=\"sms\",kind=\"otp\"} 7\n|touchline_outbox_late_seconds{channel=\"sms\",kind=\"request\"} 10\n|go_goroutines", "nothing"},
		{true, "touchline_database_up 0\n|touchline_database_errors_total 3\n", "touchline_outbox_waiting{"},
	} {
		text := figures(t, metrics.New(source{tt.away}, notify.SMS.Lanes(), now))
		for want := range strings.SplitSeq(tt.has, "|") {
			if !strings.Contains(text, want) {
				t.Errorf("away %v: no %q in\n%s", tt.away, want, text)
			}
		}
		if strings.Contains(text, tt.lacks) {
			t.Errorf("away %v: %q", tt.away, tt.lacks)
		}
	}
}

// TestLabelsAreBounded: what callers make up makes no series.
func TestLabelsAreBounded(t *testing.T) {
	m := metrics.New(source{}, nil, now)
	count := m.Observe("public")
	for _, method := range []string{"GET", "BREW", "brew", "X"} {
		count(method, &httpx.RequestInfo{Route: "/api/me", Status: 200}, time.Millisecond)
	}
	text := figures(t, m)
	for _, want := range []string{
		`touchline_http_requests_total{listener="public",method="GET",route="/api/me",status="200"} 1`,
		`touchline_http_requests_total{listener="public",method="other",route="/api/me",status="200"} 3`,
		`touchline_http_request_duration_seconds_count{listener="public",route="/api/me"} 4`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// BenchmarkServe is what both listeners do around a handler, counted and not.
func BenchmarkServe(b *testing.B) {
	for name, observe := range map[string]func(string, *httpx.RequestInfo, time.Duration){
		"uncounted": nil, "counted": metrics.New(source{}, nil, now).Observe("public"),
	} {
		b.Run(name, func(b *testing.B) {
			middleware := httpx.Middleware{Log: slog.New(slog.DiscardHandler), Observe: observe}
			r := httptest.NewRequest(http.MethodGet, "/api/me", http.NoBody)
			answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				middleware.Serve(w, r, &httpx.RequestInfo{Route: "/api/me"}, answer)
			}
		})
	}
}
