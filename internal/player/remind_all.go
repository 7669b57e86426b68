package player

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// A step of RemindAll sends reminders until remindTime has passed or remindStep are sent.
	remindTime = 2 * time.Second
	remindStep = 100
)

// RemindCounts counts the open requests of a coach by whether they can be reminded of.
type RemindCounts struct {
	// Ready get a reminder. Stopped want no messages of the coach. UsedUp are the others that have had all reminders of
	// the window. Undelivered are the others whose message waits or failed. Recent are the others that got a message
	// within ReminderPause.
	Ready, Stopped, UsedUp, Undelivered, Recent int
}

// reminderQuota is the limit on reminders to one party, as of a time.
type reminderQuota struct {
	// Since is the start of the window, and Max the number of reminders in it.
	Since time.Time
	Max   int
	// PauseSince is the start of the ReminderPause.
	PauseSince time.Time
}

// recipient is one party of a player.
type recipient struct {
	PlayerID   string
	Party      actor.Role
	GuardianID string
}

func (s *Service) reminderQuota() reminderQuota {
	now := s.operation().Now
	return reminderQuota{now.Add(-s.Rules.ReminderWindow), s.Rules.RemindersPerWindow, now.Add(-approval.ReminderPause)}
}

// RemindAll sends a reminder to each party of the calling coach that has an open request, a delivered message and a
// reminder left, wants messages of the coach, and got no message within ReminderPause or since begun. It stops after
// about 2 s or 100 reminders, and reports whether more remain: the caller repeats it with the same begun. It may be
// repeated at any time: no party gets two reminders after begun.
func (s *Service) RemindAll(ctx context.Context, by actor.Actor, begun time.Time) (more bool, err error) {
	end := s.DB.Now().Add(remindTime)
	recipients, err := s.remindable(ctx, by.AccountID, s.reminderQuota(), begun, remindStep+1)
	if err != nil {
		return false, err
	}
	for i, to := range recipients {
		if i == remindStep || !s.DB.Now().Before(end) {
			return true, nil
		}
		_, err := s.RemindAfter(ctx, by, to.PlayerID, to.Party, to.GuardianID, begun)
		switch fault.KindOf(err) {
		case fault.Conflict, fault.TooMany, fault.NotFound: // the party answered meanwhile, or the player is gone
			err = nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// CountRemindable counts what RemindAll would do for the calling coach. It counts the open requests: see RemindCounts.
func (s *Service) CountRemindable(ctx context.Context, by actor.Actor) (c RemindCounts, err error) {
	quota := s.reminderQuota()
	err = s.DB.QueryRow(ctx, `
		WITH w AS MATERIALIZED (
			SELECT r.delivery_failed = TRUE OR EXISTS (SELECT 1 FROM deliveries d WHERE d.request_id = r.id AND d.state = 'queued') AS undelivered,
				r.last_sent_at > $4 OR EXISTS (SELECT 1 FROM reminders m WHERE m.player_id = r.player_id AND m.approver_type = r.approver_type AND m.guardian_id = r.guardian_id AND m.sent_at > $4) AS recent,
				(SELECT count(*) FROM reminders m WHERE m.player_id = r.player_id AND m.approver_type = r.approver_type AND m.guardian_id = r.guardian_id AND m.sent_at > $2) AS sent,
				EXISTS (SELECT 1 FROM accounts a JOIN stopped_coaches st ON st.mobile_number = a.mobile_number AND st.coach_id = $1 WHERE a.id = r.approver_id) AS stopped
			FROM requests r WHERE r.coach_id = $1 AND r.state = 'pending'
		)
		SELECT count(*) FILTER (WHERE NOT w.stopped AND NOT w.undelivered AND NOT w.recent AND w.sent < $3), count(*) FILTER (WHERE w.stopped),
			count(*) FILTER (WHERE NOT w.stopped AND w.sent >= $3), count(*) FILTER (WHERE NOT w.stopped AND w.undelivered AND w.sent < $3),
			count(*) FILTER (WHERE NOT w.stopped AND w.recent AND NOT w.undelivered AND w.sent < $3)
		FROM w`, by.AccountID, database.Micros(quota.Since), quota.Max, database.Micros(quota.PauseSince)).Scan(&c.Ready, &c.Stopped, &c.UsedUp, &c.Undelivered, &c.Recent)
	if err != nil {
		return c, fmt.Errorf("count requests to remind of: %w", err)
	}
	return c, nil
}

// remindable lists the parties that CountRemindable counts as ready and that got no
// reminder since begun, the oldest request first.
func (s *Service) remindable(ctx context.Context, coachID string, quota reminderQuota, begun time.Time, limit int) ([]recipient, error) {
	if quota.PauseSince.Before(begun) {
		begun = quota.PauseSince
	}
	rs, err := s.DB.Query(ctx, `
		SELECT r.player_id, r.approver_type, r.guardian_id FROM requests r
		WHERE r.coach_id = $1 AND r.state = 'pending' AND r.delivery_failed = FALSE AND r.last_sent_at <= $6
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.request_id = r.id AND d.state = 'queued')
			AND NOT EXISTS (SELECT 1 FROM reminders m WHERE m.player_id = r.player_id AND m.approver_type = r.approver_type AND m.guardian_id = r.guardian_id AND m.sent_at > $4)
			AND (SELECT count(*) FROM reminders m WHERE m.player_id = r.player_id AND m.approver_type = r.approver_type AND m.guardian_id = r.guardian_id AND m.sent_at > $2) < $3
			AND NOT EXISTS (SELECT 1 FROM accounts a JOIN stopped_coaches st ON st.mobile_number = a.mobile_number AND st.coach_id = $1 WHERE a.id = r.approver_id)
		ORDER BY r.requested_at, r.id LIMIT $5`, coachID, database.Micros(quota.Since), quota.Max, database.Micros(begun), limit, database.Micros(quota.PauseSince))
	list, err := database.Collect(rs, err, func(s database.Scanner) (to recipient, err error) {
		return to, s.Scan(&to.PlayerID, &to.Party, &to.GuardianID)
	})
	return list, fault.Wrap(err, "list requests to remind of")
}
