package player

import (
	"context"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// holdRepeated holds the messages of new requests that repeat earlier ones about the
// same child to the same party and number, also of deleted players.
func (w *saving) holdRepeated(ctx context.Context) error {
	wait := w.s.Rules.ResendAfter
	for _, r := range w.c.NewRequests() {
		if slices.Contains(w.newAccounts, w.p.Asked(r).AccountID) {
			continue // other transactions do not see the account yet, so it has no request
		}
		sent, err := earlierSendings(ctx, w.tx, w.p, r, w.tx.Now.Add(-wait))
		if err != nil {
			return err
		}
		w.c.HoldRepeated(r, sent, wait)
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
func earlierSendings(ctx context.Context, tx *store.Tx, p *approval.Player, r *approval.Request, since time.Time) ([]time.Time, error) {
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
		p.Asked(r).AccountID, p.CoachID, database.Micros(since), r.ID, p.ID, identity.NameKey, identity.DateOfBirth.String(), approval.MaxRequestsPerResendAfter)
	sent, err := database.Collect(rs, err, func(s database.Scanner) (t time.Time, err error) { return t, s.Scan(database.IntoTime(&t)) })
	return sent, fault.Wrap(err, "find earlier requests to the %s", r.Party)
}
