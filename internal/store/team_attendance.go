package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/team"
)

var _ team.AttendanceStore = (*DB)(nil)

// Sheet reads a sheet and the players of its batch, by name, or returns not_found.
func (db *DB) Sheet(ctx context.Context, coachID, batchID string, date team.Date) (sheet *team.Sheet, players []team.Membership, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		b, err := tx.batch(ctx, coachID, batchID)
		if err != nil {
			return err
		}
		if sheet, err = tx.sheet(ctx, b, date); err != nil {
			return err
		}
		if players, err = tx.batchPlayers(ctx, coachID, batchID); err != nil {
			return err
		}
		ids := make([]string, len(players))
		for i, m := range players {
			ids[i] = m.PlayerID
		}
		members, err := tx.members(ctx, batchID, ids)
		for i, id := range ids {
			players[i].Earlier = members[id].Earlier
		}
		return err
	})
	return sheet, players, err
}

// sheet reads the sheet of a batch of the coach on a day; one with version 0 if it was not
// taken.
func (tx *Tx) sheet(ctx context.Context, b *team.Batch, date team.Date) (*team.Sheet, error) {
	s := &team.Sheet{Batch: b, Date: date}
	rs, err := tx.Query(ctx, `
		SELECT s.version, s.outside_schedule, s.taken_at, s.updated_at,
			m.player_id, p.student_name, m.mark, m.note, m.marked_at, m.recorded_at, m.account_id, m.session_id
		FROM attendance_sheets s
		LEFT JOIN attendance_marks m ON m.batch_id = s.batch_id AND m.date = s.date
		LEFT JOIN players p ON p.id = m.player_id
		WHERE s.batch_id = $1 AND s.date = $2`, b.ID, string(date))
	marks, err := database.Collect(rs, err, func(row database.Scanner) (m team.PlayerMark, err error) {
		return m, row.Scan(&s.Version, &s.OutsideSchedule, database.IntoTime(&s.TakenAt), database.IntoTime(&s.UpdatedAt),
			database.IntoText(&m.PlayerID), database.IntoText(&m.StudentName), database.IntoText((*string)(&m.Mark)), database.IntoText(&m.Note), database.IntoTime(&m.MarkedAt),
			database.IntoTime(&m.RecordedAt), database.IntoText(&m.Account), database.IntoText(&m.Session))
	})
	if err != nil {
		return nil, fmt.Errorf("read sheet: %w", err)
	}
	if len(marks) > 0 && marks[0].PlayerID != "" { // a sheet without marks is one row
		s.Marks = marks
		s.SortMarks()
	}
	return s, nil
}

// UpdateSheet loads a sheet and the members of playerIDs, lets fn change it, and saves the
// change. fn may run more than once. Concurrent updates of a batch run one after the other.
func (db *DB) UpdateSheet(ctx context.Context, coachID, batchID string, date team.Date, playerIDs []string,
	fn func(*team.Sheet, map[string]team.Membership, team.Coach) (team.SheetChange, error),
) error {
	return db.Write(ctx, func(tx *Tx) error {
		b, err := tx.lockBatch(ctx, coachID, batchID)
		if err != nil {
			return err
		}
		c, err := tx.teamCoach(ctx, coachID)
		if err != nil {
			return err
		}
		s, err := tx.sheet(ctx, b, date)
		if err != nil {
			return err
		}
		members, err := tx.members(ctx, batchID, playerIDs)
		if err != nil {
			return err
		}
		before := s.Version
		change, err := fn(s, members, c)
		if err != nil || !change.Saves() {
			return err
		}
		return tx.saveSheet(ctx, s, before, change)
	})
}

// members reads which of the players are or were in a batch.
func (tx *Tx) members(ctx context.Context, batchID string, playerIDs []string) (map[string]team.Membership, error) {
	members := make(map[string]team.Membership, len(playerIDs))
	if len(playerIDs) == 0 {
		return members, nil
	}
	ids := paddedIDs(playerIDs)
	of := ` WHERE batch_id = $1 AND player_id IN (` + params(2, len(ids)) + `)`
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
	if err != nil {
		return nil, fmt.Errorf("read members of batch: %w", err)
	}
	return members, nil
}

