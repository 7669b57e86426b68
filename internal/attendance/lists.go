package attendance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Period is a range of days. The zero Period has every day.
type Period struct{ From, To team.Date }

// bounds returns p with both bounds set.
func (p Period) bounds() Period {
	return Period{cmp.Or(p.From, team.FirstDate), cmp.Or(p.To, team.LastDate.AddDays(MaxDaysAhead))}
}

// Attended is a mark of a player, with its batch and day.
type Attended struct {
	BatchID   string
	BatchName string
	Date      team.Date
	PlayerMark
	OutsideSchedule bool
}

// MonthCounts are the marks of a player in a month, YYYY-MM, with 0 for each mark that is missing.
type MonthCounts struct {
	Month  string      `json:"month"`
	Counts team.Counts `json:"totals"`
}

// PlayerAttendance is a page of the marks of a player, with the totals of the whole period.
type PlayerAttendance struct {
	Marks []Attended
	// Months are newest first.
	Months []MonthCounts
}

// Counts returns the totals of the period, with 0 for each mark that is missing.
func (a *PlayerAttendance) Counts() team.Counts {
	var n [4]int
	for _, m := range a.Months {
		for i, mark := range team.Marks {
			n[i] += m.Counts[mark]
		}
	}
	return counted(n)
}

// Superseded lists the marks of a sheet of the calling coach that no longer count, oldest first.
func (s *Service) Superseded(ctx context.Context, by actor.Actor, batchID string, date team.Date) (marks []PlayerMark, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Batch(ctx, by.AccountID, batchID); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			SELECT m.player_id, p.student_name, m.mark, m.note, m.marked_at, m.recorded_at, m.account_id, m.session_id
			FROM superseded_marks m JOIN players p ON p.id = m.player_id
			WHERE m.batch_id = $1 AND m.date = $2 ORDER BY m.player_id, m.marked_at, m.mark`, batchID, string(date))
		marks, err = database.Collect(rs, err, func(row database.Scanner) (m PlayerMark, err error) {
			return m, row.Scan(&m.PlayerID, &m.StudentName, &m.Mark, database.IntoText(&m.Note), database.IntoTime(&m.MarkedAt), database.IntoTime(&m.RecordedAt), &m.Account, database.IntoText(&m.Session))
		})
		return err
	})
	return marks, err
}

// sheetColumns are the columns of a team.SheetSummary. scanSheet scans them after the columns of first.
const sheetColumns = `s.date, s.version, s.outside_schedule, s.present, s.absent, s.late, s.excused, s.updated_at`

func scanSheet(row database.Scanner, first ...any) (s team.SheetSummary, err error) {
	var n [4]int
	err = row.Scan(append(first, &s.Date, &s.Version, &s.OutsideSchedule, &n[0], &n[1], &n[2], &n[3], database.IntoTime(&s.UpdatedAt))...)
	s.Counts = counted(n)
	return s, err
}

// counted returns counts that are in the order of team.Marks.
func counted(n [4]int) team.Counts {
	counts := team.Counts{}
	for i, mark := range team.Marks {
		counts[mark] = n[i]
	}
	return counts
}

// Sheets lists the sheets of a batch of the calling coach on days before after, newest day first.
func (s *Service) Sheets(ctx context.Context, by actor.Actor, batchID string, p Period, after team.Date, limit int) (sheets []team.SheetSummary, err error) {
	p = p.bounds()
	after = cmp.Or(after, p.To.AddDays(1))
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Batch(ctx, by.AccountID, batchID); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			SELECT `+sheetColumns+` FROM attendance_sheets s
			WHERE s.batch_id = $1 AND s.date >= $2 AND s.date <= $3 AND s.date < $4
			ORDER BY s.date DESC LIMIT $5`, batchID, string(p.From), string(p.To), string(after), limit)
		sheets, err = database.Collect(rs, err, func(row database.Scanner) (team.SheetSummary, error) { return scanSheet(row) })
		return err
	})
	return sheets, err
}

// sheetsOn reads the sheets by batch. rows name a batch and a day each.
func sheetsOn(ctx context.Context, tx *store.Tx, rows [][]any) (map[string]*team.SheetSummary, error) {
	sheets := map[string]*team.SheetSummary{}
	values, args := database.ValuesTable(rows, "TEXT", "TEXT")
	rs, err := tx.Query(ctx, `
		SELECT s.batch_id, `+sheetColumns+`
		FROM `+values+` v JOIN attendance_sheets s ON s.batch_id = v.column1 AND s.date = v.column2`, args...)
	_, err = database.Collect(rs, err, func(row database.Scanner) (sheet team.SheetSummary, err error) {
		var id string
		sheet, err = scanSheet(row, &id)
		sheets[id] = &sheet
		return sheet, err
	})
	return sheets, err
}

