package server_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/config"
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
