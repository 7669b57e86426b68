package touchlinetest

import (
	"context"
	"testing"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server"
)

// Operator is somebody with a token for the operators' listener.
type Operator struct {
	Service *Service
	ID      string // of the token
	Name    string
	Token   string
}

// Operator makes a token with these scopes, as the command line does.
func (s *Service) Operator(tb testing.TB, scopes ...operator.Scope) *Operator {
	tb.Helper()
	o := &Operator{Service: s, Name: "test operator"}
	s.Shell(tb, func(ctx context.Context, by actor.Operator, sh *server.Operators) {
		t, secret, err := sh.Tokens.Create(ctx, by, operator.Wish{Name: o.Name, Scopes: scopes, Days: operator.DefaultDays})
		if err != nil {
			tb.Fatal(err)
		}
		o.ID, o.Token = t.ID, secret
	})
	return o
}

// Shell has do work beside the service as the command line does: with the same
// database and clock, and nothing else in common.
func (s *Service) Shell(tb testing.TB, do func(ctx context.Context, by actor.Operator, sh *server.Operators)) {
	tb.Helper()
	cfg := *s.Config
	sh, err := server.OpenOperators(tb.Context(), &cfg, server.Edges{Now: s.Clock.Now})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := sh.Close(); err != nil {
			tb.Error(err)
		}
	}()
	do(tb.Context(), actor.Operator{Name: operator.Shell("test")}, sh)
}

// Call asks the operators' listener as o.
func (o *Operator) Call(tb testing.TB, method, path string, body any, headers ...string) *Answer {
	tb.Helper()
	return o.Service.AdminCall(tb, method, path, o.Token, body, headers...)
}

// AdminCall is Call for the operators' listener.
func (s *Service) AdminCall(tb testing.TB, method, path, token string, body any, headers ...string) *Answer {
	tb.Helper()
	a, err := s.TryAdmin(context.Background(), method, path, token, body, headers...)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// TryAdmin is AdminCall for other goroutines than the test's.
func (s *Service) TryAdmin(ctx context.Context, method, path, token string, body any, headers ...string) (*Answer, error) {
	return try(ctx, s.adminClient, method, s.AdminURL+path, token, body, headers...)
}
