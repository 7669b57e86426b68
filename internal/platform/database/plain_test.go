package database_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/platform/database"
)

func TestPlainHosts(t *testing.T) {
	for url, want := range map[string][]string{
		"sqlite:x.db": nil,
		"postgres://u:pw@db.example/d?sslmode=disable":                    {"db.example"},
		"postgres://u:pw@db.example/d?sslmode=allow":                      {"db.example"},
		"postgres://u:pw@10.0.0.1,db2.example:5433/d?sslmode=disable":     {"10.0.0.1", "db2.example"},
		"postgres://u:pw@127.0.0.1,db2.example/d?sslmode=disable":         {"db2.example"},
		"postgres://u:pw@/d?host=db.example&sslmode=disable":              {"db.example"},
		"postgres://u:pw@db.example/d":                                    nil, // sslmode=prefer begins with TLS
		"postgres://u:pw@db.example/d?sslmode=require":                    nil,
		"postgres://u:pw@a.example,b.example/d":                           nil,
		"postgres://u:pw@127.0.0.1:5432/d?sslmode=disable":                nil,
		"postgres://u:pw@[::1]/d?sslmode=disable":                         nil,
		"postgres://u:pw@localhost/d?sslmode=disable":                     nil,
		"postgres://u:pw@/d?host=/run/postgresql&sslmode=disable":         nil,
		"postgres://u:pw@/d?host=%2Fdev%2Fshm,db.example&sslmode=disable": {"db.example"},
	} {
		if got := database.PlainHosts(url); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}
