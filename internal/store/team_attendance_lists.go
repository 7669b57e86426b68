package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/team"
)

// Superseded lists the marks of a sheet that no longer count, oldest first, or returns
// not_found.
func (db *DB) Superseded(ctx context.Context, coachID, batchID string, date team.Date) (marks []team.PlayerMark, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		if _, err := tx.batch(ctx, coachID, batchID); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			SELECT m.player_id, p.student_name, m.mark, m.note, m.marked_at, m.recorded_at, m.account_id, m.session_id
			FROM superseded_marks m JOIN players p ON p.id = m.player_id
			WHERE m.batch_id = $1 AND m.date = $2 ORDER BY m.player_id, m.marked_at, m.mark`, batchID, string(date))
		marks, err = database.Collect(rs, err, func(row database.Scanner) (m team.PlayerMark, err error) {
			return m, row.Scan(&m.PlayerID, &m.StudentName, &m.Mark, database.IntoText(&m.Note), database.IntoTime(&m.MarkedAt), database.IntoTime(&m.RecordedAt), &m.Account, database.IntoText(&m.Session))
		})
		return err
	})
	return marks, err
}

// sheetColumns are the columns of a team.SheetSummary. scanSheet scans them.
const sheetColumns = `s.date, s.version, s.outside_schedule, s.present, s.absent, s.late, s.excused, s.updated_at`

func scanSheet(row database.Scanner) (team.SheetSummary, error) {
	var s team.SheetSummary
	var present, absent, late, excused int
	err := row.Scan(&s.Date, &s.Version, &s.OutsideSchedule, &present, &absent, &late, &excused, database.IntoTime(&s.UpdatedAt))
	s.Counts = team.Counts{team.Present: present, team.Absent: absent, team.Late: late, team.Excused: excused}
	return s, err
}

// Sheets lists the sheets of a batch, newest day first, or returns not_found.
func (db *DB) Sheets(ctx context.Context, coachID, batchID string, p team.Period, after team.Date, limit int) (sheets []team.SheetSummary, err error) {
	if after == "" {
		after = p.To.AddDays(1)
	}
	err = db.View(ctx, func(tx *Tx) error {
		if _, err := tx.batch(ctx, coachID, batchID); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			SELECT `+sheetColumns+` FROM attendance_sheets s
			WHERE s.batch_id = $1 AND s.date >= $2 AND s.date <= $3 AND s.date < $4
			ORDER BY s.date DESC LIMIT $5`, batchID, string(p.From), string(p.To), string(after), limit)
		sheets, err = database.Collect(rs, err, scanSheet)
		return err
	})
	return sheets, err
}

// PlayerAttendance lists the marks of a player, newest day first, with the totals of the
// period. It returns not_found for a player of another coach or family, and the error of
// team.Access for a party that does not have the app.
func (db *DB) PlayerAttendance(ctx context.Context, by actor.Actor, playerID string, p team.Period, after team.AttendanceKey, limit int) (a *team.PlayerAttendance, err error) {
	if after.Date == "" {
		after.Date = p.To.AddDays(1)
	}
	err = db.View(ctx, func(tx *Tx) error {
		if err := tx.mayReadPlayer(ctx, by, playerID); err != nil {
			return err
		}
		a = &team.PlayerAttendance{}
		rs, err := tx.Query(ctx, `
			SELECT m.batch_id, b.name, m.date, m.mark, m.note, m.marked_at, m.recorded_at, s.outside_schedule
			FROM attendance_marks m
			JOIN batches b ON b.id = m.batch_id
			JOIN attendance_sheets s ON s.batch_id = m.batch_id AND s.date = m.date
			WHERE m.player_id = $1 AND m.date >= $2 AND m.date <= $3 AND (m.date, m.batch_id) < ($4, $5)
			ORDER BY m.date DESC, m.batch_id DESC LIMIT $6`,
			playerID, string(p.From), string(p.To), string(after.Date), after.BatchID, limit)
		a.Marks, err = database.Collect(rs, err, func(row database.Scanner) (m team.AttendanceMark, err error) {
			m.PlayerID = playerID
			return m, row.Scan(&m.BatchID, &m.BatchName, &m.Date, &m.Mark, database.IntoText(&m.Note), database.IntoTime(&m.MarkedAt), database.IntoTime(&m.RecordedAt), &m.OutsideSchedule)
		})
		if err != nil {
			return fmt.Errorf("read attendance: %w", err)
		}
		return tx.countMonths(ctx, playerID, p, a)
	})
	return a, err
}

