package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/database"
)

// Needs counts and lists the parties that need a coach from one state of the database.
func (db *DB) Needs(ctx context.Context, coachID string, q coach.NeedQuery, now time.Time) (needs coach.Needs, err error) {
	err = db.view(ctx, func(tx *tx) error {
		needs, err = tx.needs(ctx, coachID, q, now)
		return err
	})
	return needs, err
}

func (tx *tx) needs(ctx context.Context, coachID string, q coach.NeedQuery, now time.Time) (needs coach.Needs, err error) {
	if needs.Counts, err = tx.countNeeds(ctx, coachID, now); err != nil {
		return needs, fmt.Errorf("count needs: %w", err)
	}
	if needs.Items, err = tx.listNeeds(ctx, coachID, q, now); err != nil {
		return needs, fmt.Errorf("list needs: %w", err)
	}
	return needs, nil
}

// stoppedParties are the accounts that want no messages from the coach $1.
const stoppedParties = `(SELECT a.id FROM stopped_coaches st JOIN accounts a ON a.mobile_number = st.mobile_number AND a.role <> 'coach' WHERE st.coach_id = $1)`

// heldRequests are the requests of the coach $1 with a message that waits for a message limit.
const heldRequests = `(SELECT request_id FROM deliveries WHERE coach_id = $1 AND state = 'queued' AND request_id IS NOT NULL AND reason = 'held')`

