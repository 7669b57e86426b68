package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
)

const (
	// heldBehind is how long a delivery waits behind an older one for the same limit,
	// unless the older one leaves or WakeHeld wakes it earlier.
	heldBehind = 24 * time.Hour
	// wakeNext is how many deliveries become due when one that waited for the same
	// limit leaves.
	wakeNext = 8
)

// AdmitMessages counts messages against the message limits, oldest first, and returns
// those that may be sent now. The others are held until the limit admits them.
//
// One row is locked first, so that replicas count one after the other.
func (db *DB) AdmitMessages(ctx context.Context, messages []notify.Outgoing) ([]notify.Outgoing, error) {
	var admitted []notify.Outgoing
	err := db.write(ctx, func(tx *tx) error {
		admitted = nil
		_, err := tx.Exec(ctx, `
			INSERT INTO installation (name, value) VALUES ('message_admission', '')
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`)
		if err != nil {
			return fmt.Errorf("lock the admission of messages: %w", err)
		}
		for _, m := range messages {
			ok, err := tx.admit(ctx, m)
			if err != nil {
				return fmt.Errorf("admit delivery %s: %w", m.Deliveries[0].ID, err)
			}
			if ok {
				admitted = append(admitted, m)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return admitted, nil
}

// admit counts one message, or holds it.
func (tx *tx) admit(ctx context.Context, m notify.Outgoing) (bool, error) {
	d := m.Deliveries[0]
	out, err := tx.outgoing(ctx, d, m.Segments)
	if err != nil {
		return false, err
	}
	limits := tx.db.options.Settings.Messages.For(out)
	for _, l := range limits {
		wait, err := tx.messageWait(ctx, l, out)
		if err != nil {
			return false, err
		}
		if wait > 0 {
			return false, tx.hold(ctx, m, l.Key, wait)
		}
	}
	key, err := tx.olderHeld(ctx, d, limits)
	if err != nil {
		return false, err
	}
	if key != "" {
		return false, tx.hold(ctx, m, key, heldBehind)
	}
	ok, err := tx.release(ctx, m)
	if err != nil || !ok {
		return false, err
	}
	err = tx.Defer(ctx, `
		INSERT INTO counted_messages (id, kind, coach_id, recipient, network, new_coach, never_signed_in, segments, cost, counted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		tx.db.options.NewID(), string(d.Kind), text(d.CoachID), d.To, text(out.Network), out.NewCoach, out.NeverSignedIn, out.Segments, out.Cost, micros(tx.Now))
	return err == nil, err
}

// outgoing reads what the limits of a delivery depend on.
func (tx *tx) outgoing(ctx context.Context, d notify.Delivery, segments int) (approval.OutgoingMessage, error) {
	m := approval.OutgoingMessage{CoachID: d.CoachID, To: d.To, Segments: int64(segments)}
	if price := tx.db.options.Settings.SegmentPrice; price != nil {
		m.Cost = m.Segments * price(phone.Number(d.To))
	}
	if d.CoachID == "" {
		return m, nil
	}
	var registered time.Time
	var status coach.TierStatus
	err := tx.QueryRow(ctx, `SELECT created_at, tier, kyc_state FROM coaches WHERE id = $1`, d.CoachID).
		Scan(intoTime(&registered), intoText(&status.Tier), &status.KYC)
	if isNone(err) {
		return m, nil // the coach has closed the account
	}
	if err != nil {
		return m, fmt.Errorf("read coach %s: %w", d.CoachID, err)
	}
	trusted := tx.db.options.Settings.TrustedCoach
	m.Trusted = trusted != nil && trusted(status)
	if m.NewCoach = approval.NewCoach(registered, tx.Now); !m.NewCoach {
		return m, nil
	}
	m.Network = d.Network
	err = tx.QueryRow(ctx, `
		SELECT (SELECT count(DISTINCT a.mobile_number) FROM players p
				JOIN approval_history h ON h.player_id = p.id AND h.action = 'approved'
				JOIN accounts a ON a.id = h.approver_id
				WHERE p.coach_id = $1 AND p.deleted_at IS NULL),
			NOT EXISTS (SELECT 1 FROM devices WHERE mobile_number = $2)
			AND NOT EXISTS (SELECT 1 FROM accounts a JOIN sessions s ON s.account_id = a.id AND s.revoked_at IS NULL WHERE a.mobile_number = $2)
			AND NOT EXISTS (SELECT 1 FROM accounts a JOIN coaches c ON c.id = a.id WHERE a.mobile_number = $2)`,
		d.CoachID, d.To).Scan(&m.Approvals, &m.NeverSignedIn)
	if err != nil {
		return m, fmt.Errorf("read approvals of coach %s: %w", d.CoachID, err)
	}
	return m, nil
}

// messageWait returns how long until l may admit m, or 0 if it does now.
func (tx *tx) messageWait(ctx context.Context, l approval.MessageLimit, m approval.OutgoingMessage) (time.Duration, error) {
	where, args := ``, []any{micros(tx.Now.Add(-l.Window))}
	sum := `segments`
	switch l.Counts {
	case approval.AllMessages:
	case approval.CostOfAll:
		sum = `cost`
	case approval.OfNewCoaches:
		where = ` AND new_coach`
	case approval.FromNetwork:
		where, args = ` AND network = $2 AND new_coach`, append(args, m.Network)
	case approval.ToBlock:
		first, last := approval.BlockRange(m.To)
		where, args = ` AND recipient BETWEEN $2 AND $3 AND never_signed_in`, append(args, first, last)
	case approval.FromCoach:
		where, args = ` AND coach_id = $2`, append(args, m.CoachID)
	case approval.FromCoachToNumber:
		where, args = ` AND recipient = $2 AND coach_id = $3`, append(args, m.To, m.CoachID)
	case approval.ToNumber:
		where, args = ` AND recipient = $2`, append(args, m.To)
	}
	if l.Counts != approval.CostOfAll {
		where += ` AND kind <> 'otp'`
	}
	var counted int64
	var oldest time.Time
	err := tx.QueryRow(ctx, `
		SELECT CAST(coalesce(sum(`+sum+`), 0) AS BIGINT), min(counted_at) FROM counted_messages WHERE counted_at > $1`+where, args...).
		Scan(&counted, intoTime(&oldest))
	if err != nil {
		return 0, fmt.Errorf("count messages of %s: %w", l.Counts, err)
	}
	if l.Admits(counted, l.Size(m)) {
		return 0, nil
	}
	return max(oldest.Add(l.Window).Sub(tx.Now), time.Microsecond), nil
}

// olderHeld returns a key of limits for which an older delivery waits, or "".
func (tx *tx) olderHeld(ctx context.Context, d notify.Delivery, limits []approval.MessageLimit) (key string, err error) {
	if len(limits) == 0 {
		return "", nil
	}
	args := []any{d.ID}
	for _, l := range limits {
		args = append(args, l.Key)
	}
	err = tx.QueryRow(ctx, `
		SELECT held_by FROM deliveries
		WHERE state = 'queued' AND held_by IN (`+params(2, len(limits))+`) AND id < $1
		ORDER BY held_by, id LIMIT 1`, args...).Scan(&key)
	if isNone(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find older held deliveries: %w", err)
	}
	return key, nil
}

// hold makes the deliveries of m wait for the limit with the given key.
func (tx *tx) hold(ctx context.Context, m notify.Outgoing, key string, wait time.Duration) error {
	for _, d := range m.Deliveries {
		err := tx.Defer(ctx, `
			UPDATE deliveries SET reason = 'held', held_by = $3, due_at = $4, attempts = attempts - 1, lease = NULL
			WHERE id = $1 AND lease = $2 AND state = 'queued'`, d.ID, d.Lease, key, micros(tx.Now.Add(wait)))
		if err != nil {
			return fmt.Errorf("hold: %w", err)
		}
	}
	return nil
}

// release marks the deliveries of m as counted. It returns false if another worker
// claimed them meanwhile. The time that a delivery was held counts neither to its
// lifetime nor to the validity of its link.
func (tx *tx) release(ctx context.Context, m notify.Outgoing) (bool, error) {
	for _, d := range m.Deliveries {
		givesUp := d.GivesUpAt
		if d.Held {
			givesUp = tx.Now.Add(notify.MessageLifetime)
		}
		res, err := tx.Exec(ctx, `
			UPDATE deliveries SET counted = TRUE, reason = NULL, held_by = NULL, gives_up_at = $3
			WHERE id = $1 AND lease = $2 AND state = 'queued'`, d.ID, d.Lease, micros(givesUp))
		if err != nil {
			return false, fmt.Errorf("release: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return false, err
		}
		if !d.Held {
			continue
		}
		if err := tx.releaseHeld(ctx, d); err != nil {
			return false, err
		}
	}
	return true, nil
}

// releaseHeld starts the times of a held delivery, and wakes the next deliveries that
// wait for the same limit.
func (tx *tx) releaseHeld(ctx context.Context, d notify.Delivery) error {
	if d.RequestID != "" {
		if err := tx.renewLink(ctx, d); err != nil {
			return err
		}
	}
	if d.Kind == notify.Request {
		// DeliveryFailed finds the newest sending of a request by these two times.
		err := tx.Defer(ctx, `UPDATE deliveries SET created_at = $2 WHERE id = $1`, d.ID, micros(tx.Now))
		if err == nil {
			err = tx.Defer(ctx, `UPDATE requests SET last_sent_at = $2 WHERE id = $1 AND state = 'pending'`, d.RequestID, micros(tx.Now))
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
		d.HeldBy, micros(tx.Now), wakeNext)
	if err != nil {
		return fmt.Errorf("wake held deliveries: %w", err)
	}
	for _, kind := range notify.Kinds {
		if kind != notify.OTP {
			tx.wakeOutbox(notify.Lane{Channel: d.Channel, Kind: kind})
		}
	}
	return nil
}

// WakeHeld makes the oldest delivery that waits for each limit due, so that it leaves
// soon after a setting, a decision or an operator lifts the limit.
func (db *DB) WakeHeld(ctx context.Context) error {
	now := micros(db.Now())
	_, err := db.sql.Exec(ctx, `
		UPDATE deliveries SET due_at = $1
		WHERE lease IS NULL AND due_at > $1 AND id IN (
			SELECT min(id) FROM deliveries WHERE state = 'queued' AND held_by IS NOT NULL GROUP BY held_by)`, now)
	if err != nil {
		return fmt.Errorf("wake held deliveries: %w", err)
	}
	return nil
}