// OfPlayer lists the marks of a player, newest day first. The caller is the player's coach, or a
// linked guardian or student, who reads no notes. after is the last mark of the page before; the zero
// value starts with the newest. Error: see team.Access.
func (s *Service) OfPlayer(ctx context.Context, by actor.Actor, playerID string, p Period, after Attended, limit int) (a *PlayerAttendance, err error) {
	p = p.bounds()
	after.Date = cmp.Or(after.Date, p.To.AddDays(1))
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if by.Role == actor.Coach {
			err = player.CheckPlayer(ctx, tx, by.AccountID, playerID)
		} else {
			_, err = s.Consent.Link(ctx, tx, by, playerID, team.App)
		}
		if err != nil {
			return err
		}
		a = &PlayerAttendance{}
		rs, err := tx.Query(ctx, `
			SELECT m.batch_id, b.name, m.date, m.mark, m.note, m.marked_at, m.recorded_at, s.outside_schedule
			FROM attendance_marks m
			JOIN batches b ON b.id = m.batch_id
			JOIN attendance_sheets s ON s.batch_id = m.batch_id AND s.date = m.date
			WHERE m.player_id = $1 AND m.date >= $2 AND m.date <= $3 AND (m.date, m.batch_id) < ($4, $5)
			ORDER BY m.date DESC, m.batch_id DESC LIMIT $6`,
			playerID, string(p.From), string(p.To), string(after.Date), after.BatchID, limit)
		a.Marks, err = database.Collect(rs, err, func(row database.Scanner) (m Attended, err error) {
			m.PlayerID = playerID
			err = row.Scan(&m.BatchID, &m.BatchName, &m.Date, &m.Mark, database.IntoText(&m.Note), database.IntoTime(&m.MarkedAt), database.IntoTime(&m.RecordedAt), &m.OutsideSchedule)
			if by.Role != actor.Coach {
				m.Note = ""
			}
			return m, err
		})
		if err != nil {
			return fmt.Errorf("read attendance: %w", err)
		}
		a.Months, err = countMonths(ctx, tx, playerID, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// countMonths returns the totals of each month of the period, newest first.
func countMonths(ctx context.Context, tx *store.Tx, playerID string, p Period) ([]MonthCounts, error) {
	rs, err := tx.Query(ctx, `
		SELECT substr(m.date, 1, 7), count(*) FILTER (WHERE m.mark = 'present'), count(*) FILTER (WHERE m.mark = 'absent'),
			count(*) FILTER (WHERE m.mark = 'late'), count(*) FILTER (WHERE m.mark = 'excused')
		FROM attendance_marks m WHERE m.player_id = $1 AND m.date >= $2 AND m.date <= $3
		GROUP BY substr(m.date, 1, 7)`, playerID, string(p.From), string(p.To))
	months, err := database.Collect(rs, err, func(row database.Scanner) (m MonthCounts, err error) {
		var n [4]int
		err = row.Scan(&m.Month, &n[0], &n[1], &n[2], &n[3])
		m.Counts = counted(n)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("count attendance: %w", err)
	}
	slices.SortFunc(months, func(m, n MonthCounts) int { return strings.Compare(n.Month, m.Month) })
	return months, nil
}

// marksAfter lists the marks of all batches of the calling coach after the mark last, by batch, day and
// player.
func (s *Service) marksAfter(ctx context.Context, by actor.Actor, last Attended, limit int) ([]Attended, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT m.batch_id, b.name, m.date, m.player_id, p.student_name, m.mark, m.note, m.marked_at, m.recorded_at
		FROM attendance_marks m
		JOIN batches b ON b.id = m.batch_id
		JOIN players p ON p.id = m.player_id
		WHERE m.coach_id = $1 AND (m.batch_id, m.date, m.player_id) > ($2, $3, $4)
		ORDER BY m.batch_id, m.date, m.player_id LIMIT $5`, by.AccountID, last.BatchID, string(last.Date), last.PlayerID, limit)
	return database.Collect(rs, err, func(row database.Scanner) (m Attended, err error) {
		return m, row.Scan(&m.BatchID, &m.BatchName, &m.Date, &m.PlayerID, &m.StudentName, &m.Mark, database.IntoText(&m.Note), database.IntoTime(&m.MarkedAt), database.IntoTime(&m.RecordedAt))
	})
}

// shareDays is the number of days of Share.
const shareDays = 90

// Share returns at how many of the trainings of the last 90 days with a mark a player of the calling coach was, present or late.
func (s *Service) Share(ctx context.Context, by actor.Actor, playerID string) (attended, marks int, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if err := player.CheckPlayer(ctx, tx, by.AccountID, playerID); err != nil {
			return err
		}
		months, err := countMonths(ctx, tx, playerID, Period{From: team.DateOf(s.Now(), time.UTC).AddDays(-shareDays)}.bounds())
		counts := (&PlayerAttendance{Months: months}).Counts()
		attended, marks = counts.Attended(), 0
		for _, n := range counts {
			marks += n
		}
		return err
	})
	return attended, marks, err
}
