package player

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// requestColumns scans the columns id, approver_id, state, channels, requested_at, last_sent_at, delivery_failed,
// failed_channels, closed_at, short_code, via, version and sent_version of an optional request.
type requestColumns struct {
	id, partyID, state            string
	shortCode, via                string
	requestedAt, sentAt, closedAt time.Time
	failed                        sql.NullBool
	channels, failedChannels      []message.Channel
	version, sentVersion          sql.NullInt64
}

func (c *requestColumns) dest() []any {
	return []any{
		database.IntoText(&c.id), database.IntoText(&c.partyID), database.IntoText(&c.state), database.IntoWords(&c.channels),
		database.IntoTime(&c.requestedAt), database.IntoTime(&c.sentAt), &c.failed, database.IntoWords(&c.failedChannels), database.IntoTime(&c.closedAt), database.IntoText(&c.shortCode), database.IntoText(&c.via),
		&c.version, &c.sentVersion,
	}
}

// request returns the scanned request to a party of p, or nil.
func (c *requestColumns) request(p *approval.Player, party actor.Role, guardianID string) *approval.Request {
	if c.id == "" {
		return nil
	}
	return &approval.Request{
		ID: c.id, PlayerID: p.ID, CoachID: p.CoachID, Party: party, GuardianID: guardianID, PartyID: c.partyID,
		State: approval.RequestState(c.state), ShortCode: c.shortCode, Channels: c.channels, RequestedAt: c.requestedAt, LastSentAt: c.sentAt,
		DeliveryFailed: c.failed.Bool, FailedChannels: c.failedChannels, ClosedAt: c.closedAt, Via: actor.Via(c.via), Version: c.version.Int64, SentVersion: c.sentVersion.Int64,
	}
}

// joinChannels returns channels with commas between them.
func joinChannels[S ~string](list []S) string {
	return strings.TrimSuffix(database.JoinWords(list), ",")
}

const requestSelect = `
	SELECT r.id, r.approver_id, r.state, r.channels, r.requested_at, r.last_sent_at, r.delivery_failed, r.failed_channels, r.closed_at, r.short_code, r.via, r.version, r.sent_version,
		r.player_id, r.coach_id, r.approver_type, r.guardian_id, r.followed_up_at, r.follow_up_note, ` + sentColumns + `
	FROM requests r
	JOIN players p ON p.id = r.player_id AND p.deleted_at IS NULL
	LEFT JOIN deliveries d ON d.request_id = r.id `

// OwnRequest returns a request with its deliveries, oldest first, also to a student that has not
// approved yet. Only the coach of the player
// and the recipient, while still a party of the player, may see it; others get not_found.
func (s *Service) OwnRequest(ctx context.Context, by actor.Actor, id string) (*approval.Request, error) {
	rs, err := s.DB.Query(ctx, requestSelect+`
		WHERE r.id = $1 AND CASE WHEN CAST($3 AS TEXT) = 'coach' THEN p.coach_id = $2
			ELSE r.approver_id = $2 AND r.approver_type = $3 AND EXISTS (SELECT 1 FROM parties a WHERE a.player_id = p.id AND a.role = $3 AND a.guardian_id = r.guardian_id AND a.account_id = $2) END
		ORDER BY d.id`, id, by.AccountID, string(by.Role))
	var found *approval.Request
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var c requestColumns
		var p approval.Player
		var party actor.Role
		var guardianID string
		var followedUp time.Time
		var note string
		var d sentMessage
		err := s.Scan(append(append(c.dest(), &p.ID, &p.CoachID, &party, &guardianID, database.IntoTime(&followedUp), database.IntoText(&note)), d.dest()...)...)
		if err != nil {
			return struct{}{}, err
		}
		if found == nil {
			found = c.request(&p, party, guardianID)
			found.FollowedUpAt, found.FollowUpNote = followedUp, note
		}
		if d.Channel != "" {
			found.Deliveries = append(found.Deliveries, d.delivery())
		}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if found == nil {
		return nil, fault.Missing()
	}
	return found, nil
}

// closeRequests saves the final states of requests. The player's row is locked, so no concurrent transaction changes
// them, but for their version: an answer to what a concurrent transaction changed is stale and runs again.
func (w *saving) closeRequests(ctx context.Context) error {
	if err := dropHeld(ctx, w.tx, w.c.Closed); err != nil {
		return err
	}
	for _, r := range w.c.Closed {
		err := w.tx.DeferOne(ctx, `
			UPDATE requests SET state = $2, closed_at = $3, followed_up_at = COALESCE(followed_up_at, CAST($4 AS BIGINT)), via = $5 WHERE id = $1 AND version = $6`,
			r.ID, string(r.State), database.Micros(r.ClosedAt), database.Micros(r.FollowedUpAt), database.Text(string(r.Via)), r.Version)
		if err != nil {
			return fmt.Errorf("close request %s: %w", r.ID, err)
		}
	}
	return nil
}

// saveAnswered saves the new version of the request of a yes that ended, or finds that of a request that is answered again unchanged. A
// change that showed the party something else meanwhile makes the transaction stale.
func (w *saving) saveAnswered(ctx context.Context) error {
	if r := w.c.Ended; r != nil {
		err := w.tx.DeferOne(ctx, `UPDATE requests SET version = $2, sent_version = $2 WHERE id = $1 AND version = $3`, r.ID, r.Version, r.Version-1)
		if err != nil {
			return fmt.Errorf("end the yes to request %s: %w", r.ID, err)
		}
	}
	if r := w.c.AnsweredAgain; r != nil {
		err := w.tx.DeferOne(ctx, `UPDATE requests SET version = version WHERE id = $1 AND version = $2`, r.ID, r.Version)
		if err != nil {
			return fmt.Errorf("answer request %s again: %w", r.ID, err)
		}
	}
	return nil
}