// mayReadPlayer returns not_found unless by may see the player, and the error of
// team.Access for a party that does not have the app.
func (tx *Tx) mayReadPlayer(ctx context.Context, by actor.Actor, playerID string) error {
	if by.Role != actor.Coach {
		_, err := tx.Link(ctx, by, playerID, team.App)
		return err
	}
	return tx.checkPlayer(ctx, by.AccountID, playerID)
}

// countMonths sets the totals of each month of the period, newest first.
func (tx *Tx) countMonths(ctx context.Context, playerID string, p team.Period, a *team.PlayerAttendance) error {
	rs, err := tx.Query(ctx, `
		SELECT substr(m.date, 1, 7), count(*) FILTER (WHERE m.mark = 'present'), count(*) FILTER (WHERE m.mark = 'absent'),
			count(*) FILTER (WHERE m.mark = 'late'), count(*) FILTER (WHERE m.mark = 'excused')
		FROM attendance_marks m WHERE m.player_id = $1 AND m.date >= $2 AND m.date <= $3
		GROUP BY substr(m.date, 1, 7)`, playerID, string(p.From), string(p.To))
	a.Months, err = database.Collect(rs, err, func(row database.Scanner) (team.MonthCounts, error) {
		var m team.MonthCounts
		var present, absent, late, excused int
		err := row.Scan(&m.Month, &present, &absent, &late, &excused)
		m.Counts = team.Counts{team.Present: present, team.Absent: absent, team.Late: late, team.Excused: excused}
		return m, err
	})
	if err != nil {
		return fmt.Errorf("count attendance: %w", err)
	}
	a.SortMonths()
	return nil
}

// Today lists the open batches of a coach, and the sheets of those that dates names.
func (db *DB) Today(ctx context.Context, coachID string, dates func([]*team.Batch) map[string]team.Date) (batches []*team.Batch, sheets map[string]team.SheetSummary, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		if batches, err = batchesOf(ctx, tx, coachID, false, "", team.MaxBatches); err != nil || len(batches) == 0 {
			return err
		}
		sheets = map[string]team.SheetSummary{}
		var rows [][]any
		for id, date := range dates(batches) {
			rows = append(rows, []any{id, string(date)})
		}
		values, args := valuesTable(rows, "TEXT", "TEXT")
		rs, err := tx.Query(ctx, `
			SELECT s.batch_id, `+sheetColumns+`
			FROM `+values+` v JOIN attendance_sheets s ON s.batch_id = v.column1 AND s.date = v.column2`, args...)
		_, err = database.Collect(rs, err, func(row database.Scanner) (struct{}, error) {
			var id string
			s, err := scanSheet(scannerWith{Scanner: row, first: []any{&id}})
			sheets[id] = s
			return struct{}{}, err
		})
		return err
	})
	return batches, sheets, err
}

// CoachAttendance lists the marks of all batches of a coach, by batch, day and player.
func (db *DB) CoachAttendance(ctx context.Context, coachID string, after team.CoachAttendanceKey, limit int) ([]team.AttendanceMark, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT m.batch_id, b.name, m.date, m.player_id, p.student_name, m.mark, m.note, m.marked_at, m.recorded_at
		FROM attendance_marks m
		JOIN batches b ON b.id = m.batch_id
		JOIN players p ON p.id = m.player_id
		WHERE m.coach_id = $1 AND (m.batch_id, m.date, m.player_id) > ($2, $3, $4)
		ORDER BY m.batch_id, m.date, m.player_id LIMIT $5`, coachID, after.BatchID, string(after.Date), after.PlayerID, limit)
	return database.Collect(rs, err, func(row database.Scanner) (m team.AttendanceMark, err error) {
		return m, row.Scan(&m.BatchID, &m.BatchName, &m.Date, &m.PlayerID, &m.StudentName, &m.Mark, database.IntoText(&m.Note), database.IntoTime(&m.MarkedAt), database.IntoTime(&m.RecordedAt))
	})
}
