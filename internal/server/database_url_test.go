package server_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

// TestCheckDatabaseURL: a wrong parameter of DATABASE_URL is an invalid setting. Its error does
// not contain the password.
func TestCheckDatabaseURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres://u:hunter2@db.example/touchline?sslmode=nope":              "sslmode is invalid",
		"postgres://u@db.example/touchline?password=hunter2&sslmode=nope":     "sslmode is invalid",
		"postgres://u:hunter2@db.example/touchline?sslrootcert=/none/root.ca": "no such file",
		"postgres://u:hunter2@db.example/touchline?connect_timeout=soon":      "connect_timeout",
		"postgres://u:hunter2@db.example/touchline?sslmode=require":           "",
		"postgres://u:hunter2@db.example/touchline?pool_max_conns=1":          "pool_max_conns must be a number from 2 to 1000",
		"postgres://u:hunter2@db.example/touchline?pool_max_conns=many":       "pool_max_conns must be",
		"postgres://u:hunter2@db.example/touchline?pool_max_conns=2":          "",
		"sqlite:touchline.db": "",
	} {
		_, err := config.Load(nil, []string{"TOUCHLINE_DATABASE_URL=" + url}, server.CheckDatabaseURL)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", url, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: got %v, want one line with %q", url, err, want)
		}
	}
}

// TestPlainDatabaseWarning: a start that would connect to another machine without TLS warns, without
// the password.
func TestPlainDatabaseWarning(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nothing connects
	for url, want := range map[string]bool{
		"postgres://u:hunter2@db.example/touchline?sslmode=disable":     true,
		"postgres://u:hunter2@db.example/touchline?sslmode=verify-full": false,
		"postgres://u:hunter2@127.0.0.1/touchline?sslmode=disable":      false,
	} {
		var log strings.Builder
		cfg := config.Defaults()
		cfg.DataDir = t.TempDir()
		cfg.DatabaseURL = config.SecretURL(url)
		if _, err := server.Open(ctx, cfg, server.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}); err == nil {
			t.Fatal("the service opened a database that does not exist")
		}
		if got := strings.Contains(log.String(), "without TLS") && strings.Contains(log.String(), "db.example"); got != want || strings.Contains(log.String(), "hunter2") {
			t.Errorf("%s: got %q, want a warning: %t", url, log.String(), want)
		}
	}
}
