package progress

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Report is a coach's text about the performance of a player from a first to a last day.
type Report struct {
	ID, CoachID, PlayerID string
	Title, Text           string
	From, To              team.Date
	Version               int64
	CreatedAt, UpdatedAt  time.Time
}

const reportColumns = `id, coach_id, player_id, title, body, first_day, last_day, version, created_at, updated_at`

func scanReport(row database.Scanner) (r Report, err error) {
	return r, row.Scan(&r.ID, &r.CoachID, &r.PlayerID, &r.Title, &r.Text, &r.From, &r.To, &r.Version, database.IntoTime(&r.CreatedAt), database.IntoTime(&r.UpdatedAt))
}

func readReport(ctx context.Context, q database.Querier, coachID, playerID, id string) (Report, error) {
	r, err := scanReport(q.QueryRow(ctx, `
		SELECT `+reportColumns+` FROM performance_reports WHERE id = $1 AND coach_id = $2 AND player_id = $3`, id, coachID, playerID))
	return r, database.OrMissing(err, "read report "+id)
}

func insertReport(ctx context.Context, tx *store.Tx, r Report) (added bool, err error) {
	n, err := tx.Exec(ctx, `
		INSERT INTO performance_reports (`+reportColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING`,
		r.ID, r.CoachID, r.PlayerID, r.Title, r.Text, string(r.From), string(r.To), r.Version, database.Micros(r.CreatedAt), database.Micros(r.UpdatedAt))
	return n == 1, err
}

// AddReport adds a report about a player of the calling coach, and notifies the parties that have
// performance reports. The id of a report works as in Measure.
func (s *Service) AddReport(ctx context.Context, by actor.Actor, r Report) (saved Report, err error) {
	r.CoachID = by.AccountID
	if r.ID == "" {
		r.ID = s.NewID()
	}
	err = s.add(ctx, event.Event{Type: event.ReportAdded, CoachID: r.CoachID, PlayerID: r.PlayerID, RecordID: r.ID}, func(tx *store.Tx) (added bool, err error) {
		saved = r
		saved.Version, saved.CreatedAt, saved.UpdatedAt = 1, tx.Now, tx.Now
		if added, err = insertReport(ctx, tx, saved); err == nil && !added {
			saved, err = readReport(ctx, tx, r.CoachID, r.PlayerID, r.ID)
		}
		return added, err
	})
	if err == nil && (saved.Title != r.Title || saved.Text != r.Text || saved.From != r.From || saved.To != r.To) {
		err = team.ErrSentBefore()
	}
	return saved, err
}

// Reports lists the reports about a player before the one with an id, newest first.
func (s *Service) Reports(ctx context.Context, by actor.Actor, playerID, before string, limit int) (list []Report, err error) {
	err = s.view(ctx, by, playerID, team.PerformanceReports, func(tx *store.Tx, coachID string, since int64) error {
		rs, err := tx.Query(ctx, `
			SELECT `+reportColumns+` FROM performance_reports
			WHERE coach_id = $1 AND player_id = $2 AND id < $3 AND created_at >= $4
			ORDER BY id DESC LIMIT $5`, coachID, playerID, database.Before(before), since, limit)
		if list, err = database.Collect(rs, err, scanReport); err != nil {
			return fmt.Errorf("list reports: %w", err)
		}
		return nil
	})
	return list, err
}

// Report returns a report of the calling coach.
func (s *Service) Report(ctx context.Context, by actor.Actor, playerID, id string) (Report, error) {
	return readReport(ctx, s.DB, by.AccountID, playerID, id)
}

// EditReport changes a report of the calling coach.
func (s *Service) EditReport(ctx context.Context, by actor.Actor, playerID, id string, patch ReportPatch) (r Report, err error) {
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if r, err = readReport(ctx, tx, by.AccountID, playerID, id); err != nil {
			return err
		}
		patch.apply(&r)
		if code, detail := r.checkPeriod(); code != "" {
			return fault.Validation([]fault.Field{{Pointer: "/to", Code: code, Detail: detail}})
		}
		r.UpdatedAt = tx.Now
		return tx.DeferOne(ctx, `
			UPDATE performance_reports SET title = $3, body = $4, first_day = $5, last_day = $6, updated_at = $7, version = version + 1
			WHERE id = $1 AND version = $2`, id, r.Version, r.Title, r.Text, string(r.From), string(r.To), database.Micros(r.UpdatedAt))
	})
	return r, err
}

// DeleteReport deletes a report of the calling coach.
func (s *Service) DeleteReport(ctx context.Context, by actor.Actor, playerID, id string) error {
	return s.remove(ctx, by, "report", playerID, id, func(tx *store.Tx) (any, error) {
		return scanReport(tx.QueryRow(ctx, `
			DELETE FROM performance_reports WHERE id = $1 AND coach_id = $2 AND player_id = $3 RETURNING `+reportColumns, id, by.AccountID, playerID))
	})
}

// RestoreReport undoes DeleteReport.
func (s *Service) RestoreReport(ctx context.Context, by actor.Actor, playerID, id string) error {
	return restore(ctx, s, by, "report", playerID, id, insertReport)
}

// AllReports lists the reports about all players of the calling coach after the given one, by player.
func (s *Service) AllReports(ctx context.Context, by actor.Actor, after Report, limit int) ([]Report, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT `+reportColumns+` FROM performance_reports
		WHERE coach_id = $1 AND (player_id, id) > ($2, $3)
		ORDER BY player_id, id LIMIT $4`, by.AccountID, after.PlayerID, after.ID, limit)
	return database.Collect(rs, err, scanReport)
}
