package outbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// wakeNext is how many deliveries become due when one that waited for the same limit
// leaves.
const wakeNext = 8

// AdmitMessages counts the messages of one claim against the message limits, oldest first,
// and returns those that may be sent now. The others are held until the limit admits them,
// but OTPs are dropped.
//
// One row is locked first, so that replicas count one after the other. The number of
// statements does not depend on the number of messages that are admitted.
func (st *Store) AdmitMessages(ctx context.Context, messages []message.Outgoing) ([]message.Outgoing, error) {
	if len(messages) == 0 {
		return nil, nil
	}
	var admitted []message.Outgoing
	err := st.DB.Write(ctx, func(tx *database.Tx) (err error) {
		admitted, err = st.admit(ctx, tx, messages)
		return err
	})
	return admitted, fault.Wrap(err, "admit messages")
}

// candidate is a message that AdmitMessages decides about.
type candidate struct {
	message.Outgoing
	counted message.Counted
	limits  []message.Limit
}

// candidates returns the messages with their limits.
func (st *Store) candidates(ctx context.Context, tx *database.Tx, messages []message.Outgoing) ([]candidate, error) {
	facts, err := st.Requests.Facts(ctx, tx, messages)
	if err != nil {
		return nil, err
	}
	candidates := make([]candidate, len(messages))
	for i, out := range messages {
		d, f := out.Deliveries[0], facts[i]
		m := message.Counted{
			CoachID: d.CoachID, To: d.To, Segments: int64(out.Segments),
			Cost: st.Settings.Cost(out), Line: d.Channel.CostLine(),
			OTP: d.Kind == message.OTP, Reserved: d.Reserved, HoldsRole: out.Message.HoldsRole, Team: d.Kind == message.Team, Training: out.Message.Copy.Type.OfTraining(),
			Trusted: f.Trusted, NewCoach: f.NewCoach, Approvals: f.Approvals, NeverSignedIn: f.NeverSignedIn, Network: f.Network,
		}
		candidates[i] = candidate{out, m, st.Settings.Limits.For(m)}
	}
	return candidates, nil
}

