package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/roster"
)

var _ roster.Store = (*DB)(nil)

// importRowColumns is the number of values of a row in importRowArgs.
const importRowColumns = 7

// AddImport saves an import with its first rows and deletes the coach's oldest imports, so that
// at most keep remain. It returns false if an import has this id already.
func (db *DB) AddImport(ctx context.Context, i *roster.Import, rows []roster.ImportRow, keep int) (added bool, err error) {
	warnings, err := json.Marshal(i.Warnings)
	if err != nil {
		return false, err
	}
	args, err := importRowArgs(i, rows)
	if err != nil {
		return false, err
	}
	err = db.Write(ctx, func(tx *Tx) error {
		added = false
		if err := tx.Complete(ctx, idempotency.Work{ID: i.ID, New: true}); err != nil {
			return err
		}
		if err := tx.lockImporter(ctx, i.CoachID); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `
			INSERT INTO imports (id, coach_id, warnings, created_at, ends_at, file_rows, file_sha256, reading_until)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
			i.ID, i.CoachID, string(warnings), database.Micros(i.CreatedAt), database.Micros(i.EndsAt), i.FileRows, i.FileSHA256, database.Micros(i.ReadingUntil))
		if err != nil {
			return fmt.Errorf("add import: %w", err)
		}
		if n == 0 {
			return nil
		}
		added = true
		if err := tx.insertImportRows(ctx, i, rows, args); err != nil {
			return err
		}
		return tx.deleteOldImports(ctx, i.CoachID, i.ID, keep)
	})
	return added && err == nil, err
}

// AddImportRows adds rows to an import that is being read, and sets until when it counts as being
// read: the zero time with the last rows.
func (db *DB) AddImportRows(ctx context.Context, i *roster.Import, rows []roster.ImportRow, readingUntil time.Time) error {
	args, err := importRowArgs(i, rows)
	if err != nil {
		return err
	}
	err = db.Write(ctx, func(tx *Tx) error {
		if err := tx.lockImporter(ctx, i.CoachID); err != nil {
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
		return tx.insertImportRows(ctx, i, rows, args)
	})
	if err != nil {
		return fmt.Errorf("read the file of import %s: %w", i.ID, err)
	}
	return nil
}

// lockImporter locks the coach of an import. An account that closes waits for this lock, and then
// deletes the import too.
func (tx *Tx) lockImporter(ctx context.Context, coachID string) error {
	if _, err := tx.LockCoach(ctx, coachID); err != nil {
		return fmt.Errorf("lock coach %s: %w", coachID, err)
	}
	_, err := tx.tierChoice(ctx, coachID)
	if database.IsNoRows(err) {
		return auth.ErrSessionEnded() // the account has closed since the session was read
	}
	return err
}

// insertImportRows adds the rows whose values are args, those of students whom the coach has as Exists.
func (tx *Tx) insertImportRows(ctx context.Context, i *roster.Import, rows []roster.ImportRow, args []any) error {
	err := tx.InsertRows(ctx, `
		INSERT INTO import_rows (coach_id, import_id, number, state, entry, faults, ends_at)`, "", importRowColumns, args)
	for some := range slices.Chunk(rows, existingRows) {
		if err != nil {
			break
		}
		query, args := existingRowsUpdate(i.CoachID, i.ID, some)
		err = tx.Defer(ctx, query, args...)
	}
	if err != nil {
		return fmt.Errorf("add rows of import: %w", err)
	}
	return nil
}

func importRowArgs(i *roster.Import, rows []roster.ImportRow) ([]any, error) {
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

// deleteOldImports deletes the imports of a coach but for added, which is new, and the newest
// keep-1 others. The id of a new one may be older: it is made when the form is opened.
func (tx *Tx) deleteOldImports(ctx context.Context, coachID, added string, keep int) error {
	var newest string // of those to delete
	err := tx.QueryRow(ctx, `
		SELECT id FROM imports WHERE coach_id = $1 AND id <> $2 ORDER BY id DESC LIMIT 1 OFFSET $3`, coachID, added, keep-1).Scan(&newest)
	if err != nil && !database.IsNoRows(err) {
		return fmt.Errorf("list imports: %w", err)
	}
	if err := tx.Defer(ctx, `DELETE FROM import_rows WHERE coach_id = $1 AND import_id <= $2 AND import_id <> $3`, coachID, newest, added); err != nil {
		return fmt.Errorf("delete old imports: %w", err)
	}
	return tx.Defer(ctx, `DELETE FROM imports WHERE coach_id = $1 AND id <= $2 AND id <> $3`, coachID, newest, added)
}

// Import returns an import of a coach, or not_found.
func (db *DB) Import(ctx context.Context, coachID, id string) (*roster.Import, error) {
	var i *roster.Import
	err := db.View(ctx, func(tx *Tx) (err error) {
		i, err = scanImport(tx.QueryRow(ctx, `
			SELECT id, coach_id, warnings, stop, created_at, ends_at, file_rows, file_sha256, reading_until FROM imports WHERE coach_id = $1 AND id = $2`, coachID, id))
		if database.IsNoRows(err) {
			return fault.Missing()
		}
		if err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			SELECT import_id, state, count(*) FROM import_rows WHERE coach_id = $1 AND import_id = $2 GROUP BY import_id, state`, coachID, id)
		return collectCounts(rs, err, i)
	})
	if err != nil {
		return nil, fmt.Errorf("read import %s: %w", id, err)
	}
	return i, nil
}

