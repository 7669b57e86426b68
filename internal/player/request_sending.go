package player

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// deliveryFailed marks the channel of a failed delivery as failed in its request and notifies the
// coach, if the request is open and was not sent again on this channel. It locks the request
// before it reads the deliveries: of two channels that fail at the same time, the second sees
// the first.
func deliveryFailed(ctx context.Context, tx *store.Tx, d message.Delivery) error {
	p := &approval.Player{}
	var party actor.Role
	var guardianID, guardian string
	err := tx.QueryRow(ctx, `
		UPDATE requests SET failed_channels = replace(failed_channels, $4, '') || $4
		WHERE id = $1 AND state = 'pending' AND `+newestSending+`
		RETURNING player_id, coach_id, approver_type, guardian_id, (SELECT p.student_name FROM players p WHERE p.id = requests.player_id),
			coalesce((SELECT g.name FROM parties g WHERE g.player_id = requests.player_id AND g.role = 'guardian' AND g.guardian_id = requests.guardian_id),
				(SELECT g.name FROM parties g WHERE g.player_id = requests.player_id AND g.role = 'guardian' AND g.position = 1))`,
		d.RequestID, d.ID, string(d.Channel.OfRequest()), string(d.Channel.OfRequest())+",").
		Scan(&p.ID, &p.CoachID, &party, &guardianID, &p.Student.FullName, database.IntoText(&guardian))
	if database.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark channel %s of request %s: %w", d.Channel, d.RequestID, err)
	}
	rs, err := tx.Query(ctx, `
		SELECT id, channel, state, recipient <> '' FROM deliveries WHERE request_id = $1 AND kind = 'request'`, d.RequestID)
	messages, err := database.Collect(rs, err, func(s database.Scanner) (m message.RequestMessage, err error) {
		return m, s.Scan(&m.ID, &m.Channel, &m.State, &m.LeavesApp)
	})
	if err != nil {
		return fmt.Errorf("read deliveries of request %s: %w", d.RequestID, err)
	}
	err = tx.Defer(ctx, `UPDATE requests SET delivery_failed = $2 WHERE id = $1`, d.RequestID, message.AllFailed(messages))
	if err != nil {
		return fmt.Errorf("mark request %s: %w", d.RequestID, err)
	}
	p.Parties = []approval.Party{{Role: actor.Guardian, GuardianID: guardianID, Person: approval.Person{Name: guardian}}, {Role: actor.Student}}
	p.Party(party).Request = &approval.Request{ID: d.RequestID}
	return notice.Notify(ctx, tx, []event.Event{p.DeliveryFailed(p.Party(party), d.Channel)})
}

// Requests implements store.Consents.
func (c Consents) Requests(db *store.DB) outbox.Requests { return requests{db, c.Rules} }

// requests implements outbox.Requests.
type requests struct {
	db    *store.DB
	rules approval.Rules
}

// Facts implements outbox.Requests.
func (r requests) Facts(ctx context.Context, tx *database.Tx, messages []message.Outgoing) ([]message.Facts, error) {
	return messageFacts(ctx, r.db.Tx(tx), r.rules, messages)
}

// Failed implements outbox.Requests: see deliveryFailed.
func (r requests) Failed(ctx context.Context, tx *database.Tx, d message.Delivery) error {
	return deliveryFailed(ctx, r.db.Tx(tx), d)
}

// Reached implements outbox.Requests. It removes the mark of deliveryFailed.
func (requests) Reached(ctx context.Context, tx *database.Tx, requestID, deliveryID string, channel message.Channel) (bool, error) {
	n, err := tx.Exec(ctx, `
		UPDATE requests SET delivery_failed = FALSE, failed_channels = replace(failed_channels, $4, '')
		WHERE id = $1 AND state = 'pending' AND `+newestSending,
		requestID, deliveryID, string(channel.OfRequest()), string(channel.OfRequest())+",")
	return n == 1, err
}

// Postponed implements outbox.Requests. It sets the time of sending of requests that repeat an earlier one. Until their
// message leaves, they have the time of the earlier one. Released sets the time of a message that a limit held; these
// messages were held and then waited for another reason.
func (requests) Postponed(ctx context.Context, tx *database.Tx, requestIDs []string) error {
	ids := database.PaddedIDs(requestIDs)
	err := tx.Defer(ctx, `
		UPDATE requests SET last_sent_at = $1
		WHERE state = 'pending' AND last_sent_at < requested_at AND id IN (`+database.Params(2, len(ids))+`)`, append([]any{database.Micros(tx.Now)}, ids...)...)
	return fault.Wrap(err, "set the time of sending")
}

// Released implements outbox.Requests. The wait for the next sending begins when this one leaves.
func (requests) Released(ctx context.Context, tx *database.Tx, requestID string) error {
	return tx.Defer(ctx, `UPDATE requests SET last_sent_at = $2 WHERE id = $1 AND state = 'pending'`, requestID, database.Micros(tx.Now))
}
