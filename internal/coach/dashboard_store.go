package coach

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Dashboard reads a coach's dashboard from one state of the database. Its statements read
// only rows of the coach: pending and refused players, index entries of all players, and
// the requests of a month.
func (db Store) Dashboard(ctx context.Context, coachID string, now time.Time) (*Dashboard, error) {
	var d *Dashboard
	err := db.DB.View(ctx, func(tx *store.Tx) (err error) {
		d = &Dashboard{Counts: map[AttentionKind]int{}}
		d.Summary, err = summary(ctx, tx, coachID, now)
		if err != nil {
			return err
		}
		guardian, student := d.Players.Guardian, d.Players.Student
		d.Counts[ConsentRejected], d.Counts[ConsentRevoked] = guardian.Rejected+student.Rejected, guardian.Revoked+student.Revoked
		for _, part := range []func() error{
			func() error { return countRequests(ctx, tx, coachID, now, d) },
			func() error { return overdueFollowUps(ctx, tx, coachID, now, d) },
			func() error { return attention(ctx, tx, coachID, d) },
		} {
			if err := part(); err != nil {
				return fmt.Errorf("read dashboard: %w", err)
			}
		}
		return nil
	})
	return d, err
}

// Overview reads a coach's overview from one state of the database, with at most limit needs.
func (db Store) Overview(ctx context.Context, coachID string, limit int, now time.Time) (*Overview, error) {
	o := &Overview{}
	err := db.DB.View(ctx, func(tx *store.Tx) (err error) {
		o.Summary, err = summary(ctx, tx, coachID, now)
		if err != nil {
			return err
		}
		due := now.Add(-FollowUpTarget)
		err = tx.QueryRow(ctx, `SELECT m.reached, m.followed FROM `+measuredRequests+` m`,
			coachID, database.Micros(due), database.Micros(due.Add(-FollowUpWindow)), FollowUpTarget.Microseconds()).Scan(&o.Reached, &o.FollowedUp)
		if err != nil {
			return fmt.Errorf("count follow-ups: %w", err)
		}
		o.Needs, err = readNeeds(ctx, tx, coachID, NeedQuery{Limit: limit}, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// summary reads the common part of the dashboard and the overview.
func summary(ctx context.Context, tx *store.Tx, coachID string, now time.Time) (s Summary, err error) {
	s.Profile, err = profile(ctx, tx, coachID)
	if err != nil {
		return s, err
	}
	s.Subscription, err = subscription(ctx, tx, coachID, now)
	if err != nil {
		return s, err
	}
	s.Players, err = countPlayers(ctx, tx, coachID)
	if err != nil {
		return s, fmt.Errorf("count players: %w", err)
	}
	s.Pending, err = countPending(ctx, tx, coachID, now)
	if err != nil {
		return s, fmt.Errorf("count pending approvals: %w", err)
	}
	s.Unread, err = notice.CountUnread(ctx, tx, coachID)
	return s, err
}

// countPlayers counts the players by state. An adult without a guardian has no guardian
// state. It reads the parties of the coach: an index with their states would change with each answer.
func countPlayers(ctx context.Context, tx *store.Tx, coachID string) (players PlayerCounts, err error) {
	g, s := &players.Guardian, &players.Student
	const partiesOf = `count(*) FILTER (WHERE a.role = `
	err = tx.QueryRow(ctx, `
		SELECT `+partiesOf+`'student'),
			`+partiesOf+`'guardian' AND a.name IS NOT NULL AND a.state = 'pending'), `+partiesOf+`'guardian' AND a.name IS NOT NULL AND a.state = 'approved'),
			`+partiesOf+`'guardian' AND a.state = 'rejected'), `+partiesOf+`'guardian' AND a.state = 'revoked'),
			`+partiesOf+`'student' AND a.state = 'pending'), `+partiesOf+`'student' AND a.state = 'approved'),
			`+partiesOf+`'student' AND a.state = 'rejected'), `+partiesOf+`'student' AND a.state = 'revoked')
		FROM parties a WHERE a.coach_id = $1 AND a.deleted_at IS NULL`, coachID).
		Scan(&players.Total, &g.Pending, &g.Approved, &g.Rejected, &g.Revoked, &s.Pending, &s.Approved, &s.Rejected, &s.Revoked)
	return players, err
}

// countPending counts the approvals that Pending lists.
func countPending(ctx context.Context, tx *store.Tx, coachID string, now time.Time) (pending PendingCounts, err error) {
	err = tx.QueryRow(ctx, `
		SELECT count(*), count(*) FILTER (WHERE w.since < $3), count(*) FILTER (WHERE w.since < $4), min(w.since),
			count(*) FILTER (WHERE w.number IS NULL), count(*) FILTER (WHERE w.number IS NULL AND w.since < $3), count(*) FILTER (WHERE w.number IS NULL AND w.since < $4)
		FROM (
			SELECT a.pending_since AS since, a.number AS number FROM parties a
			WHERE a.coach_id = $1 AND a.deleted_at IS NULL AND a.state = 'pending'
				AND (a.role = 'student' OR a.name IS NOT NULL AND ((SELECT p.date_of_birth FROM players p WHERE p.id = a.player_id) > $2
					OR (SELECT o.state FROM requests o WHERE o.id = a.request_id) = 'pending'))
		) w`, coachID, adultBorn(now), database.Micros(now.Add(-FollowUpTarget)), database.Micros(now.Add(-LongPending))).
		Scan(&pending.Total, &pending.Over48h, &pending.LongPending, database.IntoTime(&pending.Oldest),
			&pending.NoNumber, &pending.NoNumberOver48h, &pending.NoNumberLong)
	return pending, err
}

// adultBorn returns the latest birth date of an adult: see approval.AdultBirthDate.
func adultBorn(now time.Time) string {
	y, m, d := now.UTC().Date()
	return fmt.Sprintf("%04d-%02d-%02d", y-team.AdultAge, m, d)
}

// measuredRequests counts the requests of the coach $1 from $3 to $2 that passed the target $4
// without a response, and how many of them were followed up in time.
const measuredRequests = `(SELECT count(*) AS reached, count(*) FILTER (WHERE followed_up_at <= requested_at + $4) AS followed
			FROM requests
			WHERE coach_id = $1 AND requested_at < $2 AND requested_at >= $3 AND requested_at > 0
				AND (closed_at IS NULL OR closed_at > requested_at + $4 OR followed_up_at <= requested_at + $4))`

// countRequests counts followed-up and overdue requests, failed and held messages, and open
// disputes.
func countRequests(ctx context.Context, tx *store.Tx, coachID string, now time.Time, d *Dashboard) error {
	due := now.Add(-FollowUpTarget)
	var failed, disputed, held int
	err := tx.QueryRow(ctx, `
		SELECT (SELECT count(*) FROM requests WHERE coach_id = $1 AND state = 'pending' AND requested_at < $2 AND followed_up_at IS NULL),
			m.reached, m.followed,
			(SELECT count(*) FROM requests WHERE coach_id = $1 AND state = 'pending' AND delivery_failed = TRUE),
			(SELECT count(*) `+fromDisputed+`),
			(SELECT count(*) FROM requests WHERE id IN `+heldRequests+` AND state = 'pending' AND delivery_failed = FALSE AND approver_id NOT IN `+stoppedParties+`)
		FROM `+measuredRequests+` m`,
		coachID, database.Micros(due), database.Micros(due.Add(-FollowUpWindow)), FollowUpTarget.Microseconds()).
		Scan(&d.FollowUp.Overdue, &d.FollowUp.Reached, &d.FollowUp.FollowedUp, &failed, &disputed, &held)
	d.Counts[DeliveryFailed], d.Counts[ContactDisputed], d.Counts[MessageHeld] = failed, disputed, held
	return err
}

// overdueFollowUps lists the requests that countRequests counts as overdue.
func overdueFollowUps(ctx context.Context, tx *store.Tx, coachID string, now time.Time, d *Dashboard) error {
	rs, err := tx.Query(ctx, `
		SELECT r.id, r.player_id, p.student_name, r.approver_type, r.requested_at, `+guardianOfRequest+`
		FROM requests r JOIN players p ON p.id = r.player_id
		WHERE r.coach_id = $1 AND r.state = 'pending' AND r.requested_at < $2 AND r.followed_up_at IS NULL
		ORDER BY r.requested_at, r.id LIMIT $3`, coachID, database.Micros(now.Add(-FollowUpTarget)), MaxAttention)
	d.Overdue, err = database.Collect(rs, err, func(s database.Scanner) (o OverdueFollowUp, err error) {
		return o, s.Scan(&o.RequestID, &o.PlayerID, &o.StudentName, &o.Party, database.IntoTime(&o.RequestedAt), &o.GuardianID, database.IntoText(&o.GuardianName))
	})
	return err
}

// fromDisputed reads the disputed requests r of the coach $1 that are the newest ones of their parties, with their players p.
const fromDisputed = `FROM disputes t JOIN requests r ON r.id = t.request_id AND r.state = 'disputed' JOIN players p ON p.id = r.player_id
	WHERE t.coach_id = $1 AND p.deleted_at IS NULL AND EXISTS (SELECT 1 FROM parties a WHERE a.player_id = p.id AND a.role = r.approver_type AND a.guardian_id = r.guardian_id AND a.request_id = r.id AND a.state = 'pending')`

// failedChannels are the channels on which the newest sending of the request r failed. The
// channel sms of a request reads chat if its newest message left by chat.
const failedChannels = `CASE (SELECT d.channel FROM deliveries d
	WHERE d.request_id = r.id AND d.kind = 'request' AND d.channel IN ('sms', 'chat') ORDER BY d.id DESC LIMIT 1)
	WHEN 'chat' THEN replace(r.failed_channels, 'sms,', 'chat,') ELSE r.failed_channels END`

// attention lists the players that need attention, the newest of each kind.
func attention(ctx context.Context, tx *store.Tx, coachID string, d *Dashboard) error {
	rs, err := tx.Query(ctx, `
		SELECT w.kind, w.since, w.player_id, w.student_name, w.party, w.request_id, w.channels, w.guardian_id,
			(SELECT n.name FROM parties n WHERE n.player_id = w.player_id AND n.role = 'guardian' AND n.guardian_id = w.guardian_id AND `+isOneOfSeveral+`)
		FROM (
			SELECT * FROM (
				SELECT a.state AS kind, a.changed_at AS since, p.id AS player_id, p.student_name AS student_name,
					a.role AS party, a.request_id AS request_id, a.guardian_id AS guardian_id, '' AS channels
				FROM parties a JOIN players p ON p.id = a.player_id
				WHERE a.coach_id = $1 AND a.deleted_at IS NULL AND a.role = 'guardian' AND a.state IN ('rejected', 'revoked')
				ORDER BY a.changed_at DESC, a.player_id DESC LIMIT $2) g
			UNION ALL
			SELECT * FROM (
				SELECT a.state AS kind, a.changed_at AS since, p.id AS player_id, p.student_name AS student_name,
					a.role AS party, a.request_id AS request_id, a.guardian_id AS guardian_id, '' AS channels
				FROM parties a JOIN players p ON p.id = a.player_id
				WHERE a.coach_id = $1 AND a.deleted_at IS NULL AND a.role = 'student' AND a.state IN ('rejected', 'revoked')
				ORDER BY a.changed_at DESC, a.player_id DESC LIMIT $2) s
			UNION ALL
			SELECT * FROM (
				SELECT 'delivery_failed' AS kind, r.last_sent_at AS since, p.id AS player_id, p.student_name AS student_name,
					r.approver_type AS party, r.id AS request_id, r.guardian_id AS guardian_id, `+failedChannels+` AS channels
				FROM requests r JOIN players p ON p.id = r.player_id
				WHERE r.coach_id = $1 AND r.state = 'pending' AND r.delivery_failed = TRUE
				ORDER BY r.last_sent_at DESC, r.id DESC LIMIT $2) f
			UNION ALL
			SELECT * FROM (
				SELECT 'disputed' AS kind, r.closed_at AS since, p.id AS player_id, p.student_name AS student_name,
					r.approver_type AS party, r.id AS request_id, r.guardian_id AS guardian_id, '' AS channels
				`+fromDisputed+`
				ORDER BY r.closed_at DESC, r.id DESC LIMIT $2) c
			UNION ALL
			SELECT * FROM (
				SELECT 'message_limit' AS kind, r.requested_at AS since, p.id AS player_id, p.student_name AS student_name,
					r.approver_type AS party, r.id AS request_id, r.guardian_id AS guardian_id, '' AS channels
				FROM requests r JOIN players p ON p.id = r.player_id
				WHERE r.id IN `+heldRequests+` AND r.state = 'pending' AND r.delivery_failed = FALSE AND r.approver_id NOT IN `+stoppedParties+`
				ORDER BY r.requested_at DESC, r.id DESC LIMIT $2) h
		) w`, coachID, MaxAttention)
	d.Attention, err = database.Collect(rs, err, func(s database.Scanner) (a Attention, err error) {
		return a, s.Scan(&a.Kind, database.IntoTime(&a.Since), &a.PlayerID, &a.StudentName, &a.Party, database.IntoText(&a.RequestID), database.IntoWords(&a.Channels), &a.GuardianID, database.IntoText(&a.GuardianName))
	})
	if err != nil {
		return err
	}
	var held []string
	for _, a := range d.Attention {
		if a.Kind == MessageHeld {
			held = append(held, a.RequestID)
		}
	}
	heldBy, err := heldBy(ctx, tx, held)
	for i, a := range d.Attention {
		d.Attention[i].HeldBy = heldBy[a.RequestID]
	}
	return err
}
