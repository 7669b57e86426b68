package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// stoppedCoaches returns the ids of the coaches whose messages a number stopped, sorted. It leaves out those who closed the account: their
// stops wait for them to register again.
func stoppedCoaches(ctx context.Context, q database.Querier, n phone.Number) ([]string, error) {
	rs, err := q.Query(ctx, `
		SELECT coach_id FROM stopped_coaches st
		WHERE mobile_number = $1 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.id = st.coach_id AND a.closed_at IS NOT NULL) ORDER BY coach_id`, string(n))
	return database.CollectTexts(rs, err)
}

// StopCoach makes the messages of a coach to a number stay in the app. It may be repeated.
func (st *Store) StopCoach(ctx context.Context, n phone.Number, coachID string) error {
	err := st.DB.Write(ctx, func(tx *database.Tx) error { return stopCoach(ctx, tx, n, coachID, tx.Now, false) })
	return fault.Wrap(err, "stop a coach")
}

// StopCoachByReply is StopCoach for a person who replied to a message. It returns false if the
// reply was handled before.
func (st *Store) StopCoachByReply(ctx context.Context, r message.Reply, coachID string) (stopped bool, err error) {
	err = st.DB.Write(ctx, func(tx *database.Tx) error {
		stopped, err = IsNewReply(ctx, tx, r)
		if err != nil || !stopped {
			return err
		}
		at := tx.Now
		if !r.SentAt.IsZero() && r.SentAt.Before(at) {
			at = r.SentAt
		}
		return stopCoach(ctx, tx, r.From, coachID, at, true)
	})
	return stopped, fault.Wrap(err, "stop a coach by a reply")
}

// AllowCoach ends StopCoach. It may be repeated.
func (st *Store) AllowCoach(ctx context.Context, n phone.Number, coachID string) error {
	err := st.DB.Write(ctx, func(tx *database.Tx) error { return allowCoach(ctx, tx, n, coachID) })
	return fault.Wrap(err, "allow a coach")
}

// AllowCoachesByReply ends each StopCoachByReply of a number, and StopCoach for one coach, unless
// the stop is later than the reply. It returns how many coaches may send messages again, and may
// be repeated.
func (st *Store) AllowCoachesByReply(ctx context.Context, r message.Reply, coachID string) (coaches int, err error) {
	err = st.DB.Write(ctx, func(tx *database.Tx) error {
		coaches = 0
		isNew, err := IsNewReply(ctx, tx, r)
		if err != nil || !isNew {
			return err
		}
		until := tx.Now
		if !r.SentAt.IsZero() {
			until = r.SentAt.Add(time.Second) // SentAt has no fractions of a second
		}
		changed, err := tx.Exec(ctx, `
			DELETE FROM stopped_coaches WHERE mobile_number = $1 AND (by_reply OR coach_id = $2) AND stopped_at <= $3`,
			string(r.From), coachID, database.Micros(until))
		coaches = int(changed)
		return err
	})
	return coaches, fault.Wrap(err, "allow coaches by a reply")
}

// IsNewReply reports whether no call with r was handled before, and stores it. A repeated call
// equals the first one: if a gateway sends the same id with different replies, none is lost. A
// hash is stored because it contains the number.
func IsNewReply(ctx context.Context, tx *database.Tx, r message.Reply) (bool, error) {
	if r.ID == "" {
		return true, nil
	}
	hash := r.Hash()
	n, err := tx.Exec(ctx, `
		INSERT INTO handled_replies (hash, handled_at) VALUES ($1, $2)
		ON CONFLICT (hash) DO NOTHING`, hash[:], database.Micros(tx.Now))
	return n == 1, err
}

// ForgetReply undoes IsNewReply, so that a repeated call is handled.
func ForgetReply(ctx context.Context, db interface {
	Exec(ctx context.Context, query string, args ...any) (int64, error)
}, r message.Reply,
) error {
	hash := r.Hash()
	_, err := db.Exec(ctx, `DELETE FROM handled_replies WHERE hash = $1`, hash[:])
	return err
}

// Handled reports whether a call with r was handled before.
func Handled(ctx context.Context, q database.Querier, r message.Reply) (handled bool, err error) {
	hash := r.Hash()
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM handled_replies WHERE hash = $1)`, hash[:]).Scan(&handled)
	return handled && r.ID != "", err
}

// mergeStops keeps the time of the newest stop, and whether each one was a reply: START does not end
// a stop on a page together with stops by replies.
const mergeStops = `ON CONFLICT (mobile_number, coach_id) DO UPDATE SET
	stopped_at = CASE WHEN stopped_coaches.stopped_at < excluded.stopped_at THEN excluded.stopped_at ELSE stopped_coaches.stopped_at END,
	by_reply = stopped_coaches.by_reply AND excluded.by_reply`

func stopCoach(ctx context.Context, tx *database.Tx, n phone.Number, coachID string, at time.Time, byReply bool) error {
	return tx.Defer(ctx, `
		INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at, by_reply) VALUES ($1, $2, $3, $4)
		`+mergeStops, string(n), coachID, database.Micros(at), byReply)
}

func allowCoach(ctx context.Context, tx *database.Tx, n phone.Number, coachID string) error {
	return tx.Defer(ctx, `DELETE FROM stopped_coaches WHERE mobile_number = $1 AND coach_id = $2`, string(n), coachID)
}

// RestoreStops gives numbers that get an account the stops that DeleteUnusedPreferences kept. kept returns the text of a number there.
func RestoreStops(ctx context.Context, tx *database.Tx, numbers []phone.Number, kept func(phone.Number) string) error {
	var args []any
	for _, n := range numbers {
		if text := kept(n); text != "" {
			args = append(args, text, string(n))
		}
	}
	if len(args) == 0 {
		return nil
	}
	number, in := "CASE mobile_number", ""
	for i := 1; i <= len(args); i += 2 {
		number += fmt.Sprintf(" WHEN $%d THEN $%d", i, i+1)
		in += fmt.Sprintf(", $%d", i)
	}
	number += " END"
	err := tx.Defer(ctx, `
		UPDATE stopped_coaches SET mobile_number = `+number+`
		WHERE mobile_number IN (`+in[2:]+`) AND NOT EXISTS (SELECT 1 FROM stopped_coaches o
			WHERE o.coach_id = stopped_coaches.coach_id AND o.mobile_number = `+strings.Replace(number, "mobile_number", "stopped_coaches.mobile_number", 1)+`)`, args...)
	if err != nil {
		return fmt.Errorf("restore stops: %w", err)
	}
	return nil
}

// replaceStopped stops and allows coaches so that the list before becomes after.
func replaceStopped(ctx context.Context, tx *database.Tx, n phone.Number, before, after []string) error {
	for _, id := range after {
		if !slices.Contains(before, id) {
			if err := stopCoach(ctx, tx, n, id, tx.Now, false); err != nil {
				return err
			}
		}
	}
	for _, id := range before {
		if !slices.Contains(after, id) {
			if err := allowCoach(ctx, tx, n, id); err != nil {
				return err
			}
		}
	}
	return nil
}
