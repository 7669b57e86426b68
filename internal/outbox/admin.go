package outbox

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// deliverySelect finds a newer sending of a request on the channel as DeliveryFailed does, and an
// address that is no longer the party's as RequestDetails does.
const deliverySelect = `
	SELECT d.id, d.channel, d.kind, d.state, d.reason, d.cause, d.attempts, d.recipient, d.coach_id, c.name, d.request_id, d.created_at, d.updated_at,
		d.request_id IS NOT NULL AND (r.state <> 'pending'
			OR NOT EXISTS (SELECT 1 FROM accounts a JOIN parties p ON p.player_id = r.player_id AND p.role = r.approver_type AND p.guardian_id = r.guardian_id
				WHERE a.id = r.approver_id AND (a.mobile_number = d.recipient OR p.email = d.recipient))
			OR d.kind = 'request' AND EXISTS (
			SELECT 1 FROM deliveries n WHERE n.request_id = d.request_id AND n.kind = 'request' AND n.id > d.id
				AND ` + ChannelOfRequest + ` = CASE d.channel WHEN 'chat' THEN 'sms' ELSE d.channel END))
	FROM deliveries d LEFT JOIN requests r ON r.id = d.request_id LEFT JOIN coaches c ON c.id = d.coach_id `

// FailedWhere leaves out deliveries that the worker dropped. Its reasons are in the conditions of the indexes
// deliveries_not_sent.
const FailedWhere = `WHERE d.state = 'failed' AND d.reason NOT IN ('request_closed', 'not_wanted', 'stopped', 'disputed', 'contact_changed', 'player_removed')`

func scanDeliveryRecord(s database.Scanner) (d message.DeliveryRecord, err error) {
	err = s.Scan(&d.ID, &d.Channel, &d.Kind, &d.State, database.IntoText(&d.Reason), database.IntoText((*string)(&d.Cause)), &d.Attempts, &d.To, database.IntoText(&d.CoachID), database.IntoText(&d.CoachName), database.IntoText(&d.RequestID),
		database.IntoTime(&d.CreatedAt), database.IntoTime(&d.UpdatedAt), &d.Outdated)
	return d, err
}

// FailedDeliveries returns failed deliveries, the latest failure first, and audits the access.
func (st *Store) FailedDeliveries(ctx context.Context, by actor.Operator, s message.FailedDeliverySearch, limit int) ([]message.DeliveryRecord, error) {
	before := database.UntilMicros(s.After.At)
	var found []message.DeliveryRecord
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		var rs *database.Rows
		var err error
		detail := ""
		if s.CoachID == "" {
			rs, err = tx.Query(ctx, deliverySelect+`
				`+FailedWhere+` AND (d.updated_at, d.id) < ($1, $2)
				ORDER BY d.updated_at DESC, d.id DESC LIMIT $3`, before, s.After.ID, limit)
		} else {
			detail = "of coach " + s.CoachID
			rs, err = tx.Query(ctx, deliverySelect+`
				`+FailedWhere+` AND d.coach_id = $1 AND (d.updated_at, d.id) < ($2, $3)
				ORDER BY d.updated_at DESC, d.id DESC LIMIT $4`, s.CoachID, before, s.After.ID, limit)
		}
		found, err = database.Collect(rs, err, scanDeliveryRecord)
		if err != nil {
			return fmt.Errorf("list failed deliveries: %w", err)
		}
		return operator.AddEntry(ctx, tx, st.NewID(), by, operator.DeliveriesListed, "delivery", "", detail)
	})
	return found, err
}

// DeliveriesTo returns the deliveries to a number in any state, the newest first, and audits the access without the
// number. It answers "the SMS never came".
func (st *Store) DeliveriesTo(ctx context.Context, by actor.Operator, s message.NumberDeliverySearch, limit int) ([]message.DeliveryRecord, error) {
	var found []message.DeliveryRecord
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		rs, err := tx.Query(ctx, deliverySelect+`
			WHERE d.recipient = $1 AND d.recipient <> '' AND d.id < $2
			ORDER BY d.id DESC LIMIT $3`, string(s.Number), database.Before(s.After), limit)
		found, err = database.Collect(rs, err, scanDeliveryRecord)
		if err != nil {
			return fmt.Errorf("list deliveries to a number: %w", err)
		}
		return operator.AddEntry(ctx, tx, st.NewID(), by, operator.DeliveriesListed, "delivery", "", "by number")
	})
	return found, err
}

// RetryFailed queues a failed delivery again, with all attempts and the same id, so that a provider that did accept
// it can drop the duplicate, if check returns nil. Of concurrent calls one succeeds. A delivery that
// shared a message with others leaves without them, so the message limits count it again.
func (st *Store) RetryFailed(ctx context.Context, by actor.Operator, id string, check func(message.DeliveryRecord) error) (message.DeliveryRecord, error) {
	var retried message.DeliveryRecord
	err := st.DB.Write(ctx, func(tx *database.Tx) error {
		d, err := scanDeliveryRecord(tx.QueryRow(ctx, deliverySelect+`WHERE d.id = $1`, id))
		if err != nil {
			return database.OrMissing(err, "read delivery "+id)
		}
		if err := check(d); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `
			UPDATE deliveries SET state = 'queued', reason = NULL, cause = NULL, attempts = 0, due_at = $2, gives_up_at = $3, updated_at = $2,
				gathered_by = NULL, counted = (counted = TRUE AND gathered_by IS NULL)
			WHERE id = $1 AND state = 'failed'`, id, database.Micros(tx.Now), database.Micros(tx.Now.Add(message.MessageLifetime)))
		if err != nil {
			return fmt.Errorf("queue delivery %s: %w", id, err)
		}
		if n == 0 {
			return database.ErrStale // another operator was faster
		}
		if err := st.retryRequest(ctx, tx, d); err != nil {
			return err
		}
		st.Wake(tx, d.Lane)
		d.State, d.Reason, d.Attempts, d.UpdatedAt = message.QueuedState, "", 0, tx.Now
		retried = d
		return operator.AddEntry(ctx, tx, st.NewID(), by, operator.DeliveryRetried, "delivery", id, "")
	})
	return retried, err
}

// retryRequest runs Requests.Reached for the request of a delivery that is sent again.
// ErrStale if the request was closed or sent again.
func (st *Store) retryRequest(ctx context.Context, tx *database.Tx, d message.DeliveryRecord) error {
	if d.Kind != message.Request {
		return nil // the worker drops a reminder of a closed request
	}
	newest, err := st.Requests.Reached(ctx, tx, d.RequestID, d.ID, d.Channel)
	if err == nil && !newest {
		err = database.ErrStale
	}
	return fault.Wrap(err, "retry request %s", d.RequestID)
}

// ChannelOfRequest is Channel.OfRequest of the delivery n.
const ChannelOfRequest = `CASE n.channel WHEN 'chat' THEN 'sms' ELSE n.channel END`
