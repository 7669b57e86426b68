package roster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// importRowColumns is the number of values of a row in importRowArgs.
const importRowColumns = 7

// keepImports is the number of imports of a coach that are kept.
const keepImports = 10

// addImport saves an import with its first rows and deletes the coach's oldest imports. It returns
// false and saves nothing if an import has this id already.
func (s *Service) addImport(ctx context.Context, i *Import, rows []ImportRow) (added bool, err error) {
	warnings, err := json.Marshal(i.Warnings)
	if err != nil {
		return false, err
	}
	layout, err := json.Marshal(i.Layout)
	if err != nil {
		return false, err
	}
	args, err := importRowArgs(i, rows)
	if err != nil {
		return false, err
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		added = false
		if err := tx.Complete(ctx, idempotency.Work{ID: i.ID, New: true}); err != nil {
			return err
		}
		if err := lockImporter(ctx, tx, i.CoachID); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `
			INSERT INTO imports (id, coach_id, warnings, created_at, ends_at, file_rows, file_sha256, reading_until, layout)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
			i.ID, i.CoachID, string(warnings), database.Micros(i.CreatedAt), database.Micros(i.EndsAt), i.FileRows, i.FileSHA256, database.Micros(i.ReadingUntil), string(layout))
		if err != nil {
			return fmt.Errorf("add import: %w", err)
		}
		if n == 0 {
			return nil
		}
		added = true
		if err := insertRows(ctx, tx, i, rows, args); err != nil {
			return err
		}
		return deleteOldImports(ctx, tx, i)
	})
	return added && err == nil, err
}

// addRows adds rows to an import that is being read, and sets ReadingUntil: the zero time with the
// last rows. It returns not_found if the import is not being read any more.
func (s *Service) addRows(ctx context.Context, i *Import, rows []ImportRow, readingUntil time.Time) error {
	args, err := importRowArgs(i, rows)
	if err != nil {
		return err
	}
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := lockImporter(ctx, tx, i.CoachID); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `UPDATE imports SET reading_until = $3 WHERE coach_id = $1 AND id = $2 AND reading_until IS NOT NULL`,
			i.CoachID, i.ID, database.Micros(readingUntil))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Missing()
		}
		return insertRows(ctx, tx, i, rows, args)
	})
	return fault.Wrap(err, "read the file of import %s", i.ID)
}

// lockImporter locks the coach of an import. An account that closes waits for this lock, and then
// deletes the import too.
func lockImporter(ctx context.Context, tx *store.Tx, coachID string) error {
	if _, err := tx.LockCoach(ctx, coachID); err != nil {
		return fmt.Errorf("lock coach %s: %w", coachID, err)
	}
	_, err := tx.TeamCoach(ctx, coachID) // session_revoked if the account has closed since the session was read
	return err
}

// insertRows adds the rows whose values are args, and sets the state Exists of students whom the
// coach has.
func insertRows(ctx context.Context, tx *store.Tx, i *Import, rows []ImportRow, args []any) error {
	err := tx.InsertRows(ctx, `
		INSERT INTO import_rows (coach_id, import_id, number, state, entry, faults, ends_at)`, "", importRowColumns, args)
	for some := range slices.Chunk(rows, existingRows) {
		if err != nil {
			break
		}
		query, args := existingRowsUpdate(i.CoachID, i.ID, some)
		err = tx.Defer(ctx, query, args...)
	}
	return fault.Wrap(err, "add rows of import")
}

func importRowArgs(i *Import, rows []ImportRow) ([]any, error) {
	args := make([]any, 0, importRowColumns*len(rows))
	for _, row := range rows {
		entry, err := json.Marshal(row.Entry)
		if err != nil {
			return nil, err
		}
		faults, err := json.Marshal(row.Faults)
		if err != nil {
			return nil, err
		}
		args = append(args, i.CoachID, i.ID, row.Number, string(row.State), string(entry), string(faults), database.Micros(i.EndsAt))
	}
	return args, nil
}

// deleteOldImports deletes the imports of the coach but for added, which is new, and the newest
// others. The id of added may be older: it is made when the form is opened.
func deleteOldImports(ctx context.Context, tx *store.Tx, added *Import) error {
	var newest string // of those to delete
	err := tx.QueryRow(ctx, `
		SELECT id FROM imports WHERE coach_id = $1 AND id <> $2 ORDER BY id DESC LIMIT 1 OFFSET $3`, added.CoachID, added.ID, keepImports-1).Scan(&newest)
	if err != nil && !database.IsNoRows(err) {
		return fmt.Errorf("list imports: %w", err)
	}
	if err := tx.Defer(ctx, `DELETE FROM import_rows WHERE coach_id = $1 AND import_id <= $2 AND import_id <> $3`, added.CoachID, newest, added.ID); err != nil {
		return fmt.Errorf("delete old imports: %w", err)
	}
	return tx.Defer(ctx, `DELETE FROM imports WHERE coach_id = $1 AND id <= $2 AND id <> $3`, added.CoachID, newest, added.ID)
}

// importColumns are what scanImport reads.
const importColumns = `id, coach_id, warnings, stop, created_at, ends_at, COALESCE(file_rows, 0), file_sha256, reading_until, layout`

// Import returns an import of the calling coach.
func (s *Service) Import(ctx context.Context, by actor.Actor, id string) (*Import, error) {
	var i *Import
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		i, err = s.scanImport(tx.QueryRow(ctx, `
			SELECT `+importColumns+` FROM imports WHERE coach_id = $1 AND id = $2`, by.AccountID, id))
		if database.IsNoRows(err) {
			return fault.Missing()
		}
		if err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			SELECT import_id, state, count(*) FROM import_rows WHERE coach_id = $1 AND import_id = $2 GROUP BY import_id, state`, by.AccountID, id)
		return collectCounts(rs, err, i)
	})
	return i, fault.Wrap(err, "read import %s", id)
}