// Imports returns the imports of a coach, the newest first.
func (db *DB) Imports(ctx context.Context, coachID string) ([]*roster.Import, error) {
	var imports []*roster.Import
	err := db.View(ctx, func(tx *Tx) error {
		rs, err := tx.Query(ctx, `
			SELECT id, coach_id, warnings, stop, created_at, ends_at, file_rows, file_sha256, reading_until FROM imports WHERE coach_id = $1 ORDER BY id DESC`, coachID)
		if imports, err = database.Collect(rs, err, scanImport); err != nil {
			return err
		}
		rs, err = tx.Query(ctx, `
			SELECT import_id, state, count(*) FROM import_rows WHERE coach_id = $1 GROUP BY import_id, state`, coachID)
		return collectCounts(rs, err, imports...)
	})
	if err != nil {
		return nil, fmt.Errorf("read imports of coach %s: %w", coachID, err)
	}
	return imports, nil
}

func scanImport(s database.Scanner) (*roster.Import, error) {
	i := &roster.Import{Counts: map[roster.RowState]int{}}
	var rows sql.NullInt64
	err := s.Scan(&i.ID, &i.CoachID, database.IntoJSON(&i.Warnings), database.IntoJSON(&i.Stop), database.IntoTime(&i.CreatedAt), database.IntoTime(&i.EndsAt),
		&rows, database.IntoText(&i.FileSHA256), database.IntoTime(&i.ReadingUntil))
	i.FileRows = int(rows.Int64)
	return i, err
}

