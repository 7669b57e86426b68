package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/inflight"
	"github.com/touchline/touchline/internal/platform/programtest"
)

const deploy = "../../deploy/"

// everything returns a scrape of a process in which everything happened once.
func everything(t *testing.T) string {
	t.Helper()
	m := metrics.New(build)
	m.Observe("public")("GET", &httpx.RequestInfo{Route: "/api/me", Status: 200}, time.Millisecond)
	m.Decided("guardian", "approved", true)
	m.SMSAttempt("kannel", "sent")
	m.Receipt("kannel", message.ReceiptDelivered)
	m.CheckpointsFailing("https://log.example", time.Hour)
	m.Job("sweep")(errors.New("down"))
	files, err := blob.Open(t.Context(), "file:"+t.TempDir(), blob.Options{})
	if err != nil {
		t.Fatal(err)
	}
	files = m.Files(files)
	if _, _, err := files.Open(t.Context(), "missing"); !errors.Is(err, blob.ErrNotFound) {
		t.Fatal(err)
	}
	if err := files.Put(t.Context(), "a", strings.NewReader("text"), 4, "text/plain"); err != nil {
		t.Fatal(err)
	}
	one := func() float64 { return 1 }
	free := func(context.Context) (float64, error) { return 0, nil }
	w := httptest.NewRecorder()
	metrics.Handler(m.Registry(metrics.Sources{
		Database: fakeSource{}, Lanes: message.SMS.Lanes(), Now: now,
		Certificates: func() map[string]time.Time { return map[string]time.Time{"TLS_CERT": time.Unix(5000, 0)} },
		Costs:        []metrics.Costs{{Name: "sms", Spent: free, Budget: 500}, {Name: "call", Spent: free}},
		Load: metrics.Load{
			Connections: map[string]func() float64{"public": one}, ConnectionLimits: map[string]int{"public": 6000},
			InFlight: map[string]func() inflight.Stats{"read": func() inflight.Stats { return inflight.Stats{} }},
			Streams:  func() int { return 0 }, StreamsLimit: 4000,
		},
	})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	return w.Body.String()
}

// TestProcessMetrics: pools, certificates, files, jobs and limits.
func TestProcessMetrics(t *testing.T) {
	text := everything(t)
	for _, want := range []string{
		`touchline_database_connections_limit{pool="shared"} 16`, `touchline_database_connections_in_use{pool="shared"} 2`,
		`touchline_database_waits_total{pool="shared"} 5`, `touchline_database_wait_seconds_total{pool="shared"} 1.5`,
		`touchline_certificate_expiry_timestamp_seconds{name="TLS_CERT"} 5000`,
		`touchline_file_store_operations_total{operation="open",outcome="missing"} 1`, `touchline_file_store_operations_total{operation="put",outcome="ok"} 1`,
		`touchline_file_store_operations_total{operation="put",outcome="failed"} 0`,
		`touchline_job_runs_total{name="sweep",outcome="failed"} 1`, `touchline_job_runs_total{name="sweep",outcome="ok"} 0`,
		`touchline_http_connections_limit{listener="public"} 6000`, `touchline_streams_limit 4000`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("got no %s in\n%s", want, text)
		}
	}
}

// expressions returns the PromQL of the Grafana dashboard by panel.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	text, err := os.ReadFile(deploy + "grafana/touchline.json")
	if err == nil {
		err = json.Unmarshal(text, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, p := range dashboard.Panels {
		for i, target := range p.Targets {
			all[fmt.Sprint(p.Title, " ", i)] = strings.ReplaceAll(target.Expr, "$instance", ".*")
		}
	}
	return all
}

// TestNamesInDeploy: each metric that the dashboard, the alerts and docs/operating.md name is in a scrape.
func TestNamesInDeploy(t *testing.T) {
	text := everything(t)
	known := map[string]bool{"touchline_team_stop": true} // a template of WhatsApp in docs/operating.md
	for _, found := range regexp.MustCompile(`(?m)^[a-z_]+`).FindAllString(text, -1) {
		known[found] = true
	}
	files := map[string]string{"dashboard": strings.Join(slices.Collect(maps.Values(expressions(t))), "\n")}
	for _, file := range []string{"prometheus/alerts.yaml", "prometheus/alerts_test.yaml", "../docs/operating.md"} {
		content, err := os.ReadFile(deploy + file)
		if err != nil {
			t.Fatal(err)
		}
		files[file] = string(content)
	}
	for file, content := range files {
		names := regexp.MustCompile(`\b(touchline|process|go)_[a-z]+_[a-z_]+\b`).FindAllString(content, -1)
		if len(names) == 0 {
			t.Errorf("%s names no metric", file)
		}
		for _, name := range names {
			if !known[name] && !known[name+"_bucket"] {
				t.Errorf("%s: there is no metric %s", file, name)
			}
		}
	}
}

// TestAlertRules runs the unit tests of the alerts, and lets Prometheus parse the dashboard.
func TestAlertRules(t *testing.T) {
	promtool := programtest.Promtool.Need(t)
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("check", "rules", "--lint-fatal", deploy+"prometheus/alerts.yaml")
	run("test", "rules", deploy+"prometheus/alerts_test.yaml")
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for _, expr := range expressions(t) {
		rules = append(rules, rule{fmt.Sprintf("panel:%d", len(rules)), expr})
	}
	file, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}}) // JSON is YAML
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	run("check", "rules", path)
}
