// Package securitylog writes security events to the log: who signed in, what was
// refused, what an operator changed. Features call Event after a commit; the listeners
// report refusals.
//
// A line has the message "security event", the name of the event and ids. It has no
// number, name, OTP, token or client address. docs/operating.md lists the events.
package securitylog

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/metrics"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
)

// Log writes security events.
type Log struct {
	log     *slog.Logger
	metrics *metrics.Metrics
	limiter limiter
}

// New returns a Log that writes to log and counts in m.
func New(log *slog.Logger, m *metrics.Metrics) *Log { return &Log{log: log, metrics: m} }

// Event writes one event with its attributes and, if ctx belongs to a request, the
// request's trace id.
func (l *Log) Event(ctx context.Context, name string, attrs ...slog.Attr) {
	all := append([]slog.Attr{slog.String("event", name)}, attrs...)
	if info := httpx.InfoFrom(ctx); info != nil {
		all = append(all, slog.String("trace_id", info.TraceID))
	}
	l.log.LogAttrs(context.WithoutCancel(ctx), slog.LevelInfo, "security event", all...)
}

// refusals are the events of the error codes that both listeners return.
var refusals = map[string]string{
	"role_not_allowed":      "role_refused",
	"insufficient_scope":    "scope_refused",
	"rate_limited":          "limit_reached",
	"overloaded":            "limit_reached",
	"otp_resend_too_soon":   "limit_reached",
	"otp_send_limit":        "limit_reached",
	"otp_attempts_exceeded": "limit_reached",
	"message_limit":         "limit_reached",
	"reminder_limit":        "limit_reached",
	"call_limit":            "limit_reached",
	"tier_limit":            "limit_reached",
	"destination_blocked":   "limit_reached",
}

// Refused writes the event of a request that is answered with err, if err is the
// refusal of a role, a scope or a limit.
func (l *Log) Refused(ctx context.Context, info *httpx.RequestInfo, err error) {
	name := refusals[fault.CodeOf(err)]
	if name == "" {
		return
	}
	l.refused(ctx, name, info, err)
}

// RefusedOperator is Refused for the operators' listener, where every refused token is
// an event.
func (l *Log) RefusedOperator(ctx context.Context, info *httpx.RequestInfo, err error) {
	if fault.KindOf(err) == fault.Unauthenticated {
		l.refused(ctx, "operator_token_refused", info, err)
		return
	}
	l.Refused(ctx, info, err)
}

// refused writes at most eventsPerSecond lines with one name and code: a client can
// cause refusals at any rate. The next line has the number of those left out.
func (l *Log) refused(ctx context.Context, name string, info *httpx.RequestInfo, err error) {
	code := fault.CodeOf(err)
	omitted, ok := l.limiter.allow(name + " " + code)
	if !ok {
		return
	}
	attrs := []slog.Attr{slog.String("code", code), slog.String("route", info.Route)}
	for _, id := range []struct{ name, value string }{
		{"account_id", info.AccountID}, {"session_id", info.SessionID}, {"operator_id", info.OperatorID},
	} {
		if id.value != "" {
			attrs = append(attrs, slog.String(id.name, id.value))
		}
	}
	if omitted > 0 {
		attrs = append(attrs, slog.Int("omitted", omitted))
	}
	l.Event(ctx, name, attrs...)
}
