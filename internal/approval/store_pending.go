package approval

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// Pending lists the pending approvals of the calling coach, oldest first, guardian before student,
// after page.After. Each party has an index in this order. The statement reads at most a
// page from each and merges them. It limits the merged rows before it joins the requests:
// SQLite would otherwise join and sort a page of each.
func (s *Service) Pending(ctx context.Context, by actor.Actor, page Page) ([]PendingItem, error) {
	now := s.operation().Now
	rs, err := s.DB.Query(ctx, `
		SELECT w.player_id, w.student_name, w.party, w.approver_name, w.since, w.reason, w.number IS NOT NULL,
			(SELECT count(*) FROM reminders m WHERE m.player_id = w.player_id AND m.approver_type = w.party AND m.sent_at > $7),
			(SELECT count(*) FROM deliveries d WHERE d.request_id = r.id AND d.state = 'queued' AND d.reason = 'held') > 0,
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = w.number AND st.coach_id = $1),
			r.id, r.approver_id, r.state, r.channels, r.requested_at, r.last_sent_at, r.delivery_failed, r.failed_channels, r.closed_at, r.short_code, r.via, r.version, r.sent_version
		FROM (
			SELECT * FROM (SELECT * FROM (
				SELECT p.id AS player_id, p.student_name AS student_name, 'guardian' AS party, p.guardian_name AS approver_name,
					p.guardian_pending_since AS since, p.guardian_pending_reason AS reason, p.guardian_number AS number, p.guardian_request_id AS request_id
				FROM players p
				WHERE p.coach_id = $1 AND p.deleted_at IS NULL AND p.guardian_state = 'pending' AND p.guardian_name IS NOT NULL
					AND (p.guardian_pending_since, p.id, 'guardian') > ($2, $3, CAST($4 AS TEXT))
					AND (p.date_of_birth > $5 OR (SELECT o.state FROM requests o WHERE o.id = p.guardian_request_id) = 'pending')
				ORDER BY p.guardian_pending_since, p.id LIMIT $6) g
			UNION ALL
			SELECT * FROM (
				SELECT p.id AS player_id, p.student_name AS student_name, 'student' AS party, p.student_name AS approver_name,
					p.student_pending_since AS since, p.student_pending_reason AS reason, p.student_number AS number, p.student_request_id AS request_id
				FROM players p
				WHERE p.coach_id = $1 AND p.deleted_at IS NULL AND p.student_state = 'pending'
					AND (p.student_pending_since, p.id, 'student') > ($2, $3, CAST($4 AS TEXT))
				ORDER BY p.student_pending_since, p.id LIMIT $6) s
			) u ORDER BY u.since, u.player_id, u.party LIMIT $6
		) w
		LEFT JOIN requests r ON r.id = w.request_id
		ORDER BY w.since, w.player_id, w.party`,
		by.AccountID, database.SinceMicros(page.After.At), page.After.ID, string(page.After.Party), AdultBirthDate(now).String(), page.Limit,
		database.Micros(now.Add(-s.Rules.ReminderWindow)))
	items, err := database.Collect(rs, err, func(s database.Scanner) (PendingItem, error) {
		var i PendingItem
		var columns requestColumns
		err := s.Scan(append([]any{&i.PlayerID, &i.StudentName, &i.Party, database.IntoText(&i.ApproverName), database.IntoTime(&i.PendingSince), database.IntoText((*string)(&i.Reason)), &i.HasNumber, &i.Reminders, &i.Held, &i.Stopped},
			columns.dest()...)...)
		i.Request = columns.request(&Player{ID: i.PlayerID, CoachID: by.AccountID}, i.Party)
		return i, err
	})
	if err != nil {
		return nil, fmt.Errorf("list pending: %w", err)
	}
	return items, nil
}
