package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
)

// queueOTP queues the message of a challenge. The row names the challenge and does not
// contain the code. A code by mail names the number: the worker finds the confirmed address.
func (tx *Tx) queueOTP(ctx context.Context, c auth.Challenge, r auth.ChallengeRequest, reserved bool) error {
	channel, to := message.Channel(r.Channel), cmp.Or(r.Address, string(c.Number))
	err := tx.Defer(ctx, `
		INSERT INTO deliveries (id, kind, channel, state, recipient, role, challenge_id, device_id,
			attempts, due_at, gives_up_at, created_at, updated_at, reserved)
		VALUES ($1, 'otp', $2, 'queued', $3, $4, $5, $6, 0, $7, $8, $7, $7, $9)`,
		tx.db.options.NewID(), string(channel), to, string(c.Role), c.ID, c.DeviceID, database.Micros(tx.Now), database.Micros(c.EndsAt), reserved)
	if err != nil {
		return fmt.Errorf("queue OTP: %w", err)
	}
	tx.wakeOutbox(message.Lane{Channel: channel, Kind: message.OTP})
	return nil
}

// LanesDue returns those of the lanes that have a delivery to send.
func (db *DB) LanesDue(ctx context.Context, lanes []message.Lane, now time.Time) ([]message.Lane, error) {
	if len(lanes) == 0 {
		return nil, nil
	}
	// One lookup in the index deliveries_due per lane.
	exists := make([]string, len(lanes))
	args := []any{database.Micros(now)}
	due := make([]bool, len(lanes))
	into := make([]any, len(lanes))
	for i, lane := range lanes {
		exists[i] = fmt.Sprintf(`
			EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND channel = CAST($%d AS TEXT) AND kind = CAST($%d AS TEXT) AND due_at <= $1)`,
			len(args)+1, len(args)+2)
		args = append(args, string(lane.Channel), string(lane.Kind))
		into[i] = &due[i]
	}
	if err := db.sql.QueryRow(ctx, `SELECT `+strings.Join(exists, ","), args...).Scan(into...); err != nil {
		return nil, fmt.Errorf("find due lanes: %w", err)
	}
	var found []message.Lane
	for i, lane := range lanes {
		if due[i] {
			found = append(found, lane)
		}
	}
	return found, nil
}

// ClaimDeliveries claims up to n due deliveries of a lane, oldest first. The claim
// holds until the given time; after that another claim may take the deliveries.
//
// The casts make SQLite plan the statement without the values. With them it plans
// again for each kind, because a partial index for one kind could serve.
func (db *DB) ClaimDeliveries(ctx context.Context, lane message.Lane, lease string, until time.Time, n int) ([]message.Delivery, error) {
	var claimed []message.Delivery
	err := db.sql.ExecRows(ctx, func(rs *database.Rows, err error) error {
		claimed, err = database.Collect(rs, err, scanDelivery)
		return err
	}, `
		UPDATE deliveries SET lease = $4, due_at = $5, attempts = attempts + 1, total_attempts = total_attempts + 1, updated_at = $3
		WHERE id IN (
			SELECT id FROM deliveries
			WHERE state = 'queued' AND channel = CAST($1 AS TEXT) AND kind = CAST($2 AS TEXT) AND due_at <= $3
			ORDER BY due_at, id LIMIT $6 `+db.sql.SkipLocked()+`)
		RETURNING `+deliveryColumns,
		string(lane.Channel), string(lane.Kind), database.Micros(db.Now()), lease, database.Micros(until), n)
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	return claimed, nil
}

// deliveryColumns are the columns that scanDelivery scans.
const deliveryColumns = `id, channel, kind, recipient, role, lease, attempts, total_attempts, gives_up_at, reason, coach_id, request_id, challenge_id, device_id,
	notification_id, counted, reserved, held_by, network, gathered_by, team_message_id, coalesce(team_position, 0)`

func scanDelivery(s database.Scanner) (message.Delivery, error) {
	var d message.Delivery
	var reason string
	err := s.Scan(&d.ID, &d.Channel, &d.Kind, &d.To, &d.Role, database.IntoText(&d.Lease), &d.Attempts, &d.TotalAttempts, database.IntoTime(&d.GivesUpAt), database.IntoText(&reason),
		database.IntoText(&d.CoachID), database.IntoText(&d.RequestID), database.IntoText(&d.ChallengeID), database.IntoText(&d.DeviceID), database.IntoText(&d.NotificationID),
		&d.Counted, &d.Reserved, database.IntoText(&d.HeldBy), database.IntoText(&d.Network), database.IntoText(&d.GatheredBy),
		database.IntoText(&d.TeamMessageID), &d.TeamPosition)
	d.Held, d.Postponed, d.Gathers, d.AwaitsStatus = reason == message.ReasonHeld, reason == message.ReasonQuietHours, reason == message.ReasonGathering, reason == message.ReasonAwaitingStatus
	return d, err
}

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
			EXISTS (SELECT 1 FROM accounts s WHERE s.id = r.coach_id AND s.suspended_at IS NOT NULL), `+preferenceColumns+`
		FROM requests r JOIN players p ON p.id = r.player_id
		LEFT JOIN coaches c ON c.id = r.coach_id
		LEFT JOIN accounts a ON a.id = r.approver_id
		LEFT JOIN preferences ON preferences.mobile_number = a.mobile_number
		WHERE r.id = $1 AND r.state = 'pending' AND (a.mobile_number = $3 OR r.approver_type = 'guardian' AND p.guardian_email = $3)`,
		d.RequestID, d.ID, d.To, message.FoldAddress(d.To)).
		Scan(append([]any{
			&r.Party, database.IntoText(&r.CoachName), &r.StudentName, database.IntoText(&r.ShortCode), intoBatches(&batches), &r.Repeated, database.IntoText((*string)(&to.Number)), &to.Stopped, &to.AddressStopped,
			&to.CoachSuspended,
		}, preferenceDest(&to.Preferences)...)...)
	for _, b := range batches {
		r.BatchNames = append(r.BatchNames, b.Name)
	}
	if database.IsNoRows(err) {
		return r, to, false, nil
	}
	return r, to, err == nil, err
}
