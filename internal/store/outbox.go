package store

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
)

// LiveChallenge returns the challenge of an OTP delivery, and whether the number holds the
// role. live is false if the code no longer works, if wrong codes block the number or
// device, if the number may not sign in, or if a code by mail has no confirmed address. It then gets
// no OTP.
func (db *DB) LiveChallenge(ctx context.Context, d message.Delivery, maxAttempts int) (c auth.Challenge, holdsRole, live bool, err error) {
	c = auth.Challenge{ChallengeKey: auth.ChallengeKey{Number: phone.Number(d.To), Role: d.Role, DeviceID: d.DeviceID}, ID: d.ChallengeID}
	if n, confirms := auth.NumberToConfirm(d.DeviceID); confirms {
		c.Number, c.Address = n, d.To
	}
	var roles auth.RoleFacts
	err = db.sql.QueryRow(ctx, `
		SELECT code, ends_at, (SELECT language FROM preferences pr WHERE pr.mobile_number = $1), `+roleFacts(d.Role)+` FROM otp_challenges
		WHERE mobile_number = $1 AND role = $2 AND device_id = $3 AND id = $4
			AND used_at IS NULL AND ends_at > $5 AND tries < $6
			AND NOT EXISTS (SELECT 1 FROM otp_failures f WHERE f.who = $7 AND f.blocked_until > $5)`,
		string(c.Number), string(d.Role), d.DeviceID, d.ChallengeID, database.Micros(db.Now()), maxAttempts, subject(c.ChallengeKey)).
		Scan(&c.Code, database.IntoTime(&c.EndsAt), database.IntoText(&c.Language), &roles.Registered, &roles.Linked, &roles.Disputed)
	if database.IsNoRows(err) {
		return c, false, false, nil
	}
	live = err == nil && roles.MaySignIn(d.Role)
	if live && c.ByEmail() {
		c.Address, err = db.ConfirmedAddress(ctx, c.Number, c.Role)
		live = c.Address != ""
	}
	return c, roles.Held(), live, err
}

// RequestDetails returns the content and the recipient of the message of a request, or false
// if the request is closed or the party has another address by now. The message repeats an
// earlier one if that reached the party on any channel outside the app and asked about the same
// child, as the requests name it: the coach may have renamed the player since, or removed it.
func (db *DB) RequestDetails(ctx context.Context, d message.Delivery) (message.RequestDetails, message.Recipient, bool, error) {
	var r message.RequestDetails
	var to message.Recipient
	var batches []approval.Batch
	err := db.sql.QueryRow(ctx, `
		SELECT r.approver_type, c.name, p.student_name, r.short_code, `+batchesOfPlayer+`,
			EXISTS (SELECT 1 FROM requests o JOIN deliveries d ON d.request_id = o.id
				WHERE o.approver_id = r.approver_id AND o.coach_id = r.coach_id
					AND (o.id = r.id OR o.student_key = r.student_key AND o.date_of_birth = r.date_of_birth)
					AND d.kind = 'request' AND d.recipient <> '' AND d.state IN ('sent', 'delivered')
					AND d.created_at < (SELECT created_at FROM deliveries WHERE id = $2)),
			a.mobile_number,
			EXISTS (SELECT 1 FROM stopped_coaches st WHERE st.mobile_number = a.mobile_number AND st.coach_id = r.coach_id),
			EXISTS (SELECT 1 FROM stopped_addresses sa WHERE sa.address = $4),
			EXISTS (SELECT 1 FROM accounts s WHERE s.id = r.coach_id AND s.suspended_at IS NOT NULL), `+message.PreferenceColumns+`
		FROM requests r JOIN players p ON p.id = r.player_id
		LEFT JOIN coaches c ON c.id = r.coach_id
		LEFT JOIN accounts a ON a.id = r.approver_id
		LEFT JOIN preferences ON preferences.mobile_number = a.mobile_number
		WHERE r.id = $1 AND r.state = 'pending' AND (a.mobile_number = $3 OR r.approver_type = 'guardian' AND p.guardian_email = $3)`,
		d.RequestID, d.ID, d.To, message.FoldAddress(d.To)).
		Scan(append([]any{
			&r.Party, database.IntoText(&r.CoachName), &r.StudentName, database.IntoText(&r.ShortCode), intoBatches(&batches), &r.Repeated, database.IntoText((*string)(&to.Number)), &to.Stopped, &to.AddressStopped,
			&to.CoachSuspended,
		}, message.PreferenceDest(&to.Preferences)...)...)
	for _, b := range batches {
		r.BatchNames = append(r.BatchNames, b.Name)
	}
	if database.IsNoRows(err) {
		return r, to, false, nil
	}
	return r, to, err == nil, err
}
