package player

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/telemetry"
	"github.com/touchline/touchline/internal/store"
)

// queueMessages saves the deliveries of a change. The worker counts them against the message
// limits. Each queued message has its own link.
func (w *saving) queueMessages(ctx context.Context) error {
	s, tx, p := w.s, w.tx, w.p
	send, err := s.chosenMessages(ctx, tx, p, w.c.Send)
	if err != nil || len(send) == 0 {
		return err
	}
	var values, links []any
	for _, m := range send {
		id, due, created := s.DB.NewID(), tx.Now, tx.Now
		if m.Kind == approval.MessageRequest {
			created = m.Request.LastSentAt
		}
		lane := s.Rules.FirstLane(message.Lane{Channel: m.Channel, Kind: message.Kind(m.Kind)}, m.State)
		if m.HeldUntil.After(due) {
			due, m.Reason = m.HeldUntil, message.ReasonHeld
		}
		if m.State == message.QueuedState && m.Channel == message.Voice { // a call has no link
			s.DB.Outbox.Wake(tx.Tx, lane)
		} else if m.State == message.QueuedState {
			hash, err := s.DB.LinkHash(id)
			if err != nil {
				return err
			}
			links = append(links, hash, m.Request.ID, database.Micros(due.Add(s.Rules.LinkValidity)),
				m.Address == string(p.Asked(m.Request).Number), otherAddress(m, p))
			s.DB.Outbox.Wake(tx.Tx, lane)
		}
		values = append(values, id, m.Kind, string(lane.Channel), m.State, database.Text(m.Reason), p.Asked(m.Request).AccountID,
			m.Address, string(m.Request.Party), p.CoachID, m.Request.ID, database.Text(w.c.By.Network),
			database.Micros(due), database.Micros(due.Add(message.MessageLifetime)), database.Micros(created), database.Micros(tx.Now), 0, database.Text(telemetry.Parent(ctx)))
	}
	err = tx.Defer(ctx, `
		INSERT INTO deliveries (id, kind, channel, state, reason, account_id, recipient, role, coach_id, request_id, network,
			due_at, gives_up_at, created_at, updated_at, attempts, trace_parent)
		VALUES `+database.RowsOf(len(send), 17), values...)
	if err != nil {
		return fmt.Errorf("queue deliveries: %w", err)
	}
	if len(links) == 0 {
		return nil
	}
	err = tx.Defer(ctx, `INSERT INTO request_links (hash, request_id, ends_at, to_number, address) VALUES `+database.RowsOf(len(links)/5, 5), links...)
	return fault.Wrap(err, "create links")
}

// otherAddress returns the address of a message if it is not the number of the party.
func otherAddress(m approval.Message, p *approval.Player) any {
	if m.Address == string(p.Asked(m.Request).Number) {
		return nil
	}
	return m.Address
}

// newestSending is true if the request $1 was not sent again on the channel $3 after the
// delivery $2.
const newestSending = `NOT EXISTS (SELECT 1 FROM deliveries n
	WHERE n.request_id = $1 AND n.kind = 'request' AND ` + outbox.ChannelOfRequest + ` = $3 AND n.id > $2)`

// chosenMessages returns the messages without those to channels that the person did not choose. The
// choice is read only for a request that leaves on several channels.
func (s *Service) chosenMessages(ctx context.Context, tx *store.Tx, p *approval.Player, send []approval.Message) ([]approval.Message, error) {
	reach := map[*approval.Request][]message.Channel{}
	for _, m := range send {
		if m.State == message.QueuedState {
			reach[m.Request] = append(reach[m.Request], m.Channel, s.firstOf(m))
		}
	}
	kept := map[*approval.Request][]message.Channel{}
	for r, channels := range reach {
		kept[r] = channels
		if len(channels) == 2 { // one message: its channel, and that on which it leaves first
			continue
		}
		var chosen message.Preferences
		err := tx.QueryRow(ctx, `SELECT channels FROM preferences WHERE mobile_number = $1`, string(p.Asked(r).Number)).Scan(database.IntoJSON(&chosen.Channels))
		if err != nil && !database.IsNoRows(err) {
			return nil, fmt.Errorf("read the chosen channels of the %s: %w", r.Party, err)
		}
		kept[r] = chosen.Choose(message.Kind(kindOf(send, r)), channels)
	}
	return slices.DeleteFunc(slices.Clone(send), func(m approval.Message) bool {
		return m.State == message.QueuedState && !slices.Contains(kept[m.Request], m.Channel) && !slices.Contains(kept[m.Request], s.firstOf(m))
	}), nil
}

// firstOf returns the channel on which m leaves first.
func (s *Service) firstOf(m approval.Message) message.Channel {
	return s.Rules.FirstLane(message.Lane{Channel: m.Channel, Kind: message.Kind(m.Kind)}, m.State).Channel
}

// kindOf returns the kind of the messages of a request, which all have the same.
func kindOf(send []approval.Message, r *approval.Request) string {
	for _, m := range send {
		if m.Request == r {
			return m.Kind
		}
	}
	return ""
}
