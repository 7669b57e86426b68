package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/team"
)

var _ team.RecordStore = (*DB)(nil)

// AddMeasurement saves a measurement of the coach's player and notifies the parties that
// have progress tracking.
func (db *DB) AddMeasurement(ctx context.Context, m *team.Measurement, check func(tier string) error) error {
	r := team.AddedRecord{Type: event.ProgressAdded, ID: m.ID, CoachID: m.CoachID, PlayerID: m.PlayerID}
	return db.addRecord(ctx, r, check, func(tx *tx) (added bool, err error) {
		m.CreatedAt, m.UpdatedAt = tx.Now, tx.Now
		added, err = tx.insert(ctx, `
			INSERT INTO measurements (id, coach_id, player_id, metric, value, unit, measured_on, version, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8)
			ON CONFLICT (id) DO NOTHING`,
			m.ID, m.CoachID, m.PlayerID, m.Metric, m.Value, m.Unit, m.On, micros(tx.Now))
		if err == nil && !added {
			*m, _, err = measurement(ctx, tx, m.CoachID, m.PlayerID, m.ID)
		}
		return added, err
	})
}

// insert runs an INSERT and reports whether it added a row.
func (tx *tx) insert(ctx context.Context, query string, args ...any) (added bool, err error) {
	n, err := tx.Exec(ctx, query, args...)
	return n == 1, err
}

// addRecord saves a record of the coach's player, if check allows it for the coach's stored
// tier, and notifies the parties. The lock of the player keeps the consents unchanged until
// the commit.
func (db *DB) addRecord(ctx context.Context, r team.AddedRecord, check func(tier string) error, insert func(*tx) (added bool, err error)) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.complete(ctx, idempotency.Work{ID: r.ID, New: true}); err != nil {
			return err
		}
		var guardian, student, tier string
		err := tx.QueryRow(ctx, `
			SELECT p.student_name, p.guardian_id, p.student_id, (SELECT c.name FROM coaches c WHERE c.id = p.coach_id),
				(SELECT c.tier FROM coaches c WHERE c.id = p.coach_id)
			FROM players p WHERE p.id = $1 AND p.coach_id = $2 AND p.deleted_at IS NULL `+tx.ForShare("p"), r.PlayerID, r.CoachID).
			Scan(&r.StudentName, intoText(&guardian), intoText(&student), intoText(&r.CoachName), intoText(&tier))
		if err != nil {
			return orMissing(err, "read player "+r.PlayerID)
		}
		if err := check(tier); err != nil {
			return err
		}
		added, err := insert(tx)
		if err != nil {
			return fmt.Errorf("save a record of player %s: %w", r.PlayerID, err)
		}
		if !added {
			return nil
		}
		enabled, err := tx.enabled(ctx, []string{r.PlayerID})
		if err != nil {
			return err
		}
		r.Accounts = map[actor.Role]string{actor.Guardian: guardian, actor.Student: student}
		return tx.notify(ctx, r.Events(enabled))
	})
}

const measurementColumns = `id, coach_id, player_id, metric, value, unit, measured_on, created_at, updated_at`

func scanMeasurement(s database.Scanner) (m team.Measurement, err error) {
	return m, s.Scan(measurementDest(&m)...)
}

func measurementDest(m *team.Measurement) []any {
	return []any{&m.ID, &m.CoachID, &m.PlayerID, &m.Metric, &m.Value, &m.Unit, &m.On, intoTime(&m.CreatedAt), intoTime(&m.UpdatedAt)}
}

// Measurements lists the measurements of a coach's player, the newest day first.
func (db *DB) Measurements(ctx context.Context, coachID, playerID, metric string, page team.RecordPage) ([]team.Measurement, error) {
	var list []team.Measurement
	err := db.view(ctx, func(tx *tx) (err error) {
		if err := tx.checkPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		list, err = measurements(ctx, tx, coachID, playerID, metric, 0, page)
		return err
	})
	return list, err
}

