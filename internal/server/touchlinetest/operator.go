package touchlinetest

import (
	"context"
	"testing"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server"
)

// Operator is a client of the operators' listener with a token.
type Operator struct {
	Service *Service
	ID      string // token id
	Name    string
	Token   string
}

// Operator creates an operator token with scopes, as the command line does.
func (s *Service) Operator(tb testing.TB, scopes ...operator.Scope) *Operator {
	tb.Helper()
	o := &Operator{Service: s, Name: "test operator"}
	s.CLI(tb, func(ctx context.Context, by actor.Operator, ops *server.Operators) {
		t, secret, err := ops.Tokens.Create(ctx, by, operator.TokenRequest{Name: o.Name, Scopes: scopes, Days: operator.DefaultDays})
		if err != nil {
			tb.Fatal(err)
		}
		o.ID, o.Token = t.ID, secret
	})
	return o
}

// CLI runs fn as a command of the command line: beside the service, with only its
// database and clock in common.
func (s *Service) CLI(tb testing.TB, fn func(ctx context.Context, by actor.Operator, ops *server.Operators)) {
	tb.Helper()
	cfg := *s.Config
	ops, err := server.OpenOperators(tb.Context(), &cfg, server.Options{Now: s.now})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := ops.Close(); err != nil {
			tb.Error(err)
		}
	}()
	fn(tb.Context(), actor.Operator{Name: operator.ShellName("test")}, ops)
}

// Call sends a request to the operators' listener with the token of o.
func (o *Operator) Call(tb testing.TB, method, path string, body any, headers ...string) *Response {
	tb.Helper()
	return o.Service.AdminCall(tb, method, path, o.Token, body, headers...)
}

// AdminCall is Call for the operators' listener.
func (s *Service) AdminCall(tb testing.TB, method, path, token string, body any, headers ...string) *Response {
	tb.Helper()
	resp, err := s.AdminDo(context.Background(), method, path, token, body, headers...)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// AdminDo is Do for the operators' listener.
func (s *Service) AdminDo(ctx context.Context, method, path, token string, body any, headers ...string) (*Response, error) {
	return do(ctx, s.adminClient, method, s.AdminURL+path, token, body, headers...)
}
