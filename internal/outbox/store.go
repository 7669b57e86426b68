// Package outbox has the messages that wait to leave the service, with their SQL: it queues, claims, holds and
// completes them. Package message has the rules and the words.
package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/telemetry"
)

// Store is the outbox in the database, with the preferences and the stops of its recipients.
type Store struct {
	DB       *database.DB
	NewID    func() string
	Settings message.Settings
	Requests Requests
	// OnQueued runs after a commit that queued a delivery. It must not block.
	OnQueued func(message.Lane)
}

// Requests is what happens to requests in the transactions that change their deliveries. Package player implements it.
type Requests interface {
	// Facts returns what the limits must know of each message.
	Facts(ctx context.Context, tx *database.Tx, messages []message.Outgoing) ([]message.Facts, error)
	// Failed notes that the delivery of a request failed.
	Failed(ctx context.Context, tx *database.Tx, d message.Delivery) error
	// Reached notes that the delivery of a request counts no longer as failed. It returns false if
	// the request was closed, or sent again on this channel.
	Reached(ctx context.Context, tx *database.Tx, requestID, deliveryID string, channel message.Channel) (bool, error)
	// Postponed notes that messages of requests leave that waited, but for no limit.
	Postponed(ctx context.Context, tx *database.Tx, requestIDs []string) error
	// Released notes that the message of a request leaves that waited for a limit.
	Released(ctx context.Context, tx *database.Tx, requestID string) error
}

// Wake wakes a lane of this process's outbox after the commit.
func (st *Store) Wake(tx *database.Tx, lane message.Lane) {
	tx.AfterCommit(func() { st.OnQueued(lane) })
}

// OTPDelivery is the message of a challenge.
type OTPDelivery struct {
	Channel message.Channel
	// To is the number, also of a code by mail: the worker finds the confirmed address.
	To                    string
	Role                  actor.Role
	ChallengeID, DeviceID string
	EndsAt                time.Time
	// Reserved is Delivery.Reserved.
	Reserved bool
}

// QueueOTP queues the message of a challenge. The row names the challenge and does not
// contain the code.
func (st *Store) QueueOTP(ctx context.Context, tx *database.Tx, o OTPDelivery) error {
	err := tx.Defer(ctx, `
		INSERT INTO deliveries (id, kind, channel, state, recipient, role, challenge_id, device_id,
			attempts, due_at, gives_up_at, created_at, updated_at, reserved, trace_parent)
		VALUES ($1, 'otp', $2, 'queued', $3, $4, $5, $6, 0, $7, $8, $7, $7, $9, $10)`,
		st.NewID(), string(o.Channel), o.To, string(o.Role), o.ChallengeID, o.DeviceID, database.Micros(tx.Now), database.Micros(o.EndsAt), o.Reserved, database.Text(telemetry.Parent(ctx)))
	if err != nil {
		return fmt.Errorf("queue OTP: %w", err)
	}
	st.Wake(tx, message.Lane{Channel: o.Channel, Kind: message.OTP})
	return nil
}

// LanesDue returns the lanes that have a delivery to send.
func (st *Store) LanesDue(ctx context.Context, lanes []message.Lane, now time.Time) ([]message.Lane, error) {
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
			EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND channel = CAST($%d AS TEXT) AND kind = CAST($%d AS TEXT) AND due_at <= $1
				AND (lease IS NULL OR lease_ends_at <= $1))`,
			len(args)+1, len(args)+2)
		args = append(args, string(lane.Channel), string(lane.Kind))
		into[i] = &due[i]
	}
	if err := st.DB.QueryRow(ctx, `SELECT `+strings.Join(exists, ","), args...).Scan(into...); err != nil {
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
func (st *Store) ClaimDeliveries(ctx context.Context, lane message.Lane, lease string, until time.Time, n int) ([]message.Delivery, error) {
	var claimed []message.Delivery
	err := st.DB.ExecRows(ctx, func(rs *database.Rows, err error) error {
		claimed, err = database.Collect(rs, err, ScanDelivery)
		return err
	}, `
		UPDATE deliveries SET lease = $4, lease_ends_at = $5, claimed_at = $3, attempts = attempts + 1, total_attempts = total_attempts + 1
		WHERE id IN (
			SELECT id FROM deliveries
			WHERE state = 'queued' AND channel = CAST($1 AS TEXT) AND kind = CAST($2 AS TEXT) AND due_at <= $3
				AND (lease IS NULL OR lease_ends_at <= $3)
			ORDER BY due_at, id LIMIT $6 `+st.DB.SkipLocked()+`)
		RETURNING `+DeliveryColumns,
		string(lane.Channel), string(lane.Kind), database.Micros(st.DB.Now()), lease, database.Micros(until), n)
	return claimed, fault.Wrap(err, "claim deliveries")
}

// VoiceDelivery returns a call, or an error of database.IsNoRows.
func (st *Store) VoiceDelivery(ctx context.Context, id string) (message.Delivery, error) {
	return ScanDelivery(st.DB.QueryRow(ctx, `SELECT `+DeliveryColumns+` FROM deliveries WHERE id = $1 AND channel = 'voice'`, id))
}

// DeliveryColumns are the columns that ScanDelivery scans.
const DeliveryColumns = `id, channel, kind, recipient, role, lease, attempts, total_attempts, gives_up_at, reason, coach_id, request_id, challenge_id, device_id,
	notification_id, counted, reserved, held_by, network, gathered_by, team_message_id, coalesce(team_position, 0), stays, trace_parent`

func ScanDelivery(s database.Scanner) (message.Delivery, error) {
	var d message.Delivery
	var reason string
	err := s.Scan(&d.ID, &d.Channel, &d.Kind, &d.To, &d.Role, database.IntoText(&d.Lease), &d.Attempts, &d.TotalAttempts, database.IntoTime(&d.GivesUpAt), database.IntoText(&reason),
		database.IntoText(&d.CoachID), database.IntoText(&d.RequestID), database.IntoText(&d.ChallengeID), database.IntoText(&d.DeviceID), database.IntoText(&d.NotificationID),
		&d.Counted, &d.Reserved, database.IntoText(&d.HeldBy), database.IntoText(&d.Network), database.IntoText(&d.GatheredBy),
		database.IntoText(&d.TeamMessageID), &d.TeamPosition, &d.Stays, database.IntoText(&d.TraceParent))
	d.Held, d.Postponed, d.Gathers, d.AwaitsStatus = reason == message.ReasonHeld, reason == message.ReasonQuietHours, reason == message.ReasonGathering, reason == message.ReasonAwaitingStatus
	return d, err
}
