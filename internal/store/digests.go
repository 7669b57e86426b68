package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/fault"
)

// notDue is when a coach's digest comes who waits for nobody.
const notDue = math.MaxInt64

// SendDigests tells up to n coaches whose digest is due how many of their
// requests have waited for long, and returns how many rows it looked at. Each
// coach is one guarded transaction, so that of all replicas one tells; that of one
// coach may fail and keeps those behind it from nothing.
func (db *DB) SendDigests(ctx context.Context, n int) (int, error) {
	type due struct {
		coachID string
		version int64
	}
	rs, err := db.sql.Query(ctx, `SELECT coach_id, version FROM digests WHERE due_at <= $1 ORDER BY due_at LIMIT $2`, micros(db.Now()), n)
	coaches, err := database.Collect(rs, err, func(s database.Scanner) (d due, err error) { return d, s.Scan(&d.coachID, &d.version) })
	if err != nil {
		return 0, fmt.Errorf("find digests: %w", err)
	}
	var failed []error
	for _, d := range coaches {
		err := db.write(ctx, func(tx *tx) error { return tx.digest(ctx, d.coachID, d.version) })
		if err != nil {
			failed = append(failed, fmt.Errorf("send digest of %s: %w", d.coachID, err))
		}
		if ctx.Err() != nil || fault.KindOf(err) == fault.Unavailable {
			break // it would be the same with all of them
		}
	}
	return len(coaches), errors.Join(failed...)
}

// digest tells one coach, and says when to look again. Another replica that was
// faster, or a request that was opened meanwhile, has moved the version: then
// nothing is done.
func (tx *tx) digest(ctx context.Context, coachID string, version int64) error {
	long := tx.Now.Add(-tx.db.Settings.DigestAfter)
	var waiting int
	err := tx.QueryRow(ctx, `
		SELECT count(*) FROM requests WHERE coach_id = $1 AND state = 'pending' AND requested_at < $2`,
		coachID, micros(long)).Scan(&waiting)
	if err != nil {
		return err
	}
	next := int64(notDue)
	if waiting > 0 {
		next = tx.Now.Add(tx.db.Settings.DigestEvery).UnixMicro()
	} else {
		var oldest int64
		err := tx.QueryRow(ctx, `
			SELECT requested_at FROM requests WHERE coach_id = $1 AND state = 'pending'
			ORDER BY requested_at LIMIT 1`, coachID).Scan(&oldest)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil {
			// Just after: "for more than" the time, not "for" it.
			next = oldest + tx.db.Settings.DigestAfter.Microseconds() + 1
		}
	}
	res, err := tx.Exec(ctx, `UPDATE digests SET due_at = $3, version = version + 1 WHERE coach_id = $1 AND version = $2`, coachID, version, next)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 || waiting == 0 {
		return err
	}
	return tx.tell(ctx, []event.Event{{Type: event.PendingLong, CoachID: coachID, Count: waiting, Waited: tx.db.Settings.DigestAfter}},
		func(actor.Role) string { return coachID })
}
