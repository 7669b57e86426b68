package player

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Pending lists the pending approvals of the calling coach, oldest first, guardian before student,
// after page.After. The statement reads the parties of the coach and sorts those that are pending: an index in this
// order would change with each answer. It limits the rows before it joins the requests.
func (s *Service) Pending(ctx context.Context, by actor.Actor, page approval.Page) ([]approval.PendingItem, error) {
	now := s.operation().Now
	rs, err := s.DB.Query(ctx, `
		SELECT w.player_id, w.student_name, w.party, w.guardian_id, w.approver_name, w.since, w.reason, w.number IS NOT NULL,
			(SELECT count(*) FROM reminders m WHERE m.player_id = w.player_id AND m.approver_type = w.party AND m.guardian_id = w.guardian_id AND m.sent_at > $7),
			(SELECT count(*) FROM deliveries d WHERE d.request_id = r.id AND d.state = 'queued' AND d.reason = 'held') > 0,
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = w.number AND st.coach_id = $1),
			r.id, r.approver_id, r.state, r.channels, r.requested_at, r.last_sent_at, r.delivery_failed, r.failed_channels, r.closed_at, r.short_code, r.via, r.version, r.sent_version
		FROM (
			SELECT p.id AS player_id, p.student_name AS student_name, a.role AS party, a.guardian_id AS guardian_id, coalesce(a.name, p.student_name) AS approver_name,
				a.pending_since AS since, a.pending_reason AS reason, a.number AS number, a.request_id AS request_id
			FROM parties a JOIN players p ON p.id = a.player_id
			WHERE a.coach_id = $1 AND a.deleted_at IS NULL AND a.state = 'pending' AND (a.pending_since, a.player_id, a.role, a.guardian_id) > ($2, $3, CAST($4 AS TEXT), CAST($8 AS TEXT))
				AND (a.role = 'student' OR a.name IS NOT NULL AND (p.date_of_birth > $5 OR (SELECT o.state FROM requests o WHERE o.id = a.request_id) = 'pending'))
			ORDER BY a.pending_since, a.player_id, a.role, a.guardian_id LIMIT $6
		) w
		LEFT JOIN requests r ON r.id = w.request_id
		ORDER BY w.since, w.player_id, w.party, w.guardian_id`,
		by.AccountID, database.SinceMicros(page.After.At), page.After.ID, string(page.After.Party), approval.AdultBirthDate(now).String(), page.Limit,
		database.Micros(now.Add(-s.Rules.ReminderWindow)), page.After.GuardianID)
	items, err := database.Collect(rs, err, func(s database.Scanner) (approval.PendingItem, error) {
		var i approval.PendingItem
		var columns requestColumns
		err := s.Scan(append([]any{&i.PlayerID, &i.StudentName, &i.Party, &i.GuardianID, database.IntoText(&i.ApproverName), database.IntoTime(&i.PendingSince), database.IntoText((*string)(&i.Reason)), &i.HasNumber, &i.Reminders, &i.Held, &i.Stopped},
			columns.dest()...)...)
		i.Request = columns.request(&approval.Player{ID: i.PlayerID, CoachID: by.AccountID}, i.Party, i.GuardianID)
		return i, err
	})
	return items, fault.Wrap(err, "list pending")
}