func (st *Store) admit(ctx context.Context, tx *database.Tx, messages []message.Outgoing) ([]message.Outgoing, error) {
	err := tx.Defer(ctx, `
		INSERT INTO installation (name, value) VALUES ('message_admission', '')
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	reserved := !slices.ContainsFunc(messages, func(m message.Outgoing) bool { return !m.Deliveries[0].Reserved })
	line := messages[0].Deliveries[0].Channel.CostLine() // a claim has one channel
	if st.Settings.Limits.BudgetOf(line) > 0 && !reserved {
		if err := LockCosts(ctx, tx, line, 0, message.CostShards); err != nil {
			return nil, err
		}
	}
	candidates, err := st.candidates(ctx, tx, messages)
	if err != nil {
		return nil, err
	}
	var limits []message.Limit
	for _, c := range candidates {
		limits = append(limits, c.limits...)
	}
	windows, err := ReadWindows(ctx, tx, limits...)
	if err != nil {
		return nil, err
	}
	oldest, err := oldestHeld(ctx, tx, candidates)
	if err != nil {
		return nil, err
	}
	var fits []candidate
	for _, c := range candidates {
		a := windows.Admit(c.Deliveries[0].ID, c.counted.OTP, c.limits, oldest, tx.Now)
		switch {
		case a.Key == "":
			fits = append(fits, c)
		case a.Drop:
			err = drop(ctx, tx, c.Deliveries[0])
		default:
			err = st.hold(ctx, tx, c.Outgoing, a.Key, a.Wait)
		}
		if err != nil {
			return nil, err
		}
	}
	return st.release(ctx, tx, fits)
}

// oldestHeld returns, for each key of limits, the oldest delivery that waits for it and
// does not belong to this claim.
func oldestHeld(ctx context.Context, tx *database.Tx, candidates []candidate) (map[string]string, error) {
	keys := make(map[string]bool)
	for _, c := range candidates {
		for _, l := range c.limits {
			keys[l.Key] = true
		}
	}
	oldest := make(map[string]string)
	if len(keys) == 0 {
		return oldest, nil
	}
	var rows [][]any
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		rows = append(rows, []any{key})
	}
	values, args := database.ValuesTable(rows, "TEXT")
	rs, err := tx.Query(ctx, fmt.Sprintf(`
		SELECT v.column1, (SELECT min(d.id) FROM deliveries d
			WHERE d.state = 'queued' AND d.held_by = v.column1 AND d.lease IS DISTINCT FROM CAST($%d AS TEXT))
		FROM %s v WHERE v.column1 IS NOT NULL`, len(args)+1, values), append(args, candidates[0].Deliveries[0].Lease)...)
	_, err = database.Collect(rs, err, func(s database.Scanner) (key string, err error) {
		var id string
		err = s.Scan(&key, database.IntoText(&id))
		if err == nil && id != "" {
			oldest[key] = id
		}
		return key, err
	})
	return oldest, fault.Wrap(err, "find older held deliveries")
}

// drop completes an OTP for which the budget has no money left: one that was requested while
// the service had no budget.
func drop(ctx context.Context, tx *database.Tx, d message.Delivery) error {
	err := tx.Defer(ctx, `
		UPDATE deliveries SET state = 'failed', reason = $3, lease = NULL, updated_at = $4
		WHERE id = $1 AND lease = $2`, d.ID, d.Lease, message.ReasonBudget, database.Micros(tx.Now))
	return fault.Wrap(err, "drop")
}

// hold makes the deliveries of m wait for the limit with the given key.
func (st *Store) hold(ctx context.Context, tx *database.Tx, m message.Outgoing, key string, wait time.Duration) error {
	for _, d := range m.Deliveries {
		err := tx.Defer(ctx, `
			UPDATE deliveries SET reason = 'held', held_by = $3, due_at = $4, attempts = attempts - 1, total_attempts = total_attempts - 1, lease = NULL
			WHERE id = $1 AND lease = $2`, d.ID, d.Lease, key, database.Micros(tx.Now.Add(wait)))
		if err != nil {
			return fmt.Errorf("hold: %w", err)
		}
	}
	return nil
}

// release marks the deliveries of the messages that fit as counted, counts the messages,
// and returns them without those that another worker claimed meanwhile. The time that a
// delivery was held does not count to its lifetime.
func (st *Store) release(ctx context.Context, tx *database.Tx, fits []candidate) ([]message.Outgoing, error) {
	if len(fits) == 0 {
		return nil, nil
	}
	var rows [][]any
	for _, c := range fits {
		for _, d := range c.Deliveries {
			rows = append(rows, []any{d.ID, d.Lease})
		}
	}
	values, args := database.ValuesTable(rows, "TEXT", "TEXT")
	n := len(args)
	rs, err := tx.Query(ctx, fmt.Sprintf(`
		UPDATE deliveries SET counted = TRUE, reason = NULL, held_by = NULL,
			gives_up_at = CASE WHEN reason = 'held' THEN $%d ELSE gives_up_at END
		WHERE (id, lease) IN %s
		RETURNING id`, n+1, values), append(args, database.Micros(tx.Now.Add(message.MessageLifetime)))...)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	var admitted []message.Outgoing
	var counts []message.Count
	var counted []candidate
	var postponed []string // requests
	for _, c := range fits {
		released := 0
		for _, d := range c.Deliveries {
			if !slices.Contains(ids, d.ID) {
				continue
			}
			released++
			if d.Kind == message.Request && (d.Postponed || d.Gathers) {
				postponed = append(postponed, d.RequestID)
			}
			if !d.Held {
				continue
			}
			if err := st.releaseHeld(ctx, tx, d); err != nil {
				return nil, err
			}
		}
		if released > 0 {
			counts, counted = append(counts, c.counted.Counts()...), append(counted, c)
		}
		if released < len(c.Deliveries) {
			continue
		}
		if err := join(ctx, tx, c.Deliveries); err != nil {
			return nil, err
		}
		admitted = append(admitted, c.Outgoing)
	}
	if len(postponed) > 0 {
		if err := st.Requests.Postponed(ctx, tx, postponed); err != nil {
			return nil, err
		}
	}
	if err := addCosts(ctx, tx, counted); err != nil {
		return nil, err
	}
	return admitted, AddCounts(ctx, tx, counts)
}

// releaseHeld starts the times of a held delivery, and wakes the next deliveries that
// wait for the same limit.
func (st *Store) releaseHeld(ctx context.Context, tx *database.Tx, d message.Delivery) error {
	if d.Kind == message.Request {
		// The wait for the next sending begins when this one leaves.
		err := tx.Defer(ctx, `UPDATE deliveries SET created_at = $2 WHERE id = $1`, d.ID, database.Micros(tx.Now))
		if err == nil {
			err = st.Requests.Released(ctx, tx, d.RequestID)
		}
		if err != nil {
			return fmt.Errorf("set the time of sending: %w", err)
		}
	}
	if d.HeldBy == "" {
		return nil
	}
	err := tx.Defer(ctx, `
		UPDATE deliveries SET due_at = $2
		WHERE lease IS NULL AND due_at > $2 AND id IN (
			SELECT id FROM deliveries WHERE state = 'queued' AND held_by = $1 ORDER BY id LIMIT $3)`,
		d.HeldBy, database.Micros(tx.Now), wakeNext)
	if err != nil {
		return fmt.Errorf("wake held deliveries: %w", err)
	}
	for _, kind := range message.Kinds {
		if kind != message.OTP {
			st.Wake(tx, message.Lane{Channel: d.Channel, Kind: kind})
		}
	}
	return nil
}

// WakeHeld makes the oldest delivery that waits for each limit due, so that it leaves
// soon after a setting, a decision or an operator lifts the limit.
func (st *Store) WakeHeld(ctx context.Context) error {
	now := database.Micros(st.DB.Now())
	_, err := st.DB.Exec(ctx, `
		UPDATE deliveries SET due_at = $1
		WHERE lease IS NULL AND due_at > $1 AND id IN (
			SELECT min(id) FROM deliveries WHERE state = 'queued' AND held_by IS NOT NULL GROUP BY held_by)`, now)
	return fault.Wrap(err, "wake held deliveries")
}
