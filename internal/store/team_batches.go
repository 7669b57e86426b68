package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

// batchSelect reads batches with the number of their players. scanBatch scans its columns.
const batchSelect = `
	SELECT b.id, b.coach_id, b.version, b.name, b.sport, b.venue, b.schedule, b.time_zone, b.created_at, b.updated_at, b.archived_at,
		(SELECT count(*) FROM batch_players m WHERE m.batch_id = b.id AND m.left_at IS NULL)
	FROM batches b `

func scanBatch(s database.Scanner) (*team.Batch, error) {
	b := &team.Batch{}
	return b, s.Scan(&b.ID, &b.CoachID, &b.Version, &b.Name, database.IntoText(&b.Sport), database.IntoText(&b.Venue), database.IntoJSON(&b.Schedule), &b.TimeZone,
		database.IntoTime(&b.CreatedAt), database.IntoTime(&b.UpdatedAt), database.IntoTime(&b.ArchivedAt), &b.PlayerCount)
}

// TeamCoach reads what the rules of package team need to know of a coach.
func (tx *Tx) TeamCoach(ctx context.Context, coachID string) (team.Coach, error) {
	var c team.Coach
	err := tx.QueryRow(ctx, `SELECT tier, time_zone FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&c.Tier), database.IntoText(&c.TimeZone))
	if database.IsNoRows(err) {
		return c, fault.SessionEnded() // the account has closed since the session was read
	}
	c.TimeZone = tx.db.options.Settings.zoneOf(c.TimeZone)
	return c, err
}

// Batch reads a batch of a coach, or returns not_found.
func (tx *Tx) Batch(ctx context.Context, coachID, id string) (*team.Batch, error) {
	return BatchOf(ctx, tx, coachID, id)
}

// BatchOf reads a batch of a coach, or returns not_found.
func BatchOf(ctx context.Context, q database.Querier, coachID, id string) (*team.Batch, error) {
	b, err := scanBatch(q.QueryRow(ctx, batchSelect+`WHERE b.coach_id = $1 AND b.id = $2`, coachID, id))
	if database.IsNoRows(err) {
		return nil, fault.Missing()
	}
	return b, err
}

// BatchesOf lists the open or the archived batches of a coach, newest first.
func BatchesOf(ctx context.Context, q database.Querier, coachID string, archived bool, after string, limit int) ([]*team.Batch, error) {
	var rs *database.Rows
	var err error
	if archived {
		rs, err = q.Query(ctx, batchSelect+`WHERE b.coach_id = $1 AND b.archived_at IS NOT NULL AND b.id < $2 ORDER BY b.id DESC LIMIT $3`,
			coachID, database.Before(after), limit)
	} else {
		rs, err = q.Query(ctx, batchSelect+`WHERE b.coach_id = $1 AND b.archived_at IS NULL AND b.id < $2 ORDER BY b.id DESC LIMIT $3`,
			coachID, database.Before(after), limit)
	}
	return database.Collect(rs, err, scanBatch)
}

// BatchNames lists the newest open batches of a coach by name only.
func BatchNames(ctx context.Context, q database.Querier, coachID string, limit int) ([]team.BatchName, error) {
	rs, err := q.Query(ctx, `
		SELECT b.id, b.name FROM batches b WHERE b.coach_id = $1 AND b.archived_at IS NULL ORDER BY b.id DESC LIMIT $2`, coachID, limit)
	return database.Collect(rs, err, func(s database.Scanner) (n team.BatchName, err error) { return n, s.Scan(&n.ID, &n.Name) })
}

// LockBatch locks a batch until the transaction ends, so that no other transaction archives
// it or changes its players and attendance, and reads it; or returns not_found.
func (tx *Tx) LockBatch(ctx context.Context, coachID, id string) (*team.Batch, error) {
	if err := tx.Defer(ctx, `UPDATE batches SET version = version WHERE coach_id = $1 AND id = $2`, coachID, id); err != nil {
		return nil, err
	}
	return tx.Batch(ctx, coachID, id)
}

// JoinBatch adds a player to a batch that is locked. A player who left within team.RejoinWithin
// continues the membership.
func (tx *Tx) JoinBatch(ctx context.Context, coachID, id, playerID string) error {
	since := database.Micros(tx.Now.Add(-team.RejoinWithin))
	err := tx.Defer(ctx, `
		INSERT INTO earlier_memberships (coach_id, batch_id, player_id, joined_at, left_at)
		SELECT coach_id, batch_id, player_id, joined_at, left_at FROM batch_players
		WHERE coach_id = $1 AND batch_id = $2 AND player_id = $3 AND left_at < $4
		ON CONFLICT (batch_id, player_id, left_at) DO NOTHING`,
		coachID, id, playerID, since)
	if err != nil {
		return err
	}
	return tx.DeferOne(ctx, `
		INSERT INTO batch_players (coach_id, batch_id, player_id, joined_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (batch_id, player_id) DO UPDATE SET left_at = NULL,
			joined_at = CASE WHEN batch_players.left_at < $5 THEN excluded.joined_at ELSE batch_players.joined_at END`,
		coachID, id, playerID, database.Micros(tx.Now), since)
}

// BatchPlayers lists the players of a batch by name.
func (tx *Tx) BatchPlayers(ctx context.Context, coachID, id string) ([]team.Membership, error) {
	rs, err := tx.Query(ctx, `
		SELECT m.player_id, p.student_name, p.medical IS NOT NULL, m.joined_at
		FROM batch_players m JOIN players p ON p.id = m.player_id
		WHERE m.coach_id = $1 AND m.batch_id = $2 AND m.left_at IS NULL`, coachID, id)
	players, err := database.Collect(rs, err, func(s database.Scanner) (m team.Membership, err error) {
		return m, s.Scan(&m.PlayerID, &m.StudentName, &m.HasMedical, database.IntoTime(&m.JoinedAt))
	})
	slices.SortFunc(players, func(a, b team.Membership) int {
		return team.CompareNames(a.StudentName, a.PlayerID, b.StudentName, b.PlayerID)
	})
	return players, err
}

// BatchesOfPlayer lists the open batches of a player, newest first.
func (tx *Tx) BatchesOfPlayer(ctx context.Context, playerID string) ([]*team.Batch, error) {
	rs, err := tx.Query(ctx, batchSelect+`
			JOIN batch_players i ON i.batch_id = b.id AND i.left_at IS NULL
			WHERE i.player_id = $1 AND b.archived_at IS NULL ORDER BY i.batch_id DESC LIMIT $2`, playerID, team.MaxBatches)
	return database.Collect(rs, err, scanBatch)
}

// CheckOpen returns not_found unless the batch is the coach's, or why Batch.CheckOpen refuses
// it. lock is "" or the lock of the row b.
func (tx *Tx) CheckOpen(ctx context.Context, coachID, batchID, lock string) error {
	var b team.Batch
	err := tx.QueryRow(ctx, `SELECT b.archived_at FROM batches b WHERE b.id = $1 AND b.coach_id = $2 `+lock, batchID, coachID).Scan(database.IntoTime(&b.ArchivedAt))
	if err != nil {
		return database.OrMissing(err, "read batch "+batchID)
	}
	return b.CheckOpen()
}

// ActiveCoach returns the name of a coach, "" for a closed account, and whether an operator
// suspended the account. A suspension commits before, or waits until this transaction has
// committed.
func (tx *Tx) ActiveCoach(ctx context.Context, id string) (name string, suspended bool, err error) {
	err = tx.QueryRow(ctx, `SELECT c.name FROM coaches c WHERE c.id = $1 `+tx.ForShare("c"), id).Scan(database.IntoText(&name))
	if database.IsNoRows(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("lock coach %s: %w", id, err)
	}
	// In the statement of the lock, PostgreSQL would read the account as it was before the wait.
	err = tx.QueryRow(ctx, `SELECT suspended_at IS NOT NULL FROM accounts WHERE id = $1`, id).Scan(&suspended)
	if err != nil {
		return "", false, fmt.Errorf("read account of coach %s: %w", id, err)
	}
	return name, suspended, nil
}
