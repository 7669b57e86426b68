package approval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// MaxRequestsPerResendAfter is how many requests with messages one coach may send about
// one child to one party and number in ResendAfter.
const MaxRequestsPerResendAfter = 5

// NewRequests returns the new requests of a change that have messages to send.
func (c Change) NewRequests() []*Request {
	var requests []*Request
	for _, m := range c.Send {
		isNew := m.Kind == MessageRequest && m.State == message.QueuedState && m.Request.RequestedAt.Equal(m.Request.LastSentAt)
		if isNew && !slices.Contains(requests, m.Request) {
			requests = append(requests, m.Request)
		}
	}
	return requests
}

// HoldRepeated holds the messages of a new request that repeats earlier ones for resendAfter
// since the sending that RepeatedFrom returns. The request then counts as last sent with that
// one, so that it may be sent again when its messages leave.
func (c Change) HoldRepeated(r *Request, sent []time.Time, resendAfter time.Duration) {
	from := RepeatedFrom(sent, c.AfterDecision)
	if from.IsZero() {
		return
	}
	for i := range c.Send {
		if m := &c.Send[i]; m.Request == r && m.State == message.QueuedState {
			m.HeldUntil = from.Add(resendAfter)
		}
	}
	r.LastSentAt = from
}

// RepeatedFrom returns the sending from which the message of a new request waits
// ResendAfter, or zero if the message may leave now. sent are the times of the earlier
// requests of the coach about the same child to the same party and number, newest
// first, within ResendAfter; those after MaxRequestsPerResendAfter do not matter.
// afterDecision reports whether the party rejected or revoked: then only the number of
// requests is limited. The consent itself never waits.
func RepeatedFrom(sent []time.Time, afterDecision bool) time.Time {
	switch {
	case len(sent) > 0 && !afterDecision:
		return sent[0]
	case len(sent) >= MaxRequestsPerResendAfter:
		return sent[MaxRequestsPerResendAfter-1]
	}
	return time.Time{}
}

// holdRepeated holds the messages of new requests that repeat earlier ones about the
// same child to the same party and number, also of deleted players.
func (s *Service) holdRepeated(ctx context.Context, tx *store.Tx, p *Player, c Change, newAccounts []string) error {
	wait := s.Rules.ResendAfter
	for _, r := range c.NewRequests() {
		if slices.Contains(newAccounts, p.Asked(r).AccountID) {
			continue // other transactions do not see the account yet, so it has no request
		}
		sent, err := earlierSendings(ctx, tx, p, r, tx.Now.Add(-wait))
		if err != nil {
			return err
		}
		c.HoldRepeated(r, sent, wait)
	}
	return nil
}

// earlierSendings returns the times after since at which requests like r left, newest
// first, at most MaxRequestsPerResendAfter. The index requests_sent_to has them in
// this order, so older requests to the party are not read. A request whose messages still
// waited when it was closed (see dropHeld) never left.
//
// A request of another player is about the same child if that player has the name and birth date
// of p now, or had them when the request was opened: the coach may have renamed the player before
// removing it. Only a removed player can have them now (players_once).
func earlierSendings(ctx context.Context, tx *store.Tx, p *Player, r *Request, since time.Time) ([]time.Time, error) {
	identity := p.Identity()
	rs, err := tx.Query(ctx, `
		SELECT r.last_sent_at FROM requests r
		WHERE r.approver_id = $1 AND r.coach_id = $2 AND r.last_sent_at > $3 AND r.last_sent_at >= r.requested_at
			AND r.delivery_failed = FALSE AND r.id <> $4
			AND (r.player_id = $5 OR r.student_key = $6 AND r.date_of_birth = $7 OR EXISTS (
				SELECT 1 FROM players q WHERE q.id = r.player_id AND q.student_key = $6 AND q.date_of_birth = $7 AND q.deleted_at IS NOT NULL))
			AND EXISTS (SELECT 1 FROM deliveries d WHERE d.request_id = r.id AND d.kind = 'request' AND d.recipient <> ''
				AND (d.total_attempts > 0 OR d.state <> 'failed' OR d.reason <> 'request_closed'))
		ORDER BY r.last_sent_at DESC LIMIT $8`,
		p.Asked(r).AccountID, p.CoachID, database.Micros(since), r.ID, p.ID, identity.NameKey, identity.DateOfBirth.String(), MaxRequestsPerResendAfter)
	sent, err := database.Collect(rs, err, func(s database.Scanner) (t time.Time, err error) { return t, s.Scan(database.IntoTime(&t)) })
	if err != nil {
		return nil, fmt.Errorf("find earlier requests to the %s: %w", r.Party, err)
	}
	return sent, nil
}
