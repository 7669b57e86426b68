package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/team"
)

var _ team.RecordStore = (*DB)(nil)

// AddMeasurement saves a measurement of the coach's player and notifies the parties that
// have progress tracking.
func (db *DB) AddMeasurement(ctx context.Context, m *team.Measurement, check func(tier string) error) error {
	r := team.AddedRecord{Type: event.ProgressAdded, ID: m.ID, CoachID: m.CoachID, PlayerID: m.PlayerID}
	return db.addRecord(ctx, r, check, func(tx *Tx) (added bool, err error) {
		m.CreatedAt, m.UpdatedAt = tx.Now, tx.Now
		added, err = tx.insert(ctx, `
			INSERT INTO measurements (id, coach_id, player_id, metric, value, unit, measured_on, version, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8)
			ON CONFLICT (id) DO NOTHING`,
			m.ID, m.CoachID, m.PlayerID, m.Metric, m.Value, m.Unit, m.On, database.Micros(tx.Now))
		if err == nil && !added {
			*m, _, err = measurement(ctx, tx, m.CoachID, m.PlayerID, m.ID)
		}
		return added, err
	})
}

const measurementColumns = `id, coach_id, player_id, metric, value, unit, measured_on, created_at, updated_at`

func scanMeasurement(s database.Scanner) (m team.Measurement, err error) {
	return m, s.Scan(measurementDest(&m)...)
}

func measurementDest(m *team.Measurement) []any {
	return []any{&m.ID, &m.CoachID, &m.PlayerID, &m.Metric, &m.Value, &m.Unit, &m.On, database.IntoTime(&m.CreatedAt), database.IntoTime(&m.UpdatedAt)}
}

// Measurements lists the measurements of a coach's player, the newest day first.
func (db *DB) Measurements(ctx context.Context, coachID, playerID, metric string, page team.RecordPage) ([]team.Measurement, error) {
	var list []team.Measurement
	err := db.viewRecords(ctx, coachID, playerID, func(tx *Tx) (err error) {
		list, err = measurements(ctx, tx, coachID, playerID, metric, 0, page)
		return err
	})
	return list, err
}

// MeasurementsFor lists the measurements of a player that a guardian or student may see now.
func (db *DB) MeasurementsFor(ctx context.Context, by actor.Actor, playerID, metric string, page team.RecordPage) ([]team.Measurement, error) {
	var list []team.Measurement
	err := db.viewRecordsFor(ctx, by, playerID, team.ProgressTracking, func(tx *Tx, coachID string, since int64) (err error) {
		list, err = measurements(ctx, tx, coachID, playerID, metric, since, page)
		return err
	})
	return list, err
}

// measurements lists the measurements that were added at a time or later.
func measurements(ctx context.Context, q database.Querier, coachID, playerID, metric string, since int64, page team.RecordPage) ([]team.Measurement, error) {
	day, id := page.Day, page.ID
	if day == "" {
		day, id = database.LastDate, database.LastID
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

// Measurement returns a measurement of a coach's player, or not_found.
func (db *DB) Measurement(ctx context.Context, coachID, playerID, id string) (m team.Measurement, err error) {
	return m, db.viewRecords(ctx, coachID, playerID, func(tx *Tx) (err error) {
		m, _, err = measurement(ctx, tx, coachID, playerID, id)
		return err
	})
}

func measurement(ctx context.Context, q database.Querier, coachID, playerID, id string) (m team.Measurement, version int64, err error) {
	err = q.QueryRow(ctx, `
		SELECT `+measurementColumns+`, version FROM measurements WHERE id = $1 AND coach_id = $2 AND player_id = $3`, id, coachID, playerID).
		Scan(append(measurementDest(&m), &version)...)
	if err != nil {
		return m, 0, database.OrMissing(err, "read measurement "+id)
	}
	return m, version, nil
}

// UpdateMeasurement lets fn change a measurement and saves it.
func (db *DB) UpdateMeasurement(ctx context.Context, coachID, playerID, id string, fn func(*team.Measurement) error) error {
	return db.changeRecord(ctx, coachID, playerID, func(tx *Tx) error {
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
			WHERE id = $1 AND version = $2`, id, version, m.Metric, m.Value, m.Unit, m.On, database.Micros(m.UpdatedAt))
	})
}

// DeleteMeasurement deletes a measurement, or returns not_found. RestoreMeasurement undoes it.
func (db *DB) DeleteMeasurement(ctx context.Context, coachID, playerID, id string) error {
	return removeRecord(ctx, db, "measurement", coachID, playerID, id, `DELETE FROM measurements WHERE id = $1 AND version = $2`, func(tx *Tx) (team.Measurement, int64, error) {
		return measurement(ctx, tx, coachID, playerID, id)
	})
}

// RestoreMeasurement adds a measurement again as it was before DeleteMeasurement.
func (db *DB) RestoreMeasurement(ctx context.Context, coachID, playerID, id string) error {
	return restoreRecord(ctx, db, "measurement", coachID, playerID, id, func(tx *Tx, r removed[team.Measurement]) error {
		m := r.Record
		return tx.DeferOne(ctx, `
			INSERT INTO measurements (id, coach_id, player_id, metric, value, unit, measured_on, version, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			m.ID, coachID, playerID, m.Metric, m.Value, m.Unit, m.On, r.Version, database.Micros(m.CreatedAt), database.Micros(m.UpdatedAt))
	})
}
