package outbox

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
)

// leftChannel is true if the message of the delivery d left on the channel $2, also while its status is awaited.
// movedChannel is true if the message moved from the channel $2 to another one, whose attempts alone are in attempts;
// it may have reached the person on $2 too. So may one for which triedChannel is true: the response to an attempt may
// be lost, its worker may die, and a report of a failure may be wrong. leftElsewhere and triedElsewhere are the same for
// all other channels: who got a question by WhatsApp may write STOP by SMS.
//
// messageTime is when the message arrived, or left if it had not arrived by $3; NULL if it left later. The time of
// creation does not count, because a limit may have held the message for a day.
const (
	leftChannel  = `d.channel = $2 AND ` + hasLeft
	hasLeft      = `(d.state IN ('sent', 'delivered') OR d.reason = 'awaiting_status')`
	movedChannel = `d.channel <> $2 AND d.total_attempts > d.attempts`
	triedChannel = `d.channel = $2 AND ` + tried
	tried        = `d.attempts > 0 AND (d.lease IS NOT NULL OR d.reason IN ('retrying', 'gave_up', 'unreachable', 'refused'))`

	leftElsewhere  = `d.channel <> $2 AND ` + hasLeft
	triedElsewhere = `d.channel <> $2 AND ` + tried

	messageTime = `CASE WHEN ` + lastChange + ` <= $3 THEN ` + lastChange + ` WHEN d.left_at <= $3 THEN d.left_at END`
	lastChange  = `CASE WHEN d.lease IS NOT NULL AND d.claimed_at IS NOT NULL THEN d.claimed_at ELSE d.updated_at END`
)

// NewestSender returns the coach whose message on a channel was the newest to a number at until, or "". A message that
// moved from the channel to another one counts if no other message left there, and one that failed or is being sent if
// there is no such message either; then one on another channel. If there was none at until, or until is zero, the newest
// message of all counts. Without any message it is the only coach of the number: a STOP must not be lost.
func (st *Store) NewestSender(ctx context.Context, n phone.Number, channel message.Channel, until time.Time) (string, error) {
	times := []int64{math.MaxInt64}
	if !until.IsZero() {
		times = []int64{until.UnixMicro(), math.MaxInt64}
	}
	for _, at := range times {
		for _, left := range []string{leftChannel, movedChannel, triedChannel, leftElsewhere, triedElsewhere} {
			newest, found, err := st.newestSender(ctx, n, channel, left, at)
			if err != nil {
				return "", fmt.Errorf("find the newest sender to a number: %w", err)
			}
			if found {
				return newest, nil
			}
		}
	}
	return st.onlyCoach(ctx, n)
}

// onlyCoach returns the coach of all players that name a number, or "" if there are several coaches or none.
func (st *Store) onlyCoach(ctx context.Context, n phone.Number) (coachID string, err error) {
	var last string
	err = st.DB.QueryRow(ctx, `
		SELECT coalesce(min(o.coach_id), ''), coalesce(max(o.coach_id), '') FROM accounts a
		JOIN parties o ON o.account_id = a.id AND o.deleted_at IS NULL
		WHERE a.mobile_number = $1 AND a.role <> 'coach'`, string(n)).Scan(&coachID, &last)
	if err != nil {
		return "", fmt.Errorf("find the only coach of a number: %w", err)
	}
	if coachID != last {
		return "", nil
	}
	return coachID, nil
}

// newestSender returns the coach of the newest message to a number for which left is true, and
// whether there is one. The SMS that a coach removed the player counts too. If the newest message
// is the SMS that a coach closed the account, which has no coach_id, there is no coach to stop. The
// statement reads the messages to the number, also those to an account with it that was deleted.
func (st *Store) newestSender(ctx context.Context, n phone.Number, channel message.Channel, left string, until int64) (newest string, found bool, err error) {
	rs, err := st.DB.Query(ctx, `
		SELECT coalesce(d.coach_id, ''), `+messageTime+` FROM deliveries d
		WHERE d.recipient = $1 AND d.recipient <> '' AND `+left+` AND (d.coach_id IS NOT NULL AND d.request_id IS NOT NULL
			OR d.coach_id IS NOT NULL AND d.kind = 'team' AND d.state <> 'left_out' OR d.kind = 'notice' AND d.channel = 'sms')`,
		string(n), string(channel), until)
	at := time.Time{}
	err = database.Each(rs, err, func(s database.Scanner) error {
		var coachID string
		var t time.Time
		err := s.Scan(&coachID, database.IntoTime(&t))
		if t.After(at) {
			newest, found, at = coachID, true, t
		}
		return err
	})
	return newest, found, err
}

// QuotedSender implements ReplyStore. An OTP and the message that a coach closed the account have no coach.
func (st *Store) QuotedSender(ctx context.Context, n phone.Number, providerID string) (coachID string, err error) {
	err = st.DB.QueryRow(ctx, `
		SELECT coalesce(d.coach_id, r.coach_id, '') FROM deliveries d LEFT JOIN requests r ON r.id = d.request_id
		WHERE d.provider_id = $1 AND d.recipient = $2`, providerID, string(n)).Scan(&coachID)
	if err != nil && !database.IsNoRows(err) {
		return "", fmt.Errorf("find the sender of a quoted message: %w", err)
	}
	return coachID, nil
}
