package coach

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Needs counts and lists the needs of a coach from one state of the database.
func (db Store) Needs(ctx context.Context, coachID string, q NeedQuery, now time.Time) (needs Needs, err error) {
	err = db.DB.View(ctx, func(tx *store.Tx) error {
		needs, err = readNeeds(ctx, tx, coachID, q, now)
		return err
	})
	return needs, err
}

func readNeeds(ctx context.Context, tx *store.Tx, coachID string, q NeedQuery, now time.Time) (needs Needs, err error) {
	needs.Counts, err = countNeeds(ctx, tx, coachID, now)
	if err != nil {
		return needs, fmt.Errorf("count needs: %w", err)
	}
	needs.Items, err = listNeeds(ctx, tx, coachID, q, needs.Counts, now)
	if err != nil {
		return needs, fmt.Errorf("list needs: %w", err)
	}
	return needs, nil
}

// stoppedParties are the accounts that want no messages from the coach $1.
const stoppedParties = `(SELECT a.id FROM stopped_coaches st JOIN accounts a ON a.mobile_number = st.mobile_number AND a.role <> 'coach' WHERE st.coach_id = $1)`

// heldRequests are the requests of the coach $1 with a message that waits for a message limit.
const heldRequests = `(SELECT request_id FROM deliveries
	WHERE coach_id = $1 AND reason = 'held' AND reason IN ('gathering', 'held') AND state = 'queued' AND request_id IS NOT NULL)`

// unreadRefusal: the coach $1 has not read the notification of the refusal by the party a that stands, nor opened the player since;
// see MarkRefusalsRead.
const unreadRefusal = `a.state IN ('rejected', 'revoked') AND (a.player_id, a.role || '_' || a.state) IN (
		SELECT n.player_id, n.type FROM notifications n WHERE n.account_id = $1 AND n.read_at IS NULL
			AND n.type IN ('guardian_rejected', 'guardian_revoked', 'student_rejected', 'student_revoked'))`

// isOneOfSeveral is true if the player of the guardian n has other guardians.
const isOneOfSeveral = `EXISTS (SELECT 1 FROM parties o WHERE o.player_id = n.player_id AND o.role = 'guardian' AND o.position > 1)`

// guardianOfRequest is the id and the name of the guardian whom the request r asks. The name is NULL for the only guardian.
const guardianOfRequest = `r.guardian_id, (SELECT n.name FROM parties n
			WHERE n.player_id = r.player_id AND n.role = 'guardian' AND n.guardian_id = r.guardian_id AND ` + isOneOfSeveral + `)`

