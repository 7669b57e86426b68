package progress

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// NewestMeasurements returns the newest measurement of each player that the calling guardian or student may see.
func (s *Service) NewestMeasurements(ctx context.Context, by actor.Actor, playerIDs []string) (newest map[string]Measurement, err error) {
	err = s.newest(ctx, by, playerIDs, team.ProgressTracking, func(tx *store.Tx, in string, args []any) error {
		newest = map[string]Measurement{}
		rs, err := tx.Query(ctx, `
			SELECT `+measurementColumns+` FROM measurements WHERE id IN (
				SELECT (SELECT m.id FROM measurements m WHERE m.coach_id = p.coach_id AND m.player_id = p.id AND m.created_at >= a.changed_at * CAST($1 AS BIGINT)
					ORDER BY m.measured_on DESC, m.id DESC LIMIT 1)
				FROM players p JOIN parties a ON a.player_id = p.id AND a.role = $2 AND a.account_id = $3 WHERE p.id IN (`+in+`))`, args...)
		return database.Each(rs, err, func(row database.Scanner) error {
			m, err := scanMeasurement(row)
			newest[m.PlayerID] = m
			return err
		})
	})
	return newest, err
}

// NewestReports returns the newest report of each player that the calling guardian or student may see.
func (s *Service) NewestReports(ctx context.Context, by actor.Actor, playerIDs []string) (newest map[string]Report, err error) {
	err = s.newest(ctx, by, playerIDs, team.PerformanceReports, func(tx *store.Tx, in string, args []any) error {
		newest = map[string]Report{}
		rs, err := tx.Query(ctx, `
			SELECT `+reportColumns+` FROM performance_reports WHERE id IN (
				SELECT (SELECT r.id FROM performance_reports r WHERE r.coach_id = p.coach_id AND r.player_id = p.id AND r.created_at >= a.changed_at * CAST($1 AS BIGINT)
					ORDER BY r.id DESC LIMIT 1)
				FROM players p JOIN parties a ON a.player_id = p.id AND a.role = $2 AND a.account_id = $3 WHERE p.id IN (`+in+`))`, args...)
		return database.Each(rs, err, func(row database.Scanner) error {
			r, err := scanReport(row)
			newest[r.PlayerID] = r
			return err
		})
	})
	return newest, err
}

// newest runs read for the players who have the service: with the parameters of their ids, and all arguments.
func (s *Service) newest(ctx context.Context, by actor.Actor, playerIDs []string, service team.AppService, read func(tx *store.Tx, in string, args []any) error) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		ids, err := s.Consent.Granted(ctx, tx, by, playerIDs, service)
		if err != nil || len(ids) == 0 {
			return err
		}
		args := append([]any{s.Consent.SinceFactor(), string(by.Role), by.AccountID}, database.TextArgs(ids)...)
		if err := read(tx, database.Params(4, len(ids)), args); err != nil {
			return fmt.Errorf("read the newest records: %w", err)
		}
		return nil
	})
}
