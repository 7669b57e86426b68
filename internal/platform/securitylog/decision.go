package securitylog

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/approval"
)

// Decided logs and counts a decision about a player of a coach. It is approval.Service.Decided.
func (l *Log) Decided(ctx context.Context, coachID string, d approval.Record) {
	l.metrics.Decided(&d)
	attrs := []slog.Attr{
		account(d.ApproverID), slog.String("player_id", d.PlayerID),
		slog.String("party", string(d.Party)), slog.String("action", string(d.Action)),
	}
	l.Event(ctx, "decision_recorded", attrs...)
	if d.CoachDevice {
		l.Event(ctx, "approved_on_coach_device", append(attrs, slog.String("coach_id", coachID))...)
	}
}