// countNeeds counts the needs of each kind. Each count reads an index with few other entries.
func countNeeds(ctx context.Context, tx *store.Tx, coachID string, now time.Time) (map[NeedKind]int, error) {
	var failed, disputed, rejected, revoked, overdue, stopped, held, long int
	err := tx.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM requests WHERE coach_id = $1 AND state = 'pending' AND delivery_failed = TRUE),
			(SELECT count(*) `+fromDisputed+`),
			a.rejected, a.revoked,
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
		FROM (SELECT count(*) FILTER (WHERE a.state = 'rejected') AS rejected, count(*) FILTER (WHERE a.state = 'revoked') AS revoked
			FROM parties a WHERE a.coach_id = $1 AND a.deleted_at IS NULL AND `+unreadRefusal+`) a`,
		coachID, database.Micros(now.Add(-FollowUpTarget)), database.Micros(now.Add(-LongPending))).
		Scan(&failed, &disputed, &rejected, &revoked, &overdue, &stopped, &held, &long)
	return map[NeedKind]int{
		NeedFailed: failed, NeedDisputed: disputed, NeedRejected: rejected, NeedRevoked: revoked,
		NeedOverdue: overdue, NeedStopped: stopped, NeedHeld: held, NeedLongPending: long,
	}, err
}

// listNeeds lists at most q.Limit needs, the most urgent first. It reads only the kinds that
// counts has, until the list is full.
func listNeeds(ctx context.Context, tx *store.Tx, coachID string, q NeedQuery, counts map[NeedKind]int, now time.Time) (items []Need, err error) {
	overdue, long := database.Micros(now.Add(-FollowUpTarget)), database.Micros(now.Add(-LongPending))
	refused := NeedRejected // both kinds are in one list
	if q.Kind == NeedRevoked || q.Kind == "" && counts[refused] == 0 {
		refused = NeedRevoked
	}
	for _, list := range []struct {
		kind NeedKind
		read func(limit int) (*database.Rows, error)
	}{
		{NeedFailed, func(limit int) (*database.Rows, error) { return tx.Query(ctx, failedNeeds, coachID, limit) }},
		{NeedDisputed, func(limit int) (*database.Rows, error) { return tx.Query(ctx, disputedNeeds, coachID, limit) }},
		{refused, func(limit int) (*database.Rows, error) {
			return tx.Query(ctx, refusedNeeds, coachID, limit, string(q.Kind))
		}},
		{NeedOverdue, func(limit int) (*database.Rows, error) { return tx.Query(ctx, overdueNeeds, coachID, limit, overdue) }},
		{NeedStopped, func(limit int) (*database.Rows, error) { return tx.Query(ctx, stoppedNeeds, coachID, limit, overdue) }},
		{NeedHeld, func(limit int) (*database.Rows, error) { return tx.Query(ctx, heldNeeds, coachID, limit, overdue) }},
		{NeedLongPending, func(limit int) (*database.Rows, error) { return tx.Query(ctx, longPendingNeeds, coachID, limit, long) }},
	} {
		left := q.Limit - len(items)
		if left <= 0 {
			break
		}
		if counts[list.kind] == 0 || q.Kind != "" && q.Kind != list.kind {
			continue
		}
		rs, err := list.read(left)
		more, err := database.Collect(rs, err, func(s database.Scanner) (n Need, err error) {
			return n, s.Scan(&n.Kind, database.IntoTime(&n.Since), &n.PlayerID, &n.StudentName, &n.Party, database.IntoText(&n.RequestID), database.IntoWords(&n.Channels), &n.HasReason,
				&n.GuardianID, database.IntoText(&n.GuardianName))
		})
		if err == nil && list.kind == NeedHeld {
			err = addHeldBy(ctx, tx, more)
		}
		if err != nil {
			return nil, err
		}
		slices.SortFunc(more, func(a, b Need) int {
			since := a.Since.Compare(b.Since)
			if list.kind == refused {
				since = -since
			}
			return cmp.Or(since, strings.Compare(a.PlayerID, b.PlayerID), strings.Compare(string(a.Party), string(b.Party)), strings.Compare(a.GuardianID, b.GuardianID))
		})
		items = append(items, more[:min(len(more), left)]...)
	}
	return items, nil
}

// addHeldBy adds the limits to needs with held messages.
func addHeldBy(ctx context.Context, tx *store.Tx, needs []Need) error {
	var requests []string
	for _, n := range needs {
		requests = append(requests, n.RequestID)
	}
	heldBy, err := heldBy(ctx, tx, requests)
	for i, n := range needs {
		needs[i].HeldBy = heldBy[n.RequestID]
	}
	return err
}

// heldBy returns the key of the limit for which the message of each request waits, "" for none.
func heldBy(ctx context.Context, tx *store.Tx, requests []string) (map[string]string, error) {
	keys := make(map[string]string)
	if len(requests) == 0 {
		return keys, nil
	}
	ids := database.PaddedIDs(requests)
	rs, err := tx.Query(ctx, `
		SELECT request_id, held_by FROM deliveries WHERE request_id IN (`+database.Params(1, len(ids))+`) AND state = 'queued' AND reason = 'held' ORDER BY id`, ids...)
	_, err = database.Collect(rs, err, func(s database.Scanner) (id string, err error) {
		var key string
		err = s.Scan(&id, database.IntoText(&key))
		if err == nil {
			keys[id] = key
		}
		return id, err
	})
	return keys, fault.Wrap(err, "read the limits of held messages")
}

// These list at most $2 needs of one kind of the coach $1, in the order of an index.
//
//	refusedNeeds                            $3 is the kind, NeedRejected or NeedRevoked; "" for both
//	overdueNeeds, stoppedNeeds, heldNeeds   a request from before $3 without a follow-up is overdue
//	longPendingNeeds                        only requests from before $3, with a follow-up
const (
	failedNeeds = `
		SELECT 'delivery_failed', r.last_sent_at, p.id, p.student_name, r.approver_type, r.id, ` + failedChannels + `, FALSE, ` + guardianOfRequest + `
		FROM requests r JOIN players p ON p.id = r.player_id
		WHERE r.coach_id = $1 AND r.state = 'pending' AND r.delivery_failed = TRUE
		ORDER BY r.last_sent_at, r.id LIMIT $2`
	disputedNeeds = `
		SELECT 'disputed', r.closed_at, p.id, p.student_name, r.approver_type, r.id, '', FALSE, ` + guardianOfRequest + `
		` + fromDisputed + `
		ORDER BY r.closed_at, r.id LIMIT $2`
	refusedNeeds = `
		SELECT a.state, a.changed_at, a.player_id, p.student_name, a.role, a.request_id, '',
			EXISTS (SELECT 1 FROM approval_history h
				WHERE h.player_id = a.player_id AND h.decided_at = a.changed_at AND h.approver_type = a.role AND h.guardian_id = a.guardian_id AND h.reason IS NOT NULL),
			a.guardian_id, (SELECT n.name FROM parties n WHERE n.player_id = a.player_id AND n.role = a.role AND n.position = a.position AND n.role = 'guardian' AND ` + isOneOfSeveral + `)
		FROM parties a JOIN players p ON p.id = a.player_id
		WHERE a.coach_id = $1 AND a.deleted_at IS NULL AND CAST($3 AS TEXT) IN ('', a.state) AND ` + unreadRefusal + `
		ORDER BY a.changed_at DESC, a.player_id DESC LIMIT $2`
	overdueNeeds = `
		SELECT 'overdue', r.requested_at, p.id, p.student_name, r.approver_type, r.id, '', FALSE, ` + guardianOfRequest + `
		FROM requests r JOIN players p ON p.id = r.player_id
		WHERE r.coach_id = $1 AND r.state = 'pending' AND r.followed_up_at IS NULL AND r.requested_at < $3 AND r.delivery_failed = FALSE
		ORDER BY r.requested_at LIMIT $2`
	stoppedNeeds = `
		SELECT 'stopped', r.requested_at, p.id, p.student_name, r.approver_type, r.id, '', FALSE, ` + guardianOfRequest + `
		FROM requests r JOIN players p ON p.id = r.player_id
		WHERE r.coach_id = $1 AND r.approver_id IN ` + stoppedParties + `
			AND r.state = 'pending' AND r.delivery_failed = FALSE AND (r.followed_up_at IS NOT NULL OR r.requested_at >= $3)
		ORDER BY r.requested_at LIMIT $2`
	heldNeeds = `
		SELECT 'held', r.requested_at, p.id, p.student_name, r.approver_type, r.id, '', FALSE, ` + guardianOfRequest + `
		FROM requests r JOIN players p ON p.id = r.player_id
		WHERE r.id IN ` + heldRequests + `
			AND r.state = 'pending' AND r.delivery_failed = FALSE AND (r.followed_up_at IS NOT NULL OR r.requested_at >= $3)
			AND r.approver_id NOT IN ` + stoppedParties + `
		ORDER BY r.requested_at LIMIT $2`
	longPendingNeeds = `
		SELECT 'long_pending', r.requested_at, p.id, p.student_name, r.approver_type, r.id, '', FALSE, ` + guardianOfRequest + `
		FROM requests r JOIN players p ON p.id = r.player_id
		WHERE r.coach_id = $1 AND r.state = 'pending' AND r.followed_up_at IS NOT NULL AND r.requested_at < $3 AND r.delivery_failed = FALSE
			AND r.id NOT IN ` + heldRequests + `
			AND r.approver_id NOT IN ` + stoppedParties + `
		ORDER BY r.requested_at LIMIT $2`
)
