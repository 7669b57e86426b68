package progress

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Measurement is one value of a player on a day, such as 12.4 s over 80 m.
type Measurement struct {
	ID, CoachID, PlayerID string
	Metric                string
	Value                 float64
	Unit                  string // may be empty
	On                    team.Date
	Version               int64
	CreatedAt, UpdatedAt  time.Time
}

// Text returns the value with its unit, without an exponent.
func (m Measurement) Text() string {
	if m.Unit == "" {
		return numberText(m.Value)
	}
	return numberText(m.Value) + "\u00a0" + m.Unit
}

const measurementColumns = `id, coach_id, player_id, metric, value, unit, measured_on, version, created_at, updated_at`

func scanMeasurement(row database.Scanner) (m Measurement, err error) {
	return m, row.Scan(&m.ID, &m.CoachID, &m.PlayerID, &m.Metric, &m.Value, &m.Unit, &m.On, &m.Version, database.IntoTime(&m.CreatedAt), database.IntoTime(&m.UpdatedAt))
}

func readMeasurement(ctx context.Context, q database.Querier, coachID, playerID, id string) (Measurement, error) {
	m, err := scanMeasurement(q.QueryRow(ctx, `
		SELECT `+measurementColumns+` FROM measurements WHERE id = $1 AND coach_id = $2 AND player_id = $3`, id, coachID, playerID))
	return m, database.OrMissing(err, "read measurement "+id)
}

func insertMeasurement(ctx context.Context, tx *store.Tx, m Measurement) (added bool, err error) {
	n, err := tx.Exec(ctx, `
		INSERT INTO measurements (`+measurementColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING`,
		m.ID, m.CoachID, m.PlayerID, m.Metric, m.Value, m.Unit, string(m.On), m.Version, database.Micros(m.CreatedAt), database.Micros(m.UpdatedAt))
	return n == 1, err
}

// Measure adds a measurement of a player of the calling coach, and notifies the parties that have
// progress tracking. A measurement that has an id keeps it, so that a form that is sent twice adds one;
// Measure returns idempotency_key_reused if the form had other content the first time.
func (s *Service) Measure(ctx context.Context, by actor.Actor, m Measurement) (saved Measurement, err error) {
	m.CoachID = by.AccountID
	if m.ID == "" {
		m.ID = s.NewID()
	}
	err = s.add(ctx, event.Event{Type: event.ProgressAdded, CoachID: m.CoachID, PlayerID: m.PlayerID, RecordID: m.ID}, func(tx *store.Tx) (added bool, err error) {
		saved = m
		saved.Version, saved.CreatedAt, saved.UpdatedAt = 1, tx.Now, tx.Now
		if added, err = insertMeasurement(ctx, tx, saved); err == nil && !added {
			saved, err = readMeasurement(ctx, tx, m.CoachID, m.PlayerID, m.ID)
		}
		return added, err
	})
	if err == nil && (saved.Metric != m.Metric || saved.Value != m.Value || saved.Unit != m.Unit || saved.On != m.On) {
		err = team.ErrSentBefore()
	}
	return saved, err
}

// Measurements lists the measurements of a player, or of one metric, the newest day first. after is
// the last one of the page before; the zero value starts with the newest.
func (s *Service) Measurements(ctx context.Context, by actor.Actor, playerID, metric string, after Measurement, limit int) (list []Measurement, err error) {
	if after.On == "" {
		after.On, after.ID = database.LastDate, database.LastID
	}
	err = s.view(ctx, by, playerID, team.ProgressTracking, func(tx *store.Tx, coachID string, since int64) error {
		var rs *database.Rows
		if metric == "" {
			rs, err = tx.Query(ctx, `
				SELECT `+measurementColumns+` FROM measurements
				WHERE coach_id = $1 AND player_id = $2 AND (measured_on, id) < ($3, $4) AND created_at >= $5
				ORDER BY measured_on DESC, id DESC LIMIT $6`, coachID, playerID, string(after.On), after.ID, since, limit)
		} else {
			rs, err = tx.Query(ctx, `
				SELECT `+measurementColumns+` FROM measurements
				WHERE coach_id = $1 AND player_id = $2 AND metric = $7 AND (measured_on, id) < ($3, $4) AND created_at >= $5
				ORDER BY measured_on DESC, id DESC LIMIT $6`, coachID, playerID, string(after.On), after.ID, since, limit, metric)
		}
		if list, err = database.Collect(rs, err, scanMeasurement); err != nil {
			return fmt.Errorf("list measurements: %w", err)
		}
		return nil
	})
	return list, err
}

// Measurement returns a measurement of the calling coach.
func (s *Service) Measurement(ctx context.Context, by actor.Actor, playerID, id string) (Measurement, error) {
	return readMeasurement(ctx, s.DB, by.AccountID, playerID, id)
}

// EditMeasurement changes a measurement of the calling coach.
func (s *Service) EditMeasurement(ctx context.Context, by actor.Actor, playerID, id string, patch MeasurementPatch) (m Measurement, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if m, err = readMeasurement(ctx, tx, by.AccountID, playerID, id); err != nil {
			return err
		}
		patch.apply(&m)
		m.UpdatedAt = tx.Now
		return tx.DeferOne(ctx, `
			UPDATE measurements SET metric = $3, value = $4, unit = $5, measured_on = $6, updated_at = $7, version = version + 1
			WHERE id = $1 AND version = $2`, id, m.Version, m.Metric, m.Value, m.Unit, string(m.On), database.Micros(m.UpdatedAt))
	})
	return m, err
}

// DeleteMeasurement deletes a measurement of the calling coach.
func (s *Service) DeleteMeasurement(ctx context.Context, by actor.Actor, playerID, id string) error {
	return s.remove(ctx, by, "measurement", playerID, id, func(tx *store.Tx) (any, error) {
		return scanMeasurement(tx.QueryRow(ctx, `
			DELETE FROM measurements WHERE id = $1 AND coach_id = $2 AND player_id = $3 RETURNING `+measurementColumns, id, by.AccountID, playerID))
	})
}

// RestoreMeasurement undoes DeleteMeasurement.
func (s *Service) RestoreMeasurement(ctx context.Context, by actor.Actor, playerID, id string) error {
	return restore(ctx, s, by, "measurement", playerID, id, insertMeasurement)
}

// AllMeasurements lists the measurements of all players of the calling coach after the given one, by
// player and day.
func (s *Service) AllMeasurements(ctx context.Context, by actor.Actor, after Measurement, limit int) ([]Measurement, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT `+measurementColumns+` FROM measurements
		WHERE coach_id = $1 AND (player_id, measured_on, id) > ($2, $3, $4)
		ORDER BY player_id, measured_on, id LIMIT $5`, by.AccountID, after.PlayerID, string(after.On), after.ID, limit)
	return database.Collect(rs, err, scanMeasurement)
}