// MeasurementsFor lists the measurements of a player that a guardian or student may see now.
func (db *DB) MeasurementsFor(ctx context.Context, by actor.Actor, playerID, metric string, page team.RecordPage) ([]team.Measurement, error) {
	var list []team.Measurement
	err := db.view(ctx, func(tx *tx) error {
		l, err := tx.link(ctx, by, playerID, team.ProgressTracking)
		if err != nil {
			return err
		}
		since := sinceMicros(team.VisibleSince(l.ApprovedAt, tx.db.options.Settings.WholeHistory))
		list, err = measurements(ctx, tx, l.CoachID, playerID, metric, since, page)
		return err
	})
	return list, err
}

// measurements lists the measurements that were added at a time or later.
func measurements(ctx context.Context, q database.Querier, coachID, playerID, metric string, since int64, page team.RecordPage) ([]team.Measurement, error) {
	day, id := page.Day, page.ID
	if day == "" {
		day, id = lastDate, lastID
	}
	var rs *database.Rows
	var err error
	if metric == "" {
		rs, err = q.Query(ctx, `
			SELECT `+measurementColumns+` FROM measurements
			WHERE coach_id = $1 AND player_id = $2 AND (measured_on, id) < ($3, $4) AND created_at >= $5
			ORDER BY measured_on DESC, id DESC LIMIT $6`, coachID, playerID, day, id, since, page.Limit)
	} else {
		rs, err = q.Query(ctx, `
			SELECT `+measurementColumns+` FROM measurements
			WHERE coach_id = $1 AND player_id = $2 AND metric = $7 AND (measured_on, id) < ($3, $4) AND created_at >= $5
			ORDER BY measured_on DESC, id DESC LIMIT $6`, coachID, playerID, day, id, since, page.Limit, metric)
	}
	list, err := database.Collect(rs, err, scanMeasurement)
	if err != nil {
		return nil, fmt.Errorf("list measurements: %w", err)
	}
	return list, nil
}

// checkPlayer returns not_found unless the coach has the player.
func (tx *tx) checkPlayer(ctx context.Context, coachID, playerID string) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM players WHERE id = $1 AND coach_id = $2 AND deleted_at IS NULL`, playerID, coachID).Scan(&one)
	return orMissing(err, "read player "+playerID)
}

// Measurement returns a measurement of a coach's player, or not_found.
func (db *DB) Measurement(ctx context.Context, coachID, playerID, id string) (m team.Measurement, err error) {
	return m, db.view(ctx, func(tx *tx) (err error) {
		if err := tx.checkPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		m, _, err = measurement(ctx, tx, coachID, playerID, id)
		return err
	})
}

func measurement(ctx context.Context, q database.Querier, coachID, playerID, id string) (m team.Measurement, version int64, err error) {
	err = q.QueryRow(ctx, `
		SELECT `+measurementColumns+`, version FROM measurements WHERE id = $1 AND coach_id = $2 AND player_id = $3`, id, coachID, playerID).
		Scan(append(measurementDest(&m), &version)...)
	if err != nil {
		return m, 0, orMissing(err, "read measurement "+id)
	}
	return m, version, nil
}

// UpdateMeasurement lets fn change a measurement and saves it.
func (db *DB) UpdateMeasurement(ctx context.Context, coachID, playerID, id string, fn func(*team.Measurement) error) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.checkPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		m, version, err := measurement(ctx, tx, coachID, playerID, id)
		if err != nil {
			return err
		}
		m.UpdatedAt = tx.Now
		if err := fn(&m); err != nil {
			return err
		}
		return tx.DeferOne(ctx, `
			UPDATE measurements SET metric = $3, value = $4, unit = $5, measured_on = $6, updated_at = $7, version = version + 1
			WHERE id = $1 AND version = $2`, id, version, m.Metric, m.Value, m.Unit, m.On, micros(m.UpdatedAt))
	})
}

// DeleteMeasurement deletes a measurement, or returns not_found.
func (db *DB) DeleteMeasurement(ctx context.Context, coachID, playerID, id string) error {
	return db.deleteRecord(ctx, coachID, playerID, `DELETE FROM measurements WHERE id = $1 AND coach_id = $2 AND player_id = $3`, id)
}

func (db *DB) deleteRecord(ctx context.Context, coachID, playerID, query, id string) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.checkPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, query, id, coachID, playerID)
		if err != nil {
			return fmt.Errorf("delete record %s: %w", id, err)
		}
		if n == 1 {
			return nil
		}
		return fault.Missing()
	})
}
