package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/team"
)

var _ team.BatchStore = (*DB)(nil)

// batchSelect reads batches with the number of their players. scanBatch scans its columns.
const batchSelect = `
	SELECT b.id, b.coach_id, b.version, b.name, b.sport, b.venue, b.schedule, b.time_zone, b.created_at, b.updated_at, b.archived_at,
		(SELECT count(*) FROM batch_players m WHERE m.batch_id = b.id AND m.left_at IS NULL)
	FROM batches b `

func scanBatch(s database.Scanner) (*team.Batch, error) {
	b := &team.Batch{}
	return b, s.Scan(&b.ID, &b.CoachID, &b.Version, &b.Name, database.IntoText(&b.Sport), database.IntoText(&b.Venue), intoJSON(&b.Schedule), &b.TimeZone,
		database.IntoTime(&b.CreatedAt), database.IntoTime(&b.UpdatedAt), database.IntoTime(&b.ArchivedAt), &b.PlayerCount)
}

// AddBatch saves a new batch if fn allows it, or reads the coach's batch with this id.
func (db *DB) AddBatch(ctx context.Context, b *team.Batch, fn func(team.Coach) error) error {
	return orSentBefore(db.Write(ctx, func(tx *Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: b.ID, New: true}); err != nil {
			return err
		}
		// Concurrent requests wait for this lock, so that MaxBatches holds.
		if _, err := tx.lockCoach(ctx, b.CoachID); err != nil {
			return fmt.Errorf("lock coach %s: %w", b.CoachID, err)
		}
		c, err := tx.TeamCoach(ctx, b.CoachID)
		if err != nil {
			return err
		}
		existing, err := tx.Batch(ctx, b.CoachID, b.ID)
		if err == nil {
			*b = *existing
			return nil
		} else if fault.KindOf(err) != fault.NotFound {
			return err
		}
		err = tx.QueryRow(ctx, `SELECT count(*) FROM batches WHERE coach_id = $1 AND archived_at IS NULL`, b.CoachID).Scan(&c.OpenBatches)
		if err != nil {
			return fmt.Errorf("count batches: %w", err)
		}
		if err := fn(c); err != nil {
			return err
		}
		schedule, err := json.Marshal(b.Schedule)
		if err != nil {
			return err
		}
		err = tx.DeferOne(ctx, `
			INSERT INTO batches (id, coach_id, version, name, sport, venue, schedule, time_zone, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			b.ID, b.CoachID, b.Version, b.Name, database.Text(b.Sport), database.Text(b.Venue), string(schedule), b.TimeZone, database.Micros(b.CreatedAt), database.Micros(b.UpdatedAt))
		if err != nil {
			return fmt.Errorf("add batch: %w", err)
		}
		return nil
	}))
}

// TeamCoach reads what the rules of package team need to know of a coach.
func (tx *Tx) TeamCoach(ctx context.Context, coachID string) (team.Coach, error) {
	var c team.Coach
	err := tx.QueryRow(ctx, `SELECT tier, time_zone FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&c.Tier), database.IntoText(&c.TimeZone))
	if database.IsNoRows(err) {
		return c, auth.ErrSessionEnded() // the account has closed since the session was read
	}
	c.TimeZone = tx.db.options.Settings.zoneOf(c.TimeZone)
	return c, err
}

// Batch returns a batch of a coach, or not_found.
func (db *DB) Batch(ctx context.Context, coachID, id string) (*team.Batch, error) {
	return batchOf(ctx, db.sql, coachID, id)
}

func (tx *Tx) Batch(ctx context.Context, coachID, id string) (*team.Batch, error) {
	return batchOf(ctx, tx, coachID, id)
}

func batchOf(ctx context.Context, q database.Querier, coachID, id string) (*team.Batch, error) {
	b, err := scanBatch(q.QueryRow(ctx, batchSelect+`WHERE b.coach_id = $1 AND b.id = $2`, coachID, id))
	if database.IsNoRows(err) {
		return nil, fault.Missing()
	}
	return b, err
}

// Batches lists the open or the archived batches of a coach, newest first.
func (db *DB) Batches(ctx context.Context, coachID string, archived bool, after string, limit int) ([]*team.Batch, error) {
	return BatchesOf(ctx, db.sql, coachID, archived, after, limit)
}

