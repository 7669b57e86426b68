package server

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/worker"
)

// newWorker returns the background jobs of this replica.
func newWorker(cfg *config.Config, o Options, s *services) *worker.Worker {
	return worker.New(worker.Config{
		Outbox: worker.NewOutbox(worker.OutboxConfig{
			Store:       s.metrics.Outbox(s.db.Outbox),
			Contents:    contents{s.public.Tray, s.accounts, s.conversations, s.approvals},
			Senders:     s.delivery.senders,
			Fallbacks:   fallbacks(cfg),
			Signal:      s.delivery.queue,
			OpenCode:    s.public.Auth.Code,
			LinkToken:   s.keys.Vault.LinkToken,
			TrainingURL: s.trainings.LinkURL,
			PublicURL:   cfg.PublicURL,
			Brand:       cfg.Brand,
			AppHash:     cfg.AppHash(),
			OTPAttempts: cfg.OTPTries, CountOTPs: len(cfg.SMSPrices) > 0,
			Now: o.Now, NewTicker: o.NewTicker, NewID: o.NewID, Log: o.Log, Tracer: o.telemetry.Tracer(),
		}),
		Webhooks:                newWebhookSender(o, s),
		SendDigests:             s.approvals.SendDigests,
		SendExpiryNotifications: s.documents.SendExpiryNotifications,
		MakeFees:                s.fees.MakeDue,
		RemindFees:              s.fees.RemindDue,
		TakeDueNames:            s.public.Coach.Coaches.TakeDueNames,
		RecordIntrospections:    s.operators.Tokens.RecordIntrospections,
		RotateKeys:              s.keys.Rotate,
		SweepFiles:              s.documents.DeleteExpiredBlobs,
		Sweep: func(ctx context.Context) (int64, error) {
			removed, err := s.approvals.EndUnanswered(ctx, cfg.RetainUnanswered)
			swept, sweepErr := s.db.Sweep(ctx, o.Now())
			return removed + swept, errors.Join(err, sweepErr)
		},
		FailRemovedChannels: func(ctx context.Context, n int) (int, error) {
			return s.db.Outbox.FailRemovedChannels(ctx, slices.Collect(maps.Keys(s.delivery.senders)), n)
		},
		RecordAdults: func(ctx context.Context) error {
			below := cfg.GuardianBelow()
			return approval.RecordAdults(ctx, s.db, approval.BornBefore(o.Now(), cmp.Or(below, coach.AdultAge)), below > 0)
		},
		TurnAdults: s.approvals.TurnAdults,
		EndProofs:  s.identity.EndDue, SendSecondMessages: s.approvals.SendSecondMessages,
		NumberRecords: s.proof.Work, PublishCheckpoints: s.proof.Publications(), CheckApprovals: s.proof.Sample,
		AppendErasures: s.ledger.Append,
		CheckBudget:    s.budgets.check,
		RenewStreams:   s.public.Streams.Renew,
		Expand: worker.Expansion{
			Next: s.conversations.ExpandNext, Failed: s.metrics.ExpansionFailed, Signal: s.delivery.expansion,
		},
		Observe:   s.metrics.Job,
		NewTicker: o.NewTicker,
		Log:       o.Log,
	})
}

// contents has what deliveries say.
type contents struct {
	*notice.Tray
	accounts
	*conversation.Service
	*approvals
}

type (
	approvals = approval.Service
	accounts  = auth.SQL
)
