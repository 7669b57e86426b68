package securitylog

import (
	"context"
	"log/slog"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/actor"
)

func (s *stores) Suspend(ctx context.Context, by actor.Operator, id, reason string, check func(coach.Account) error) error {
	err := s.Stores.Suspend(ctx, by, id, reason, check)
	if err == nil {
		s.log.Event(ctx, "coach_suspended", operatorID(by), account(id))
	}
	return err
}

func (s *stores) Restore(ctx context.Context, by actor.Operator, id string, check func(coach.Account) error) error {
	err := s.Stores.Restore(ctx, by, id, check)
	if err == nil {
		s.log.Event(ctx, "coach_restored", operatorID(by), account(id))
	}
	return err
}

func (s *stores) UpdateTier(ctx context.Context, coachID string, fn func(coach.TierChoice) (coach.TierChoice, error)) error {
	var from, to string
	err := s.Stores.UpdateTier(ctx, coachID, func(stored coach.TierChoice) (coach.TierChoice, error) {
		next, err := fn(stored)
		from, to = stored.Tier, next.Tier
		return next, err
	})
	if err == nil && from != to {
		s.log.Event(ctx, "setting_changed", account(coachID), slog.String("setting", "tier"), slog.String("value", to))
	}
	return err
}

func (s *stores) DecideTier(ctx context.Context, by actor.Operator, coachID string, fn func(coach.TierChoice) (coach.TierDecision, error)) error {
	var decision coach.TierDecision
	err := s.Stores.DecideTier(ctx, by, coachID, func(stored coach.TierChoice) (coach.TierDecision, error) {
		var err error
		decision, err = fn(stored)
		return decision, err
	})
	if err == nil && decision.Outcome != coach.TierRefused {
		s.log.Event(ctx, "setting_changed", operatorID(by), account(coachID), slog.String("setting", "tier"), slog.String("value", decision.Stored))
	}
	return err
}

func (s *stores) SetVisibility(ctx context.Context, coachID string, fn func(coach.ListingSource) (coach.VisibilityRequest, error)) error {
	var before, visible bool
	err := s.Stores.SetVisibility(ctx, coachID, func(source coach.ListingSource) (coach.VisibilityRequest, error) {
		request, err := fn(source)
		before, visible = source.Visible, request.Visible
		return request, err
	})
	if err == nil && before != visible {
		s.log.Event(ctx, "setting_changed", account(coachID), slog.String("setting", "visibility"), slog.Bool("value", visible))
	}
	return err
}