// Imports returns the imports of the calling coach, the newest first: at most 10.
func (s *Service) Imports(ctx context.Context, by actor.Actor) ([]*Import, error) {
	var imports []*Import
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		rs, err := tx.Query(ctx, `
			SELECT `+importColumns+` FROM imports WHERE coach_id = $1 ORDER BY id DESC`, by.AccountID)
		imports, err = database.Collect(rs, err, s.scanImport)
		if err != nil {
			return err
		}
		rs, err = tx.Query(ctx, `
			SELECT import_id, state, count(*) FROM import_rows WHERE coach_id = $1 GROUP BY import_id, state`, by.AccountID)
		return collectCounts(rs, err, imports...)
	})
	if err != nil {
		return nil, fmt.Errorf("read imports of coach %s: %w", by.AccountID, err)
	}
	// The ids are in the order in which their forms were opened.
	slices.SortStableFunc(imports, func(a, b *Import) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return imports, nil
}

func (s *Service) scanImport(row database.Scanner) (*Import, error) {
	i := &Import{Counts: map[RowState]int{}}
	err := row.Scan(&i.ID, &i.CoachID, database.IntoJSON(&i.Warnings), database.IntoJSON(&i.Stop), database.IntoTime(&i.CreatedAt), database.IntoTime(&i.EndsAt),
		&i.FileRows, database.IntoText(&i.FileSHA256), database.IntoTime(&i.ReadingUntil), database.IntoJSON(&i.Layout))
	i.Failed = !i.ReadingUntil.IsZero() && !s.Now().Before(i.ReadingUntil)
	return i, err
}

// collectCounts sets the counts of the imports from rows of import, state and count.
func collectCounts(rs *database.Rows, err error, imports ...*Import) error {
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var id string
		var state RowState
		var n int
		err := s.Scan(&id, &state, &n)
		for _, i := range imports {
			if i.ID == id {
				i.Counts[state] = n
			}
		}
		return struct{}{}, err
	})
	return err
}

// Rows returns the rows of an import that match f, in the order of the file.
func (s *Service) Rows(ctx context.Context, by actor.Actor, id string, f RowFilter) ([]ImportRow, error) {
	var rows []ImportRow
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		var one int
		err := tx.QueryRow(ctx, `SELECT 1 FROM imports WHERE coach_id = $1 AND id = $2`, by.AccountID, id).Scan(&one)
		if database.IsNoRows(err) {
			return fault.Missing()
		}
		if err != nil {
			return err
		}
		var rs *database.Rows
		if f.State == "" {
			rs, err = tx.Query(ctx, `
				SELECT number, state, entry, faults, player_id FROM import_rows
				WHERE coach_id = $1 AND import_id = $2 AND number > $3 ORDER BY number LIMIT $4`, by.AccountID, id, f.After, f.Limit)
		} else {
			rs, err = tx.Query(ctx, `
				SELECT number, state, entry, faults, player_id FROM import_rows
				WHERE coach_id = $1 AND import_id = $2 AND state = $5 AND number > $3 ORDER BY number LIMIT $4`,
				by.AccountID, id, f.After, f.Limit, string(f.State))
		}
		rows, err = database.Collect(rs, err, scanImportRow)
		return err
	})
	return rows, fault.Wrap(err, "read rows of import %s", id)
}

