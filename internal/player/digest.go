package player

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// notDue is the due time of a coach without pending requests.
const notDue = math.MaxInt64

// SendDigests sends up to n due digests: each notifies a coach of the number of
// requests that are pending for long. It returns how many rows it looked at. Each
// coach's digest is sent in a transaction that checks the version, so that only one
// replica sends it, and an error for one coach does not stop the others.
func (s *Service) SendDigests(ctx context.Context, n int) (int, error) {
	type due struct {
		coachID string
		version int64
	}
	rs, err := s.DB.Query(ctx, `SELECT coach_id, version FROM digests WHERE due_at <= $1 ORDER BY due_at LIMIT $2`, database.Micros(s.DB.Now()), n)
	coaches, err := database.Collect(rs, err, func(s database.Scanner) (d due, err error) { return d, s.Scan(&d.coachID, &d.version) })
	if err != nil {
		return 0, fmt.Errorf("find digests: %w", err)
	}
	what := func(d due) string { return "send digest to coach " + d.coachID }
	return len(coaches), store.WriteEach(ctx, s.DB, coaches, what, func(tx *store.Tx, d due) error { return s.sendDigest(ctx, tx, d.coachID, d.version) })
}

// sendDigest notifies one coach and sets when the next digest is due. It does nothing
// if the version has changed: another replica was faster, or a request was opened.
func (s *Service) sendDigest(ctx context.Context, tx *store.Tx, coachID string, version int64) error {
	rules := s.Rules.Digest
	var pending int
	err := tx.QueryRow(ctx, `
		SELECT count(*) FROM requests WHERE coach_id = $1 AND state = 'pending' AND requested_at < $2`,
		coachID, database.Micros(rules.PendingSince(tx.Now))).Scan(&pending)
	if err != nil {
		return err
	}
	var oldest time.Time
	if pending == 0 {
		err := tx.QueryRow(ctx, `
			SELECT requested_at FROM requests WHERE coach_id = $1 AND state = 'pending'
			ORDER BY requested_at LIMIT 1`, coachID).Scan(database.IntoTime(&oldest))
		if err != nil && !database.IsNoRows(err) {
			return err
		}
	}
	due := int64(notDue)
	if next := rules.NextDue(tx.Now, pending, oldest); !next.IsZero() {
		due = next.UnixMicro()
	}
	n, err := tx.Exec(ctx, `UPDATE digests SET due_at = $3, version = version + 1 WHERE coach_id = $1 AND version = $2`, coachID, version, due)
	if err != nil || n == 0 || pending == 0 {
		return err
	}
	return notice.Notify(ctx, tx, []event.Event{rules.Event(coachID, pending)})
}

// scheduleDigest makes the coach's digest due when it first counts r, unless an earlier
// digest is due already. The new version invalidates a digest that is being sent.
func (s *Service) scheduleDigest(ctx context.Context, tx *store.Tx, r *approval.Request) error {
	err := tx.Defer(ctx, `
		INSERT INTO digests (coach_id, due_at, version) VALUES ($1, $2, 1)
		ON CONFLICT (coach_id) DO UPDATE SET version = digests.version + 1,
			due_at = CASE digests.due_at WHEN $3 THEN excluded.due_at ELSE digests.due_at END`,
		r.CoachID, database.Micros(s.Rules.Digest.FirstDue(r.RequestedAt)), int64(notDue))
	return fault.Wrap(err, "schedule digest")
}
