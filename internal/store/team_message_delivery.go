package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/team"
)

// TeamMessage returns the message of a delivery and its recipient. dropReason is set if it
// must no longer be sent: the player was removed, the party has another number or disputed
// a request, or the coach may not write.
func (db *DB) TeamMessage(ctx context.Context, d message.Delivery) (m message.TeamMessage, to message.Recipient, dropReason string, err error) {
	var coachName, body string
	var addressee team.Addressee
	to.Number = phone.Number(d.To)
	var status message.TeamRecipientStatus
	err = db.sql.QueryRow(ctx, `
		SELECT m.body, c.name, p.student_name, r.is_copy, p.deleted_at, a.suspended_at,
			CASE WHEN r.party = 'guardian' THEN p.guardian_number ELSE p.student_number END,
			`+everApproved+`r.account_id), `+disputedBy+`r.account_id),
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = $3 AND st.coach_id = m.coach_id), `+message.PreferenceColumns+`
		FROM team_recipients r
		JOIN team_messages m ON m.id = r.message_id
		JOIN players p ON p.id = r.player_id
		JOIN accounts a ON a.id = m.coach_id
		LEFT JOIN coaches c ON c.id = m.coach_id
		LEFT JOIN preferences ON preferences.mobile_number = $3
		WHERE r.message_id = $1 AND r.position = $2`, d.TeamMessageID, d.TeamPosition, d.To).
		Scan(append([]any{
			&body, database.IntoText(&coachName), &addressee.StudentName, &addressee.Copy, database.IntoTime(&status.RemovedAt), database.IntoTime(&status.SuspendedAt),
			database.IntoText((*string)(&status.Number)), &addressee.EverApproved, &status.Disputed, &to.Stopped,
		}, message.PreferenceDest(&to.Preferences)...)...)
	if database.IsNoRows(err) {
		return m, to, message.ReasonNotWanted, nil
	}
	if err != nil {
		return m, to, "", fmt.Errorf("read the message of delivery %s: %w", d.ID, err)
	}
	l := team.NewOutgoingText(coachName, body, addressee)
	m = message.TeamMessage{CoachName: l.CoachName, Text: l.Text, StudentName: l.StudentName, Restricted: l.Restricted}
	return m, to, status.DropReason(to.Number), nil
}
