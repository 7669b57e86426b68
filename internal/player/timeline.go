package player

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// maxTimeline is the number of requests in a Timeline.
const maxTimeline = 50

// PreviewEdit returns the effect of Edit on the consents, or its error. It saves nothing.
func (s *Service) PreviewEdit(ctx context.Context, by actor.Actor, id string, patch approval.Patch) (effect approval.EditEffect, err error) {
	_, err = s.update(ctx, id, editLoads(patch), func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		var err error
		effect, err = p.PreviewEdit(by, patch, s.Rules, op)
		return approval.Change{}, err
	})
	return effect, err
}

// RemindAfter is RemindParty, but does nothing if the party got a reminder after last. It reports whether it sent one.
func (s *Service) RemindAfter(ctx context.Context, by actor.Actor, id string, party actor.Role, guardianID string, last time.Time) (bool, error) {
	_, c, err := s.change(ctx, id, s.remindLoads(), func(p *approval.Player, op approval.Operation) (approval.Change, error) {
		return p.RemindAfter(by, party, guardianID, last, s.Rules, op)
	})
	return c.Save, err
}

// Timeline returns the timeline of a player of the calling coach over one state of the database, or
// not_found.
func (s *Service) Timeline(ctx context.Context, by actor.Actor, id string) (t *approval.Timeline, err error) {
	if by.Role != actor.Coach {
		return nil, fault.Missing()
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		p, err := s.visiblePlayer(ctx, tx, by, id)
		if err != nil {
			return err
		}
		t = &approval.Timeline{Player: p}
		t.History, err = readHistory(ctx, tx, id)
		if err != nil {
			return fmt.Errorf("read history: %w", err)
		}
		if err := loadReminders(ctx, tx, p, s.operation().Now.Add(-s.Rules.ReminderWindow)); err != nil {
			return err
		}
		t.Requests, err = requestsOf(ctx, tx, p, maxTimeline)
		if err != nil {
			return fmt.Errorf("read requests of player %s: %w", id, err)
		}
		for _, r := range t.Requests {
			if a := p.Asked(r); a != nil && a.Request != nil && a.Request.ID == r.ID {
				a.Request = r
			}
		}
		if err := s.loadCallFacts(ctx, tx, p, s.DB.Now()); err != nil {
			return err
		}
		return loadDeliveries(ctx, tx, t.Requests)
	})
	if err == nil {
		s.openShown(t.History)
	}
	return t, err
}

// requestsOf lists the requests about a player, newest first. The caller must have checked
// access to the player.
func requestsOf(ctx context.Context, q database.Querier, p *approval.Player, limit int) ([]*approval.Request, error) {
	rs, err := q.Query(ctx, `
		SELECT id, approver_id, state, channels, requested_at, last_sent_at, delivery_failed, failed_channels, closed_at, short_code, via, version, sent_version,
			approver_type, guardian_id, followed_up_at, follow_up_note
		FROM requests WHERE player_id = $1 AND coach_id = $2 ORDER BY id DESC LIMIT $3`, p.ID, p.CoachID, limit)
	return database.Collect(rs, err, func(s database.Scanner) (*approval.Request, error) {
		var c requestColumns
		var party actor.Role
		var guardianID string
		var followedUp time.Time
		var note string
		err := s.Scan(append(c.dest(), &party, &guardianID, database.IntoTime(&followedUp), database.IntoText(&note))...)
		r := c.request(p, party, guardianID)
		if r != nil {
			r.FollowedUpAt, r.FollowUpNote = followedUp, note
		}
		return r, err
	})
}