func scanImportRow(s database.Scanner) (row ImportRow, err error) {
	return row, s.Scan(&row.Number, &row.State, database.IntoJSON(&row.Entry), database.IntoJSON(&row.Faults), database.IntoText(&row.PlayerID))
}

// finishRow sets the state of a row that waits, and changes no other row.
func (s *Service) finishRow(ctx context.Context, id RowID, state RowState, playerID string, faults []Fault) error {
	reasons, err := json.Marshal(faults)
	if err != nil {
		return err
	}
	err = s.exec(ctx, `
		UPDATE import_rows SET state = $4, player_id = $5, faults = $6
		WHERE coach_id = $1 AND import_id = $2 AND number = $3 AND state = 'waiting'`,
		id.CoachID, id.ImportID, id.Number, string(state), database.Text(playerID), string(reasons))
	return fault.Wrap(err, "finish row %d of import %s", id.Number, id.ImportID)
}

// exec runs one statement as a transaction.
func (s *Service) exec(ctx context.Context, query string, args ...any) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error { return tx.Defer(ctx, query, args...) })
}

// existingRows is how many rows one statement compares with the players of the coach.
const existingRows = 512

// existingRowsUpdate returns the statement that marks as Exists the rows that wait and whose
// student the coach has.
func existingRowsUpdate(coachID, id string, rows []ImportRow) (query string, args []any) {
	students := make([][]any, len(rows))
	for n, row := range rows {
		name := team.FoldName(row.Entry.StudentName)
		students[n] = []any{row.Number, team.SortKey(name), name, row.Entry.BirthDate}
	}
	values, args := database.ValuesTable(students, "BIGINT", "TEXT", "TEXT", "TEXT")
	owner, imported := database.Params(len(args)+1, 1), database.Params(len(args)+2, 1)
	return `
		UPDATE import_rows SET state = 'exists', player_id = v.player_id
		FROM (SELECT s.column1 AS number, p.id AS player_id FROM ` + values + ` s
			JOIN players p ON p.coach_id = ` + owner + ` AND p.sort_key = s.column2 AND p.student_key = s.column3 AND p.date_of_birth = s.column4 AND p.deleted_at IS NULL) v
		WHERE import_rows.coach_id = ` + owner + ` AND import_rows.import_id = ` + imported + ` AND import_rows.number = v.number AND import_rows.state = 'waiting'`,
		append(args, coachID, id)
}

// setStop saves what stopped an import; nil clears it.
func (s *Service) setStop(ctx context.Context, coachID, id string, stop *Stop) error {
	var reason any
	if stop != nil {
		plain, err := json.Marshal(stop)
		if err != nil {
			return err
		}
		reason = string(plain)
	}
	err := s.exec(ctx, `UPDATE imports SET stop = CAST($3 AS TEXT) WHERE coach_id = $1 AND id = $2`, coachID, id, reason)
	return fault.Wrap(err, "stop import %s", id)
}

// PlayerAdded marks the row of an import for which ctx adds the player as added, or returns
// import_row_taken if another step has finished the row. Without a row it does nothing.
func PlayerAdded(ctx context.Context, tx *store.Tx, playerID string) error {
	id, ok := ctx.Value(rowKey{}).(RowID)
	if !ok {
		return nil
	}
	var one int
	return tx.DeferRow(ctx, func(row database.Scanner) error {
		err := row.Scan(&one)
		if database.IsNoRows(err) {
			return fault.New(fault.Conflict, rowTaken, "Another step has imported this row.")
		}
		return err
	}, `
		UPDATE import_rows SET state = 'added', player_id = $4
		WHERE coach_id = $1 AND import_id = $2 AND number = $3 AND state = 'waiting'
		RETURNING 1`, id.CoachID, id.ImportID, id.Number, playerID)
}

// CoachLeft deletes the imports of a coach who closes the account.
func CoachLeft(ctx context.Context, tx *store.Tx, coachID string) error {
	return tx.DeferEach(ctx, []string{`DELETE FROM import_rows WHERE coach_id = $1`, `DELETE FROM imports WHERE coach_id = $1`}, coachID)
}

// Expired deletes imports at their end.
var Expired = []store.Expired{
	{What: "rows of imports", Query: `DELETE FROM import_rows WHERE (coach_id, import_id, number) IN (SELECT coach_id, import_id, number FROM import_rows WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`},
	{What: "imports", Query: `DELETE FROM imports WHERE id IN (SELECT id FROM imports WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`},
}