// dropHeld completes the held, gathering and postponed deliveries of requests, so that no other
// delivery waits behind them. The worker drops the others. DeliveryFailed locks deliveries before
// requests too.
func dropHeld(ctx context.Context, tx *store.Tx, closed []*approval.Request) error {
	if len(closed) == 0 {
		return nil
	}
	args := []any{database.Micros(tx.Now)}
	for _, r := range closed {
		args = append(args, r.ID)
	}
	err := tx.Defer(ctx, `
		UPDATE deliveries SET state = 'failed', reason = 'request_closed', held_by = NULL, updated_at = $1
		WHERE request_id IN (`+database.Params(2, len(closed))+`) AND state = 'queued' AND reason IN ('held', 'gathering', 'quiet_hours') AND lease IS NULL`, args...)
	return fault.Wrap(err, "drop held deliveries")
}

// openRequests adds new requests. The accounts of their parties must exist.
func (w *saving) openRequests(ctx context.Context) error {
	p, opened := w.p, w.c.Opened
	if len(opened) == 0 {
		return nil
	}
	identity := p.Identity()
	var args []any
	for _, r := range opened {
		var err error
		r.ShortCode, err = approval.NewShortCode(w.s.Rand)
		if err != nil {
			return err
		}
		r.PartyID = p.Asked(r).AccountID
		args = append(args, r.ID, r.PlayerID, r.CoachID, string(r.Party), r.PartyID, string(r.State), joinChannels(r.Channels),
			database.Micros(r.RequestedAt), database.Micros(r.LastSentAt), r.DeliveryFailed, database.JoinWords(r.FailedChannels), r.ShortCode,
			identity.NameKey, identity.DateOfBirth.String(), r.GuardianID)
	}
	// If a code is in use, the transaction is stale and runs again with other codes.
	err := w.tx.DeferRowCount(ctx, len(opened), `
		INSERT INTO requests (id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed, failed_channels, short_code,
			student_key, date_of_birth, guardian_id)
		VALUES `+database.RowsOf(len(opened), 15)+`
		ON CONFLICT (short_code) DO NOTHING`, args...)
	if err != nil {
		return fmt.Errorf("open requests to player %s: %w", p.ID, err)
	}
	return w.s.scheduleDigest(ctx, w.tx, opened[0])
}

// reopenRequest saves that a disputed request is open again.
func (w *saving) reopenRequest(ctx context.Context) error {
	r := w.c.Reopened
	if r == nil {
		return nil
	}
	err := w.tx.DeferOne(ctx, `UPDATE requests SET state = 'pending', closed_at = NULL, via = NULL WHERE id = $1 AND state = 'disputed'`, r.ID)
	if err != nil {
		return fmt.Errorf("reopen request %s: %w", r.ID, err)
	}
	return w.s.scheduleDigest(ctx, w.tx, r)
}

// dropSuperseded completes the earlier messages of requests that are sent again on the same channels, if they still wait: after an
// outage the party would get the question twice. One that the provider accepted counts as sent. One that a worker sends at the moment may
// arrive, too. DeliveryFailed locks deliveries before requests too.
func (w *saving) dropSuperseded(ctx context.Context) error {
	for _, m := range w.c.Send {
		if m.State != message.QueuedState || !slices.Contains(w.c.Resent, m.Request) {
			continue
		}
		err := w.tx.Defer(ctx, `
			UPDATE deliveries AS n SET state = CASE WHEN reason = 'awaiting_status' THEN 'sent' ELSE 'failed' END,
				reason = CASE WHEN reason = 'awaiting_status' THEN NULL ELSE 'not_wanted' END, held_by = NULL, updated_at = $3
			WHERE n.request_id = $1 AND n.kind = 'request' AND n.state = 'queued' AND n.lease IS NULL AND `+outbox.ChannelOfRequest+` = $2`,
			m.Request.ID, string(m.Channel.OfRequest()), database.Micros(w.tx.Now))
		if err != nil {
			return fmt.Errorf("drop earlier messages of request %s: %w", m.Request.ID, err)
		}
	}
	return nil
}

// resendRequests saves that open requests are sent again.
func (w *saving) resendRequests(ctx context.Context) error {
	if err := w.dropSuperseded(ctx); err != nil {
		return err
	}
	for _, r := range w.c.Resent {
		err := w.tx.DeferOne(ctx, `
			UPDATE requests SET channels = $2, last_sent_at = $3, delivery_failed = $4, failed_channels = $5, followed_up_at = COALESCE(followed_up_at, $6), sent_version = $7
			WHERE id = $1 AND state = 'pending' AND version = $7`,
			r.ID, joinChannels(r.Channels), database.Micros(r.LastSentAt), r.DeliveryFailed, database.JoinWords(r.FailedChannels), database.Micros(r.FollowedUpAt), r.Version)
		if err != nil {
			return fmt.Errorf("resend request %s: %w", r.ID, err)
		}
	}
	return nil
}

// saveFollowUp saves a follow-up outside of the app.
func (w *saving) saveFollowUp(ctx context.Context) error {
	r := w.c.FollowedUp
	if r == nil {
		return nil
	}
	return w.tx.DeferOne(ctx, `
		UPDATE requests SET followed_up_at = COALESCE(followed_up_at, $2), follow_up_note = COALESCE(CAST($3 AS TEXT), follow_up_note)
		WHERE id = $1 AND state = 'pending'`, r.ID, database.Micros(r.FollowedUpAt), database.Text(r.FollowUpNote))
}
