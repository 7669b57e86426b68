package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Timeline returns the timeline of a player of the calling coach over one state of the database, or
// not_found.
func (s *Service) Timeline(ctx context.Context, by actor.Actor, id string) (t *Timeline, err error) {
	if by.Role != actor.Coach {
		return nil, fault.Missing()
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		p, err := s.visiblePlayer(ctx, tx, by, id)
		if err != nil {
			return err
		}
		t = &Timeline{Player: p}
		if t.History, err = readHistory(ctx, tx, id); err != nil {
			return fmt.Errorf("read history: %w", err)
		}
		if err := loadReminders(ctx, tx, p, s.operation().Now.Add(-s.Rules.ReminderWindow)); err != nil {
			return err
		}
		if t.Requests, err = requestsOf(ctx, tx, p, MaxTimeline); err != nil {
			return fmt.Errorf("read requests of player %s: %w", id, err)
		}
		for _, r := range t.Requests {
			if newest := p.Approver(r.Party).Request; newest != nil && newest.ID == r.ID {
				p.Approver(r.Party).Request = r
			}
		}
		return loadDeliveries(ctx, tx, t.Requests)
	})
	return t, err
}

// requestsOf lists the requests about a player, newest first. The caller must have checked
// access to the player.
func requestsOf(ctx context.Context, q database.Querier, p *Player, limit int) ([]*Request, error) {
	rs, err := q.Query(ctx, `
		SELECT id, approver_id, state, channels, requested_at, last_sent_at, delivery_failed, failed_channels, closed_at, short_code,
			approver_type, followed_up_at, follow_up_note
		FROM requests WHERE player_id = $1 AND coach_id = $2 ORDER BY id DESC LIMIT $3`, p.ID, p.CoachID, limit)
	return database.Collect(rs, err, func(s database.Scanner) (*Request, error) {
		var c requestColumns
		var party actor.Role
		var followedUp time.Time
		var note string
		err := s.Scan(append(c.dest(), &party, database.IntoTime(&followedUp), database.IntoText(&note))...)
		r := c.request(p, party)
		if r != nil {
			r.FollowedUpAt, r.FollowUpNote = followedUp, note
		}
		return r, err
	})
}
