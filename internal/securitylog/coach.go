package securitylog

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/coach"
)

// Accounts returns store with suspensions logged.
func (l *Log) Accounts(store coach.AccountAdminStore) coach.AccountAdminStore {
	return &accountStore{store, l}
}

type accountStore struct {
	coach.AccountAdminStore
	log *Log
}

func (s *accountStore) Suspend(ctx context.Context, by actor.Operator, id, reason string, check func(coach.Account) error) error {
	err := s.AccountAdminStore.Suspend(ctx, by, id, reason, check)
	if err == nil {
		s.log.Event(ctx, "coach_suspended", operatorID(by), account(id))
	}
	return err
}

func (s *accountStore) Restore(ctx context.Context, by actor.Operator, id string, check func(coach.Account) error) error {
	err := s.AccountAdminStore.Restore(ctx, by, id, check)
	if err == nil {
		s.log.Event(ctx, "coach_restored", operatorID(by), account(id))
	}
	return err
}

// Subscriptions returns store with changes of a coach's tier logged.
func (l *Log) Subscriptions(store coach.SubscriptionStore) coach.SubscriptionStore {
	return &subscriptionStore{store, l}
}

type subscriptionStore struct {
	coach.SubscriptionStore
	log *Log
}

func (s *subscriptionStore) UpdateTier(ctx context.Context, coachID string, fn func(coach.TierChoice) (coach.TierChoice, error)) error {
	var from, to string
	err := s.SubscriptionStore.UpdateTier(ctx, coachID, func(stored coach.TierChoice) (coach.TierChoice, error) {
		next, err := fn(stored)
		from, to = stored.Tier, next.Tier
		return next, err
	})
	if err == nil && from != to {
		s.log.Event(ctx, "setting_changed", account(coachID), slog.String("setting", "tier"), slog.String("value", to))
	}
	return err
}

func (s *subscriptionStore) DecideTier(ctx context.Context, by actor.Operator, coachID string, fn func(coach.TierChoice) (coach.TierDecision, error)) error {
	var decision coach.TierDecision
	err := s.SubscriptionStore.DecideTier(ctx, by, coachID, func(stored coach.TierChoice) (coach.TierDecision, error) {
		var err error
		decision, err = fn(stored)
		return decision, err
	})
	if err == nil && decision.Outcome != coach.TierRefused {
		s.log.Event(ctx, "setting_changed", operatorID(by), account(coachID), slog.String("setting", "tier"), slog.String("value", decision.Stored))
	}
	return err
}

// Verifications returns store with operators' decisions logged.
func (l *Log) Verifications(store coach.VerificationStore) coach.VerificationStore {
	return &verificationStore{store, l}
}

type verificationStore struct {
	coach.VerificationStore
	log *Log
}

func (s *verificationStore) DecideKYC(ctx context.Context, by actor.Operator, id string, d coach.KYCDecision) (coach.Submission, error) {
	decided, err := s.VerificationStore.DecideKYC(ctx, by, id, d)
	if err == nil {
		s.log.Event(ctx, "verification_decided", operatorID(by), account(decided.CoachID), slog.String("state", string(decided.State)))
	}
	return decided, err
}

// Directory returns store with changes of a coach's visibility logged.
func (l *Log) Directory(store coach.DirectoryStore) coach.DirectoryStore {
	return &directoryStore{store, l}
}

type directoryStore struct {
	coach.DirectoryStore
	log *Log
}

func (s *directoryStore) SetVisibility(ctx context.Context, coachID string, fn func(coach.ListingSource) (coach.VisibilityRequest, error)) error {
	var before, visible bool
	err := s.DirectoryStore.SetVisibility(ctx, coachID, func(source coach.ListingSource) (coach.VisibilityRequest, error) {
		request, err := fn(source)
		before, visible = source.Visible, request.Visible
		return request, err
	})
	if err == nil && before != visible {
		s.log.Event(ctx, "setting_changed", account(coachID), slog.String("setting", "visibility"), slog.Bool("value", visible))
	}
	return err
}