// collectCounts sets the counts of the imports from rows of import, state and count.
func collectCounts(rs *database.Rows, err error, imports ...*roster.Import) error {
	_, err = database.Collect(rs, err, func(s database.Scanner) (struct{}, error) {
		var id string
		var state roster.RowState
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

// ImportRows returns the rows of an import that match f, in the order of their numbers. It
// returns not_found for an import of another coach.
func (db *DB) ImportRows(ctx context.Context, coachID, id string, f roster.RowFilter) ([]roster.ImportRow, error) {
	var rows []roster.ImportRow
	err := db.View(ctx, func(tx *Tx) error {
		var one int
		err := tx.QueryRow(ctx, `SELECT 1 FROM imports WHERE coach_id = $1 AND id = $2`, coachID, id).Scan(&one)
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
				WHERE coach_id = $1 AND import_id = $2 AND number > $3 ORDER BY number LIMIT $4`, coachID, id, f.After, f.Limit)
		} else {
			rs, err = tx.Query(ctx, `
				SELECT number, state, entry, faults, player_id FROM import_rows
				WHERE coach_id = $1 AND import_id = $2 AND state = $5 AND number > $3 ORDER BY number LIMIT $4`,
				coachID, id, f.After, f.Limit, string(f.State))
		}
		rows, err = database.Collect(rs, err, scanImportRow)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read rows of import %s: %w", id, err)
	}
	return rows, nil
}

func scanImportRow(s database.Scanner) (row roster.ImportRow, err error) {
	return row, s.Scan(&row.Number, &row.State, database.IntoJSON(&row.Entry), database.IntoJSON(&row.Faults), database.IntoText(&row.PlayerID))
}

// FinishRow sets the state of a row that waits, and changes no other row.
func (db *DB) FinishRow(ctx context.Context, id roster.RowID, state roster.RowState, playerID string, faults []roster.Fault) error {
	reasons, err := json.Marshal(faults)
	if err != nil {
		return err
	}
	_, err = db.sql.Exec(ctx, `
		UPDATE import_rows SET state = $4, player_id = $5, faults = $6
		WHERE coach_id = $1 AND import_id = $2 AND number = $3 AND state = 'waiting'`,
		id.CoachID, id.ImportID, id.Number, string(state), database.Text(playerID), string(reasons))
	if err != nil {
		return fmt.Errorf("finish row %d of import %s: %w", id.Number, id.ImportID, err)
	}
	return nil
}

// FinishExisting marks those of the rows as Exists that wait and whose student the coach has.
func (db *DB) FinishExisting(ctx context.Context, coachID, id string, rows []roster.ImportRow) error {
	query, args := existingRowsUpdate(coachID, id, rows)
	if _, err := db.sql.Exec(ctx, query, args...); err != nil {
		return fmt.Errorf("finish rows of import %s: %w", id, err)
	}
	return nil
}

// existingRows is how many rows one statement compares with the players of the coach.
const existingRows = 512

func existingRowsUpdate(coachID, id string, rows []roster.ImportRow) (query string, args []any) {
	students := make([][]any, len(rows))
	for n, row := range rows {
		students[n] = []any{row.Number, approval.FoldName(row.Entry.StudentName), row.Entry.BirthDate}
	}
	values, args := database.ValuesTable(students, "BIGINT", "TEXT", "TEXT")
	coach, imported := database.Params(len(args)+1, 1), database.Params(len(args)+2, 1)
	return `
		UPDATE import_rows SET state = 'exists', player_id = v.player_id
		FROM (SELECT s.column1 AS number, p.id AS player_id FROM ` + values + ` s
			JOIN players p ON p.coach_id = ` + coach + ` AND p.student_key = s.column2 AND p.date_of_birth = s.column3 AND p.deleted_at IS NULL) v
		WHERE import_rows.coach_id = ` + coach + ` AND import_rows.import_id = ` + imported + ` AND import_rows.number = v.number AND import_rows.state = 'waiting'`,
		append(args, coachID, id)
}

// SetStop saves what stopped an import; nil clears it.
func (db *DB) SetStop(ctx context.Context, coachID, id string, stop *roster.Stop) error {
	var reason any
	if stop != nil {
		plain, err := json.Marshal(stop)
		if err != nil {
			return err
		}
		reason = string(plain)
	}
	_, err := db.sql.Exec(ctx, `UPDATE imports SET stop = CAST($3 AS TEXT) WHERE coach_id = $1 AND id = $2`, coachID, id, reason)
	if err != nil {
		return fmt.Errorf("stop import %s: %w", id, err)
	}
	return nil
}

// finishImportRow marks the row of an import for which ctx adds the player as added; or
// returns ErrRowTaken if another transaction has finished the row. Without a row it does
// nothing.
func (tx *Tx) finishImportRow(ctx context.Context, playerID string) error {
	id, ok := roster.RowOf(ctx)
	if !ok {
		return nil
	}
	var one int
	return tx.DeferRow(ctx, func(row database.Scanner) error {
		err := row.Scan(&one)
		if database.IsNoRows(err) {
			return roster.ErrRowTaken()
		}
		return err
	}, `
		UPDATE import_rows SET state = 'added', player_id = $4
		WHERE coach_id = $1 AND import_id = $2 AND number = $3 AND state = 'waiting'
		RETURNING 1`, id.CoachID, id.ImportID, id.Number, playerID)
}