// saveSheet saves a change of a sheet, whose batch is locked and whose version was before.
func (tx *Tx) saveSheet(ctx context.Context, s *team.Sheet, before int64, c team.SheetChange) error {
	steps := []func() error{
		func() error { return tx.saveSheetRow(ctx, s, before) },
		func() error { return tx.setMarks(ctx, s, c.Set) },
		func() error { return tx.removeMarks(ctx, s, c.Removed) },
		func() error { return tx.addSuperseded(ctx, s, c.Superseded) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("save sheet: %w", err)
		}
	}
	return nil
}

func (tx *Tx) saveSheetRow(ctx context.Context, s *team.Sheet, before int64) error {
	if s.Version == before {
		return nil
	}
	n := s.Counts()
	return tx.DeferOne(ctx, `
		INSERT INTO attendance_sheets (batch_id, date, coach_id, version, outside_schedule, present, absent, late, excused, taken_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (batch_id, date) DO UPDATE SET version = excluded.version, present = excluded.present, absent = excluded.absent,
			late = excluded.late, excused = excluded.excused, updated_at = excluded.updated_at
		WHERE attendance_sheets.version = $12`,
		s.Batch.ID, string(s.Date), s.Batch.CoachID, s.Version, s.OutsideSchedule, n[team.Present], n[team.Absent], n[team.Late], n[team.Excused],
		database.Micros(s.TakenAt), database.Micros(s.UpdatedAt), before)
}

// markTypes are the types of markRow.
var markTypes = []string{"TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT"}

func markRow(m team.PlayerMark) []any {
	return []any{m.PlayerID, string(m.Mark), database.Text(m.Note), database.Micros(m.MarkedAt), database.Micros(m.RecordedAt), m.Account, database.Text(m.Session)}
}

func markRows(marks []team.PlayerMark) [][]any {
	rows := make([][]any, len(marks))
	for i, m := range marks {
		rows[i] = markRow(m)
	}
	return rows
}

func (tx *Tx) setMarks(ctx context.Context, s *team.Sheet, marks []team.PlayerMark) error {
	if len(marks) == 0 {
		return nil
	}
	values, args := valuesTable(markRows(marks), markTypes...)
	n := len(args)
	return tx.Defer(ctx, `
		INSERT INTO attendance_marks (coach_id, batch_id, date, player_id, mark, note, marked_at, recorded_at, account_id, session_id)
		SELECT `+castTexts(n+1, 3)+`, v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7
		FROM `+values+` v WHERE v.column1 IS NOT NULL
		ON CONFLICT (batch_id, date, player_id) DO UPDATE SET mark = excluded.mark, note = excluded.note, marked_at = excluded.marked_at,
			recorded_at = excluded.recorded_at, account_id = excluded.account_id, session_id = excluded.session_id`,
		append(args, s.Batch.CoachID, s.Batch.ID, string(s.Date))...)
}

func (tx *Tx) addSuperseded(ctx context.Context, s *team.Sheet, marks []team.PlayerMark) error {
	if len(marks) == 0 {
		return nil
	}
	values, args := valuesTable(markRows(marks), markTypes...)
	n := len(args)
	return tx.Defer(ctx, `
		INSERT INTO superseded_marks (coach_id, batch_id, date, superseded_at, player_id, mark, note, marked_at, recorded_at, account_id, session_id)
		SELECT `+castTexts(n+1, 3)+`, CAST(`+params(n+4, 1)+` AS BIGINT), v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7
		FROM `+values+` v WHERE v.column1 IS NOT NULL
		ON CONFLICT (batch_id, date, player_id, marked_at, mark) DO NOTHING`,
		append(args, s.Batch.CoachID, s.Batch.ID, string(s.Date), database.Micros(tx.Now))...)
}

func (tx *Tx) removeMarks(ctx context.Context, s *team.Sheet, playerIDs []string) error {
	if len(playerIDs) == 0 {
		return nil
	}
	ids := paddedIDs(playerIDs)
	return tx.Defer(ctx, `
		DELETE FROM attendance_marks WHERE batch_id = $1 AND date = $2 AND player_id IN (`+params(3, len(ids))+`)`,
		append([]any{s.Batch.ID, string(s.Date)}, ids...)...)
}