// BatchNames lists the newest open batches of a coach by id and name.
func (db *DB) BatchNames(ctx context.Context, coachID string, limit int) ([]team.BatchName, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT b.id, b.name FROM batches b WHERE b.coach_id = $1 AND b.archived_at IS NULL ORDER BY b.id DESC LIMIT $2`, coachID, limit)
	return database.Collect(rs, err, func(s database.Scanner) (n team.BatchName, err error) { return n, s.Scan(&n.ID, &n.Name) })
}

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

// UpdateBatch loads a batch, lets fn change it, and saves it unless it was changed
// meanwhile. fn may run more than once.
func (db *DB) UpdateBatch(ctx context.Context, coachID, id string, fn func(*team.Batch, team.Coach) error) error {
	return db.Write(ctx, func(tx *Tx) error {
		b, err := tx.Batch(ctx, coachID, id)
		if err != nil {
			return err
		}
		c, err := tx.TeamCoach(ctx, coachID)
		if err != nil {
			return err
		}
		if err := fn(b, c); err != nil {
			return err
		}
		schedule, err := json.Marshal(b.Schedule)
		if err != nil {
			return err
		}
		err = tx.DeferOne(ctx, `
			UPDATE batches SET version = version + 1, name = $4, sport = $5, venue = $6, schedule = $7, time_zone = $8, updated_at = $9, archived_at = $10
			WHERE coach_id = $1 AND id = $2 AND version = $3`,
			coachID, id, b.Version, b.Name, database.Text(b.Sport), database.Text(b.Venue), string(schedule), b.TimeZone, database.Micros(b.UpdatedAt), database.Micros(b.ArchivedAt))
		if err != nil {
			return fmt.Errorf("save batch %s: %w", id, err)
		}
		b.Version++
		return nil
	})
}

// JoinBatch adds a player to a batch, if fn allows it. It does nothing if the player is in
// the batch. fn may run more than once.
//
// Lock order: the player, then the batch. A concurrent removal of the player waits and then
// ends the membership.
func (db *DB) JoinBatch(ctx context.Context, coachID, id, playerID string, fn func(*team.Batch, team.Coach) error) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.lockPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		b, err := tx.LockBatch(ctx, coachID, id)
		if err != nil {
			return err
		}
		in, err := tx.inBatch(ctx, id, playerID)
		if err != nil {
			return err
		}
		if in {
			return b.CheckOpen()
		}
		c, err := tx.TeamCoach(ctx, coachID)
		if err != nil {
			return err
		}
		if err := fn(b, c); err != nil {
			return err
		}
		return tx.joinBatch(ctx, coachID, id, playerID)
	})
}

// LeaveBatch takes a player out of a batch, if fn allows it. It does nothing if the player
// is not in the batch. fn may run more than once.
func (db *DB) LeaveBatch(ctx context.Context, coachID, id, playerID string, fn func(*team.Batch) error) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.lockPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		b, err := tx.LockBatch(ctx, coachID, id)
		if err != nil {
			return err
		}
		if err := fn(b); err != nil {
			return err
		}
		return tx.Defer(ctx, `
			UPDATE batch_players SET left_at = $4 WHERE coach_id = $1 AND batch_id = $2 AND player_id = $3 AND left_at IS NULL`,
			coachID, id, playerID, database.Micros(tx.Now))
	})
}

// lockPlayer locks a live player of a coach until the transaction ends, or returns not_found.
func (tx *Tx) lockPlayer(ctx context.Context, coachID, playerID string) error {
	var one int
	err := tx.QueryRow(ctx, `
		UPDATE players SET version = version WHERE id = $1 AND coach_id = $2 AND deleted_at IS NULL RETURNING 1`, playerID, coachID).Scan(&one)
	if database.IsNoRows(err) {
		return fault.Missing()
	}
	return err
}

// LockBatch locks a batch until the transaction ends, so that no other transaction archives
// it or changes its players and attendance, and reads it; or returns not_found.
func (tx *Tx) LockBatch(ctx context.Context, coachID, id string) (*team.Batch, error) {
	if err := tx.Defer(ctx, `UPDATE batches SET version = version WHERE coach_id = $1 AND id = $2`, coachID, id); err != nil {
		return nil, err
	}
	return tx.Batch(ctx, coachID, id)
}

func (tx *Tx) inBatch(ctx context.Context, id, playerID string) (in bool, err error) {
	err = tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM batch_players WHERE batch_id = $1 AND player_id = $2 AND left_at IS NULL)`, id, playerID).Scan(&in)
	return in, err
}

// joinBatch adds a player to a batch that is locked. A player who left within team.RejoinWithin
// continues the membership.
func (tx *Tx) joinBatch(ctx context.Context, coachID, id, playerID string) error {
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

// BatchPlayers lists the players of a batch by name, or returns not_found.
func (db *DB) BatchPlayers(ctx context.Context, coachID, id string) (players []team.Membership, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		if _, err := tx.Batch(ctx, coachID, id); err != nil {
			return err
		}
		players, err = tx.BatchPlayers(ctx, coachID, id)
		return err
	})
	return players, err
}

func (tx *Tx) BatchPlayers(ctx context.Context, coachID, id string) ([]team.Membership, error) {
	rs, err := tx.Query(ctx, `
		SELECT m.player_id, p.student_name, m.joined_at
		FROM batch_players m JOIN players p ON p.id = m.player_id
		WHERE m.coach_id = $1 AND m.batch_id = $2 AND m.left_at IS NULL`, coachID, id)
	players, err := database.Collect(rs, err, func(s database.Scanner) (m team.Membership, err error) {
		return m, s.Scan(&m.PlayerID, &m.StudentName, database.IntoTime(&m.JoinedAt))
	})
	slices.SortFunc(players, func(a, b team.Membership) int {
		if n := strings.Compare(strings.ToLower(a.StudentName), strings.ToLower(b.StudentName)); n != 0 {
			return n
		}
		return strings.Compare(a.PlayerID, b.PlayerID)
	})
	return players, err
}

// Schedule lists the open batches of a player of the calling guardian or student, newest first.
func (db *DB) Schedule(ctx context.Context, by actor.Actor, playerID string) (link *team.Link, batches []*team.Batch, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		if link, err = tx.Link(ctx, by, playerID, team.App); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, batchSelect+`
			JOIN batch_players i ON i.batch_id = b.id AND i.left_at IS NULL
			WHERE i.player_id = $1 AND b.archived_at IS NULL ORDER BY i.batch_id DESC LIMIT $2`, playerID, team.MaxBatches)
		batches, err = database.Collect(rs, err, scanBatch)
		return err
	})
	return link, batches, err
}
