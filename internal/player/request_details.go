package player

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
)

// RequestDetails returns the content and the recipient of the message of a request, or false
// if the request is closed or the party has another address by now. The message repeats an
// earlier one if that reached the party on any channel outside the app and asked about the same
// child, as the requests name it: the coach may have renamed the player since, or removed it.
func (s *Service) RequestDetails(ctx context.Context, d message.Delivery) (message.RequestDetails, message.Recipient, bool, error) {
	var r message.RequestDetails
	var to message.Recipient
	var batches []approval.Batch
	err := s.DB.QueryRow(ctx, `
		SELECT r.approver_type, r.version, c.name, p.student_name, r.short_code, `+batchesOfPlayer+`,
			EXISTS (SELECT 1 FROM requests o JOIN deliveries d ON d.request_id = o.id
				WHERE o.approver_id = r.approver_id AND o.coach_id = r.coach_id
					AND (o.id = r.id OR o.student_key = r.student_key AND o.date_of_birth = r.date_of_birth)
					AND d.kind = 'request' AND d.recipient <> '' AND d.state IN ('sent', 'delivered')
					AND d.created_at < (SELECT created_at FROM deliveries WHERE id = $2)),
			a.mobile_number,
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = a.mobile_number AND st.coach_id = r.coach_id),
			EXISTS (SELECT 1 FROM stopped_addresses sa WHERE sa.address = $4),
			EXISTS (SELECT 1 FROM accounts s WHERE s.id = r.coach_id AND s.suspended_at IS NOT NULL),
			(SELECT s.mobile_number FROM accounts s WHERE s.id = r.coach_id), c.time_zone, `+outbox.PreferenceColumns+`
		FROM requests r JOIN players p ON p.id = r.player_id
		LEFT JOIN coaches c ON c.id = r.coach_id
		LEFT JOIN accounts a ON a.id = r.approver_id
		LEFT JOIN preferences ON preferences.mobile_number = a.mobile_number
		WHERE r.id = $1 AND r.state = 'pending' AND (a.mobile_number = $3 OR (SELECT g.email FROM parties g WHERE g.player_id = p.id AND g.role = r.approver_type AND g.guardian_id = r.guardian_id) = $3)`,
		d.RequestID, d.ID, d.To, message.FoldAddress(d.To)).
		Scan(append([]any{
			&r.Party, &r.Version, database.IntoText(&r.CoachName), &r.StudentName, database.IntoText(&r.ShortCode), intoBatches(&batches), &r.Repeated, database.IntoText((*string)(&to.Number)), &to.Stopped, &to.AddressStopped,
			&to.CoachSuspended, database.IntoText((*string)(&to.CoachNumber)), database.IntoText(&to.CoachZone),
		}, outbox.PreferenceDest(&to.Preferences)...)...)
	for _, b := range batches {
		r.BatchNames = append(r.BatchNames, b.Name)
	}
	if database.IsNoRows(err) {
		return r, to, false, nil
	}
	return r, to, err == nil, err
}