// countNeeds counts in indexes that have few entries of other requests.
func (tx *tx) countNeeds(ctx context.Context, coachID string, now time.Time) (map[coach.NeedKind]int, error) {
	var failed, disputed, guardianRejected, guardianRevoked, studentRejected, studentRevoked, overdue, stopped, held, long int
	err := tx.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM requests WHERE coach_id = $1 AND state = 'pending' AND delivery_failed = TRUE),
			(SELECT count(*) FROM requests r JOIN players p ON p.id = r.player_id AND `+stillDisputed+` WHERE r.coach_id = $1 AND r.state = 'disputed'),
			g.rejected, g.revoked, s.rejected, s.revoked,
			(SELECT count(*) FROM requests
				WHERE coach_id = $1 AND state = 'pending' AND followed_up_at IS NULL AND requested_at < $2 AND delivery_failed = FALSE),
			(SELECT count(*) FROM requests
				WHERE coach_id = $1 AND approver_id IN `+stoppedParties+`
					AND state = 'pending' AND delivery_failed = FALSE AND (followed_up_at IS NOT NULL OR requested_at >= $2)),
			(SELECT count(*) FROM requests
				WHERE id IN `+heldRequests+`
					AND state = 'pending' AND delivery_failed = FALSE AND (followed_up_at IS NOT NULL OR requested_at >= $2)
					AND approver_id NOT IN `+stoppedParties+`),
			(SELECT count(*) FROM requests
				WHERE coach_id = $1 AND state = 'pending' AND followed_up_at IS NOT NULL AND requested_at < $3 AND delivery_failed = FALSE
					AND approver_id NOT IN `+stoppedParties+`
					AND id NOT IN `+heldRequests+`)
		FROM (SELECT count(*) FILTER (WHERE guardian_state = 'rejected') AS rejected, count(*) FILTER (WHERE guardian_state = 'revoked') AS revoked
				FROM players WHERE coach_id = $1 AND deleted_at IS NULL AND guardian_state IN ('rejected', 'revoked')) g,
			(SELECT count(*) FILTER (WHERE student_state = 'rejected') AS rejected, count(*) FILTER (WHERE student_state = 'revoked') AS revoked
				FROM players WHERE coach_id = $1 AND deleted_at IS NULL AND student_state IN ('rejected', 'revoked')) s`,
		coachID, micros(now.Add(-coach.FollowUpTarget)), micros(now.Add(-coach.LongPending))).
		Scan(&failed, &disputed, &guardianRejected, &guardianRevoked, &studentRejected, &studentRevoked, &overdue, &stopped, &held, &long)
	return map[coach.NeedKind]int{
		coach.NeedFailed: failed, coach.NeedDisputed: disputed, coach.NeedRejected: guardianRejected + studentRejected,
		coach.NeedRevoked: guardianRevoked + studentRevoked, coach.NeedOverdue: overdue, coach.NeedStopped: stopped, coach.NeedHeld: held, coach.NeedLongPending: long,
	}, err
}

// These list at most $3 needs of one kind of the coach $1, in the order of an index; urgency 0 comes first. They list nothing if $2
// names another kind.
// A request from before $4 without a follow-up is overdue; one from before $5 with a follow-up is pending for long.
const (
	failedNeeds = `(
				SELECT 'delivery_failed' AS kind, 0 AS urgency, r.last_sent_at AS since, r.last_sent_at AS position, p.id AS player_id, p.student_name AS student_name, r.approver_type AS party, r.id AS request_id
				FROM requests r JOIN players p ON p.id = r.player_id
				WHERE r.coach_id = $1 AND r.state = 'pending' AND r.delivery_failed = TRUE AND CAST($2 AS TEXT) IN ('', 'delivery_failed')
				ORDER BY r.last_sent_at, r.id LIMIT $3)`
	disputedNeeds = `(
				SELECT 'disputed', 1, r.closed_at, r.closed_at, p.id, p.student_name, r.approver_type, r.id
				FROM requests r JOIN players p ON p.id = r.player_id AND ` + stillDisputed + `
				WHERE r.coach_id = $1 AND r.state = 'disputed' AND CAST($2 AS TEXT) IN ('', 'disputed')
				ORDER BY r.closed_at, r.id LIMIT $3)`
	guardianNeeds = `(
				SELECT p.guardian_state, 2, p.guardian_changed_at, -p.guardian_changed_at, p.id, p.student_name, 'guardian', p.guardian_request_id
				FROM players p
				WHERE p.coach_id = $1 AND p.deleted_at IS NULL AND p.guardian_state IN ('rejected', 'revoked')
					AND CAST($2 AS TEXT) IN ('', p.guardian_state)
				ORDER BY p.guardian_changed_at DESC, p.id DESC LIMIT $3)`
	studentNeeds = `(
				SELECT p.student_state, 2, p.student_changed_at, -p.student_changed_at, p.id, p.student_name, 'student', p.student_request_id
				FROM players p
				WHERE p.coach_id = $1 AND p.deleted_at IS NULL AND p.student_state IN ('rejected', 'revoked')
					AND CAST($2 AS TEXT) IN ('', p.student_state)
				ORDER BY p.student_changed_at DESC, p.id DESC LIMIT $3)`
	overdueNeeds = `(
				SELECT 'overdue', 3, r.requested_at, r.requested_at, p.id, p.student_name, r.approver_type, r.id
				FROM requests r JOIN players p ON p.id = r.player_id
				WHERE r.coach_id = $1 AND r.state = 'pending' AND r.followed_up_at IS NULL AND r.requested_at < $4 AND r.delivery_failed = FALSE
					AND CAST($2 AS TEXT) IN ('', 'overdue')
				ORDER BY r.requested_at LIMIT $3)`
	stoppedNeeds = `(
				SELECT 'stopped', 4, r.requested_at, r.requested_at, p.id, p.student_name, r.approver_type, r.id
				FROM requests r JOIN players p ON p.id = r.player_id
				WHERE r.coach_id = $1 AND r.approver_id IN ` + stoppedParties + `
					AND r.state = 'pending' AND r.delivery_failed = FALSE AND (r.followed_up_at IS NOT NULL OR r.requested_at >= $4)
					AND CAST($2 AS TEXT) IN ('', 'stopped')
				ORDER BY r.requested_at LIMIT $3)`
	heldNeeds = `(
				SELECT 'held', 5, r.requested_at, r.requested_at, p.id, p.student_name, r.approver_type, r.id
				FROM requests r JOIN players p ON p.id = r.player_id
				WHERE r.id IN ` + heldRequests + `
					AND r.state = 'pending' AND r.delivery_failed = FALSE AND (r.followed_up_at IS NOT NULL OR r.requested_at >= $4)
					AND r.approver_id NOT IN ` + stoppedParties + `
					AND CAST($2 AS TEXT) IN ('', 'held')
				ORDER BY r.requested_at LIMIT $3)`
	longPendingNeeds = `(
				SELECT 'long_pending', 6, r.requested_at, r.requested_at, p.id, p.student_name, r.approver_type, r.id
				FROM requests r JOIN players p ON p.id = r.player_id
				WHERE r.coach_id = $1 AND r.state = 'pending' AND r.followed_up_at IS NOT NULL AND r.requested_at < $5 AND r.delivery_failed = FALSE
					AND r.id NOT IN ` + heldRequests + `
					AND r.approver_id NOT IN ` + stoppedParties + `
					AND CAST($2 AS TEXT) IN ('', 'long_pending')
				ORDER BY r.requested_at LIMIT $3)`
)

// listNeeds lists at most q.Limit needs, the most urgent first.
func (tx *tx) listNeeds(ctx context.Context, coachID string, q coach.NeedQuery, now time.Time) ([]coach.Need, error) {
	rs, err := tx.Query(ctx, `
		SELECT w.kind, w.since, w.player_id, w.student_name, w.party, w.request_id FROM (
			SELECT * FROM `+failedNeeds+` a
			UNION ALL SELECT * FROM `+disputedNeeds+` b
			UNION ALL SELECT * FROM `+guardianNeeds+` c
			UNION ALL SELECT * FROM `+studentNeeds+` d
			UNION ALL SELECT * FROM `+overdueNeeds+` e
			UNION ALL SELECT * FROM `+stoppedNeeds+` f
			UNION ALL SELECT * FROM `+heldNeeds+` g
			UNION ALL SELECT * FROM `+longPendingNeeds+` h
		) w ORDER BY w.urgency, w.position, w.player_id, w.party LIMIT $3`,
		coachID, string(q.Kind), q.Limit, micros(now.Add(-coach.FollowUpTarget)), micros(now.Add(-coach.LongPending)))
	return database.Collect(rs, err, func(s database.Scanner) (n coach.Need, err error) {
		return n, s.Scan(&n.Kind, intoTime(&n.Since), &n.PlayerID, &n.StudentName, &n.Party, intoText(&n.RequestID))
	})
}
