package server_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server"
)

// TestStartup: while a replica migrates, /healthz answers 200 and everything else 503 with the migration. Afterwards
// the listener is open for the service.
func TestStartup(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load([]string{"--data-dir", t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewStartup(cfg, slog.New(slog.DiscardHandler), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) (status int, detail string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		var problem struct {
			Detail string `json:"detail"`
		}
		_ = json.Unmarshal(body, &problem)
		if status = resp.StatusCode; status == 503 && resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", path)
		}
		return status, problem.Detail
	}
	if status, _ := get("/healthz"); status != 200 {
		t.Errorf("/healthz: %d, want 200", status)
	}
	for _, c := range []struct {
		event database.MigrationEvent
		want  string
	}{
		{database.MigrationEvent{Migration: "0201_a.sql", State: database.MigrationRuns}, "The migration 0201_a.sql runs."},
		{database.MigrationEvent{State: database.MigrationWaitsOthers}, "The replica waits for another process that migrates."},
		{database.MigrationEvent{Migration: "0202_b.sql", State: database.MigrationWaitsTable}, "The migration 0202_b.sql waits for the lock of a table."},
	} {
		s.Migration(c.event)
		for _, path := range []string{"/readyz", "/api/players"} {
			if status, detail := get(path); status != 503 || !strings.Contains(detail, c.want) {
				t.Errorf("%s: %d %q, want 503 %q", path, status, detail, c.want)
			}
		}
	}
	s.WaitsForOther()
	if status, detail := get("/readyz"); status != 503 || !strings.Contains(detail, "serves the SQLite database") {
		t.Errorf("/readyz: %d %q", status, detail)
	}
	s.Stop()
	next := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = next.Serve(l) }()
	defer next.Close()
	if status, _ := get("/readyz"); status != 404 {
		t.Errorf("after the start: %d, want 404 of the service", status)
	}
}

// TestStartChecksFiles: a replica does not start without a folder of the files that it writes outside of the database.
func TestStartChecksFiles(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"LOG_CHECKPOINT", "ERASURES"} {
		cfg, err := config.Load([]string{"--data-dir", t.TempDir()}, []string{"TOUCHLINE_" + setting + "=" + t.TempDir() + "/missing/file"})
		if err != nil {
			t.Fatal(err)
		}
		app, err := server.Open(t.Context(), cfg, server.Options{Log: slog.New(slog.DiscardHandler), Terminal: io.Discard})
		if err == nil {
			_ = app.Close()
		}
		if err == nil || !strings.Contains(err.Error(), setting) {
			t.Errorf("%s without its folder: %v", setting, err)
		}
	}
}
