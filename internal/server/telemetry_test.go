package server_test

import (
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// collector is an OTLP receiver over HTTP.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*trace.Span
	texts []string // of resources
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = c.take(r.URL.Path, body)
		}
		if err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(path string, body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if path != "/v1/traces" {
		return errors.New("unknown path")
	}
	var request trace.TracesData // has the bytes of an ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return err
	}
	for _, resource := range request.ResourceSpans {
		c.texts = append(c.texts, attributes(resource.Resource.Attributes)...)
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
	return nil
}

// attributes returns keys and values in turn.
func attributes(all []*common.KeyValue) (texts []string) {
	for _, a := range all {
		texts = append(texts, a.Key, a.Value.String())
	}
	return texts
}

// named returns the spans with a name.
func (c *collector) named(name string) []*trace.Span {
	return slices.DeleteFunc(slices.Clone(c.spans), func(s *trace.Span) bool { return s.Name != name })
}

// TestTelemetry: a request, its statements and the delivery that it asks for are one trace at a collector, and
// no span has personal data. It is not parallel, because the exporter reads the environment.
func TestTelemetry(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		t.Run(name, func(t *testing.T) { testTelemetry(t, database(t)) })
	}
}

func testTelemetry(t *testing.T, url string) {
	c := newCollector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	s := touchlinetest.New(t, url)
	const coachNumber, guardianNumber, studentNumber = "+919812340001", "+919812340002", "+919812340003"
	const theirTrace, theirSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	scraper := s.Operator(t, operator.Metrics, operator.Deliveries)
	coach := s.Coach(t, coachNumber)
	added := coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, studentNumber), "Traceparent: 00-"+theirTrace+"-"+theirSpan+"-01").Want(t, 201)
	if id := added.Header.Get("X-Trace-Id"); id != theirTrace {
		t.Errorf("X-Trace-Id is %s, want %s", id, theirTrace)
	}
	link := s.SMS(guardianNumber, "message", 0)
	guardian := s.SignIn(t, "guardian", guardianNumber)
	otp := s.OTP(guardianNumber, 0)
	s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp})
	s.Browser(t).Open(link.Text[strings.Index(link.Text, "/a/"):][:len("/a/")+20])
	scraper.Call(t, "POST", "/api/admin/deliveries/search", map[string]any{"mobile_number": guardianNumber})
	open := scraper.Call(t, "GET", "/metrics", nil, "Accept: application/openmetrics-text").Want(t, 200)
	if text := string(open.Body); !strings.Contains(text, `# {trace_id="`+theirTrace+`"}`) {
		t.Error("the histogram has no exemplar with the trace id")
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}

	request := c.named("POST /api/players/add")
	if len(request) != 1 || hex.EncodeToString(request[0].TraceId) != theirTrace || hex.EncodeToString(request[0].ParentSpanId) != theirSpan {
		t.Fatalf("request: %v", request)
	}
	var names []string
	children, delivered := 0, 0
	for _, span := range c.spans {
		names = append(names, span.Name)
		switch {
		case hex.EncodeToString(span.TraceId) != theirTrace:
		case strings.HasPrefix(span.Name, "deliver request by sms"):
			delivered++
		case string(span.ParentSpanId) == string(request[0].SpanId):
			children++
		}
	}
	if children < 5 || delivered < 2 {
		t.Errorf("the request has %d statements and %d deliveries, want 5 and 2 or more: %s", children, delivered, names)
	}
	for _, want := range []string{"INSERT players", "INSERT deliveries", "deliver otp by sms", "POST /auth/request-otp"} {
		if len(c.named(want)) == 0 {
			t.Errorf("there is no span %q in %s", want, names)
		}
	}
	if len(c.named("UPDATE deliveries")) == 0 {
		t.Errorf("the attempts have no statements: %s", names)
	}
	private := []string{
		"9812340001", "9812340002", "9812340003", "Rao", "Meera", "Asha", "127.0.0.1", coach.Access, coach.Refresh, guardian.Access, guardian.Refresh, otp, link.Text[strings.Index(link.Text, "/a/")+3:][:12], "Bearer", s.Config.DataDir,
	}
	for _, text := range c.exported() {
		for _, p := range private {
			if strings.Contains(text, p) {
				t.Errorf("a span has %q: %s", p, text)
			}
		}
	}
}

// exported returns all texts of all spans. Ids of deliveries are left out: their digits could equal an OTP.
func (c *collector) exported() []string {
	all := c.texts
	for _, s := range c.spans {
		all = append(all, s.Name, s.Status.GetMessage(), s.TraceState)
		all = append(all, attributes(slices.DeleteFunc(s.Attributes, func(a *common.KeyValue) bool { return a.Key == "touchline.delivery_id" }))...)
		for _, e := range s.Events {
			all = append(append(all, e.Name), attributes(e.Attributes)...)
		}
		for _, l := range s.Links {
			all = append(append(all, l.TraceState), attributes(l.Attributes)...)
		}
	}
	return all
}
