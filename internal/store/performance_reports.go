package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/team"
)

// AddReport saves a report about the coach's player and notifies the parties that have
// performance reports.
func (db *DB) AddReport(ctx context.Context, r *team.Report, check func(tier string) error) error {
	record := team.AddedRecord{Type: event.ReportAdded, ID: r.ID, CoachID: r.CoachID, PlayerID: r.PlayerID}
	return db.addRecord(ctx, record, check, func(tx *Tx) (added bool, err error) {
		r.CreatedAt, r.UpdatedAt = tx.Now, tx.Now
		added, err = tx.insert(ctx, `
			INSERT INTO performance_reports (id, coach_id, player_id, title, body, first_day, last_day, version, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8)
			ON CONFLICT (id) DO NOTHING`,
			r.ID, r.CoachID, r.PlayerID, r.Title, r.Text, r.From, r.To, database.Micros(tx.Now))
		if err == nil && !added {
			*r, _, err = report(ctx, tx, r.CoachID, r.PlayerID, r.ID)
		}
		return added, err
	})
}

func scanReport(s database.Scanner) (r team.Report, err error) { return r, s.Scan(reportDest(&r)...) }

const reportColumns = `id, coach_id, player_id, title, body, first_day, last_day, created_at, updated_at`

func reportDest(r *team.Report) []any {
	return []any{&r.ID, &r.CoachID, &r.PlayerID, &r.Title, &r.Text, &r.From, &r.To, database.IntoTime(&r.CreatedAt), database.IntoTime(&r.UpdatedAt)}
}

// Reports lists the reports about a coach's player, newest first.
func (db *DB) Reports(ctx context.Context, coachID, playerID string, page team.Page) ([]team.Report, error) {
	var list []team.Report
	err := db.viewRecords(ctx, coachID, playerID, func(tx *Tx) (err error) {
		list, err = reports(ctx, tx, coachID, playerID, 0, page)
		return err
	})
	return list, err
}

// ReportsFor lists the reports about a player that a guardian or student may see now.
func (db *DB) ReportsFor(ctx context.Context, by actor.Actor, playerID string, page team.Page) ([]team.Report, error) {
	var list []team.Report
	err := db.viewRecordsFor(ctx, by, playerID, team.PerformanceReports, func(tx *Tx, coachID string, since int64) (err error) {
		list, err = reports(ctx, tx, coachID, playerID, since, page)
		return err
	})
	return list, err
}

// reports lists the reports that were added at a time or later.
func reports(ctx context.Context, q database.Querier, coachID, playerID string, since int64, page team.Page) ([]team.Report, error) {
	rs, err := q.Query(ctx, `
		SELECT `+reportColumns+` FROM performance_reports
		WHERE coach_id = $1 AND player_id = $2 AND id < $3 AND created_at >= $4
		ORDER BY id DESC LIMIT $5`, coachID, playerID, database.Before(page.After), since, page.Limit)
	list, err := database.Collect(rs, err, scanReport)
	if err != nil {
		return nil, fmt.Errorf("list reports: %w", err)
	}
	return list, nil
}

// Report returns a report about a coach's player, or not_found.
func (db *DB) Report(ctx context.Context, coachID, playerID, id string) (r team.Report, err error) {
	return r, db.viewRecords(ctx, coachID, playerID, func(tx *Tx) (err error) {
		r, _, err = report(ctx, tx, coachID, playerID, id)
		return err
	})
}

func report(ctx context.Context, q database.Querier, coachID, playerID, id string) (r team.Report, version int64, err error) {
	err = q.QueryRow(ctx, `
		SELECT `+reportColumns+`, version FROM performance_reports WHERE id = $1 AND coach_id = $2 AND player_id = $3`, id, coachID, playerID).
		Scan(append(reportDest(&r), &version)...)
	if err != nil {
		return r, 0, database.OrMissing(err, "read report "+id)
	}
	return r, version, nil
}

// UpdateReport lets fn change a report and saves it.
func (db *DB) UpdateReport(ctx context.Context, coachID, playerID, id string, fn func(*team.Report) error) error {
	return db.changeRecord(ctx, coachID, playerID, func(tx *Tx) error {
		r, version, err := report(ctx, tx, coachID, playerID, id)
		if err != nil {
			return err
		}
		r.UpdatedAt = tx.Now
		if err := fn(&r); err != nil {
			return err
		}
		return tx.DeferOne(ctx, `
			UPDATE performance_reports SET title = $3, body = $4, first_day = $5, last_day = $6, updated_at = $7, version = version + 1
			WHERE id = $1 AND version = $2`, id, version, r.Title, r.Text, r.From, r.To, database.Micros(r.UpdatedAt))
	})
}

// DeleteReport deletes a report, or returns not_found. RestoreReport undoes it.
func (db *DB) DeleteReport(ctx context.Context, coachID, playerID, id string) error {
	return removeRecord(ctx, db, "report", coachID, playerID, id, `DELETE FROM performance_reports WHERE id = $1 AND version = $2`, func(tx *Tx) (team.Report, int64, error) {
		return report(ctx, tx, coachID, playerID, id)
	})
}

// RestoreReport adds a report again as it was before DeleteReport.
func (db *DB) RestoreReport(ctx context.Context, coachID, playerID, id string) error {
	return restoreRecord(ctx, db, "report", coachID, playerID, id, func(tx *Tx, r removed[team.Report]) error {
		return tx.DeferOne(ctx, `
			INSERT INTO performance_reports (id, coach_id, player_id, title, body, first_day, last_day, version, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			r.Record.ID, coachID, playerID, r.Record.Title, r.Record.Text, r.Record.From, r.Record.To, r.Version,
			database.Micros(r.Record.CreatedAt), database.Micros(r.Record.UpdatedAt))
	})
}
