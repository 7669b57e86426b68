package proof

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// errNoLog is the reason while the row of the log is missing.
const errNoLog = errInconsistent("the log of consents is missing: its row in consent_log was deleted")

// state reads the row of the log. Without it the error is unavailable.
func (s *Service) state(ctx context.Context, q database.Querier) (state logState, err error) {
	err = q.QueryRow(ctx, `SELECT origin, generation, size, checkpoint, stopped_reason FROM consent_log WHERE id = 1`).Scan(state.dest()...)
	switch {
	case database.IsNoRows(err):
		return state, fault.Down(errNoLog)
	case err != nil:
		return state, fmt.Errorf("read the log: %w", err)
	}
	return state, nil
}

// Gate knows why the log cannot prove the approvals of this database; while there is a reason, no party has app services. Each replica
// has one. Number sets it each second, so that reading it costs nothing. The zero value is open, and nil is always open.
type Gate struct{ reason atomic.Pointer[string] }

// Reason returns why the log cannot prove the approvals, or "".
func (g *Gate) Reason() string {
	if g == nil {
		return ""
	}
	if reason := g.reason.Load(); reason != nil {
		return *reason
	}
	return ""
}

// Closed reports whether there is a reason.
func (g *Gate) Closed() bool { return g.Reason() != "" }

// setGate sets the reason of the gate, and tells the operators once, unless they were told.
func (s *Service) setGate(ctx context.Context, reason string, told bool) {
	if s.Stopped != nil {
		s.Stopped(reason != "")
	}
	if s.Gate == nil {
		return
	}
	before := s.Gate.reason.Swap(&reason)
	if reason == "" || told || before != nil && *before == reason || s.SecurityEvent == nil {
		return
	}
	s.SecurityEvent(ctx, "log_stopped", slog.String("reason", reason))
}
