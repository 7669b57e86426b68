package attendance

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// read reads the sheet of a batch of the coach on a day; one with version 0 if it was not
// taken.
func read(ctx context.Context, tx *store.Tx, b *team.Batch, date team.Date) (*Sheet, error) {
	s := &Sheet{Batch: b, Date: date}
	rs, err := tx.Query(ctx, `
		SELECT s.version, s.outside_schedule, s.taken_at, s.updated_at,
			m.player_id, p.student_name, m.mark, m.note, m.marked_at, m.recorded_at, m.account_id, m.session_id
		FROM attendance_sheets s
		LEFT JOIN attendance_marks m ON m.batch_id = s.batch_id AND m.date = s.date
		LEFT JOIN players p ON p.id = m.player_id
		WHERE s.batch_id = $1 AND s.date = $2`, b.ID, string(date))
	marks, err := database.Collect(rs, err, func(row database.Scanner) (m PlayerMark, err error) {
		return m, row.Scan(&s.Version, &s.OutsideSchedule, database.IntoTime(&s.TakenAt), database.IntoTime(&s.UpdatedAt),
			database.IntoText(&m.PlayerID), database.IntoText(&m.StudentName), database.IntoText((*string)(&m.Mark)), database.IntoText(&m.Note), database.IntoTime(&m.MarkedAt),
			database.IntoTime(&m.RecordedAt), database.IntoText(&m.Account), database.IntoText(&m.Session))
	})
	if err != nil {
		return nil, fmt.Errorf("read sheet: %w", err)
	}
	if len(marks) > 0 && marks[0].PlayerID != "" { // a sheet without marks is one row
		s.Marks = marks
		s.sortMarks()
	}
	return s, nil
}

// readMembers reads which of the players are or were in a batch.
func readMembers(ctx context.Context, tx *store.Tx, batchID string, playerIDs []string) (map[string]team.Membership, error) {
	members := make(map[string]team.Membership, len(playerIDs))
	if len(playerIDs) == 0 {
		return members, nil
	}
	ids := database.PaddedIDs(playerIDs)
	of := ` WHERE batch_id = $1 AND player_id IN (` + database.Params(2, len(ids)) + `)`
	rs, err := tx.Query(ctx, `
		SELECT player_id, joined_at, left_at, FALSE FROM batch_players`+of+`
		UNION ALL SELECT player_id, joined_at, left_at, TRUE FROM earlier_memberships`+of,
		append([]any{batchID}, ids...)...)
	_, err = database.Collect(rs, err, func(row database.Scanner) (s team.Stay, err error) {
		var id string
		var earlier bool
		err = row.Scan(&id, database.IntoTime(&s.JoinedAt), database.IntoTime(&s.LeftAt), &earlier)
		m := members[id]
		m.PlayerID = id
		if earlier {
			m.Earlier = append(m.Earlier, s)
		} else {
			m.JoinedAt, m.LeftAt = s.JoinedAt, s.LeftAt
		}
		members[id] = m
		return s, err
	})
	return members, fault.Wrap(err, "read members of batch")
}

// save saves a change of a sheet, whose batch is locked and whose version was before.
func save(ctx context.Context, tx *store.Tx, s *Sheet, before int64, c SheetChange) (err error) {
	exec := func(query string, args ...any) {
		if err == nil {
			err = tx.Defer(ctx, query, args...)
		}
	}
	if s.Version != before {
		n := s.Counts()
		err = tx.DeferOne(ctx, `
			INSERT INTO attendance_sheets (batch_id, date, coach_id, version, outside_schedule, present, absent, late, excused, taken_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (batch_id, date) DO UPDATE SET version = excluded.version, present = excluded.present, absent = excluded.absent,
				late = excluded.late, excused = excluded.excused, updated_at = excluded.updated_at
			WHERE attendance_sheets.version = $12`,
			s.Batch.ID, string(s.Date), s.Batch.CoachID, s.Version, s.OutsideSchedule, n[team.Present], n[team.Absent], n[team.Late], n[team.Excused],
			database.Micros(s.TakenAt), database.Micros(s.UpdatedAt), before)
	}
	if len(c.Set) > 0 {
		values, args := markValues(c.Set)
		exec(`
			INSERT INTO attendance_marks (coach_id, batch_id, date, player_id, mark, note, marked_at, recorded_at, account_id, session_id)
			SELECT `+database.CastTexts(len(args)+1, 3)+`, v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7
			FROM `+values+` v WHERE v.column1 IS NOT NULL
			ON CONFLICT (batch_id, date, player_id) DO UPDATE SET mark = excluded.mark, note = excluded.note, marked_at = excluded.marked_at,
				recorded_at = excluded.recorded_at, account_id = excluded.account_id, session_id = excluded.session_id`,
			append(args, s.Batch.CoachID, s.Batch.ID, string(s.Date))...)
	}
	if len(c.Removed) > 0 {
		ids := database.PaddedIDs(c.Removed)
		exec(`
			DELETE FROM attendance_marks WHERE batch_id = $1 AND date = $2 AND player_id IN (`+database.Params(3, len(ids))+`)`,
			append([]any{s.Batch.ID, string(s.Date)}, ids...)...)
	}
	if len(c.Superseded) > 0 {
		values, args := markValues(c.Superseded)
		n := len(args)
		exec(`
			INSERT INTO superseded_marks (coach_id, batch_id, date, superseded_at, player_id, mark, note, marked_at, recorded_at, account_id, session_id)
			SELECT `+database.CastTexts(n+1, 3)+`, CAST(`+database.Params(n+4, 1)+` AS BIGINT), v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7
			FROM `+values+` v WHERE v.column1 IS NOT NULL
			ON CONFLICT (batch_id, date, player_id, marked_at, mark) DO NOTHING`,
			append(args, s.Batch.CoachID, s.Batch.ID, string(s.Date), database.Micros(tx.Now))...)
	}
	return fault.Wrap(err, "save sheet")
}

// markValues returns the marks as a table of values and its arguments.
func markValues(marks []PlayerMark) (values string, args []any) {
	rows := make([][]any, len(marks))
	for i, m := range marks {
		rows[i] = []any{m.PlayerID, string(m.Mark), database.Text(m.Note), database.Micros(m.MarkedAt), database.Micros(m.RecordedAt), m.Account, database.Text(m.Session)}
	}
	return database.ValuesTable(rows, "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT")
}
