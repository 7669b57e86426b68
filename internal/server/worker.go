package server

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/team"
	"github.com/touchline/touchline/internal/worker"
)

// newWorker returns the background jobs of this replica.
func newWorker(cfg *config.Config, o Options, s *services) *worker.Worker {
	return worker.New(worker.Config{
		Outbox: worker.NewOutbox(worker.OutboxConfig{
			Store:       s.metrics.Outbox(s.db.Outbox),
			Contents:    contents{s.notifications.Tray, s.accounts, s.conversations, s.approvals},
			Senders:     s.delivery.senders,
			Fallbacks:   fallbacks(cfg),
			Signal:      s.delivery.queue,
			OpenCode:    s.auth.Code,
			LinkToken:   s.keys.Vault.LinkToken,
			TrainingURL: s.trainings.LinkURL,
			PublicURL:   cfg.PublicURL,
			Brand:       cfg.Brand,
			AppHash:     cfg.AppHash(),
			OTPAttempts: cfg.OTPTries, CountOTPs: len(cfg.SMSPrices) > 0,
			Now: o.Now, NewTicker: o.NewTicker, NewID: o.NewID, Log: o.Log, Tracer: o.telemetry.Tracer(),
		}),
		Webhooks: newWebhookSender(o, s),
		Jobs:     jobs(cfg, o, s),
		Expand: worker.Expansion{
			Next: s.conversations.ExpandNext, Failed: s.metrics.ExpansionFailed, Signal: s.delivery.expansion,
		},
		Observe:   s.metrics.Job,
		NewTicker: o.NewTicker,
		Log:       o.Log,
	})
}

// jobs returns the background work that no signal wakes.
func jobs(cfg *config.Config, o Options, s *services) []worker.Job {
	batches, uncounted := worker.InBatches, worker.Uncounted
	jobs := []worker.Job{
		{Name: "send digests", Every: time.Second, Run: batches(s.approvals.SendDigests)},
		{Name: "send expiry notifications", Every: 5 * time.Second, Run: batches(s.documents.SendExpiryNotifications)},
		{Name: "make fees", Every: 5 * time.Second, Run: batches(s.fees.MakeDue)},
		{Name: "remind of fees", Every: 5 * time.Second, Run: batches(s.fees.RemindDue)},
		{Name: "give coaches new names", Every: 10 * time.Second, Run: batches(s.coaching.Coaches.TakeDueNames)},
		{Name: "sweep files", Every: 10 * time.Second, Run: uncounted(s.documents.DeleteExpiredBlobs)},
		{Name: "record introspections", Every: time.Second, Run: s.operators.Tokens.RecordIntrospections},
		{Name: "rotate keys", Every: 10 * time.Second, Run: s.keys.Rotate},
		{Name: "record new adults", Every: time.Minute, Run: func(ctx context.Context) error {
			below := cfg.GuardianBelow()
			return player.RecordAdults(ctx, s.db, approval.BornBefore(o.Now(), cmp.Or(below, team.AdultAge)), below > 0)
		}},
		{Name: "turn adults", Every: time.Minute, Run: batches(s.approvals.TurnAdults)},
		{Name: "send second messages", Every: time.Minute, Run: batches(s.approvals.SendSecondMessages)},
		{Name: "end proofs of adults", Every: time.Minute, Run: batches(s.identity.EndDue)},
		{Name: "number records", Every: time.Second, Run: s.proof.Work},
		{Name: "compare approvals with their records", Every: time.Hour, Run: s.proof.Sample},
		{Name: "append erasures to ERASURES", Every: 5 * time.Second, Run: s.ledger.Append},
		{Name: "check the SMS budget", Every: time.Minute, Run: s.budgets.check},
		{Name: "renew the streams", Every: notice.StreamsRenewed, Run: s.operators.Streams.Renew},
		{Name: "fail deliveries of removed channels", Every: 10 * time.Minute, Run: batches(func(ctx context.Context, n int) (int, error) {
			return s.db.Outbox.FailRemovedChannels(ctx, slices.Collect(maps.Keys(s.delivery.senders)), n)
		})},
		{Name: "sweep", Every: 10 * time.Minute, Run: func(ctx context.Context) error {
			_, err := s.approvals.EndUnanswered(ctx, cfg.RetainUnanswered)
			_, sweepErr := s.db.Sweep(ctx, o.Now())
			return errors.Join(err, sweepErr)
		}},
	}
	for _, publish := range s.proof.Publications() {
		jobs = append(jobs, worker.Job{Name: "publish a checkpoint", Every: time.Second, Run: publish})
	}
	return jobs
}

// contents has what deliveries say.
type contents struct {
	*notice.Tray
	accounts
	*conversation.Service
	*approvals
}

type (
	approvals = player.Service
	accounts  = auth.Store
)
