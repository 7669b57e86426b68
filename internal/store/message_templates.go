package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/team"
)

// AddTemplate saves a template. The coach's row is locked while the templates are counted.
func (db *DB) AddTemplate(ctx context.Context, t *team.Template, check func(tier string, n int) error) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: t.ID, New: true}); err != nil {
			return err
		}
		if _, err := tx.LockCoach(ctx, t.CoachID); err != nil {
			return err
		}
		var tier string
		var n int
		err := tx.QueryRow(ctx, `
			SELECT c.tier, (SELECT count(*) FROM message_templates t WHERE t.coach_id = c.id) FROM coaches c WHERE c.id = $1`, t.CoachID).
			Scan(database.IntoText(&tier), &n)
		if database.IsNoRows(err) {
			return auth.ErrSessionEnded()
		}
		if err != nil {
			return fmt.Errorf("count templates: %w", err)
		}
		if err := check(tier, n); err != nil {
			return err
		}
		t.CreatedAt = tx.Now
		err = tx.Defer(ctx, `INSERT INTO message_templates (id, coach_id, title, body, created_at) VALUES ($1, $2, $3, $4, $5)`,
			t.ID, t.CoachID, t.Title, t.Text, database.Micros(tx.Now))
		if err != nil {
			return fmt.Errorf("save template: %w", err)
		}
		return nil
	})
}

func scanTemplate(s database.Scanner) (t team.Template, err error) {
	return t, s.Scan(&t.ID, &t.CoachID, &t.Title, &t.Text, database.IntoTime(&t.CreatedAt))
}

// Templates lists the templates of a coach, newest first.
func (db *DB) Templates(ctx context.Context, coachID string, page team.Page) ([]team.Template, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT id, coach_id, title, body, created_at FROM message_templates WHERE coach_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
		coachID, database.Before(page.After), page.Limit)
	list, err := database.Collect(rs, err, scanTemplate)
	if err != nil {
		return nil, fmt.Errorf("list templates: %w", err)
	}
	return list, nil
}

// Template returns a template of a coach, or not_found.
func (db *DB) Template(ctx context.Context, coachID, id string) (team.Template, error) {
	t, err := scanTemplate(db.sql.QueryRow(ctx, `
		SELECT id, coach_id, title, body, created_at FROM message_templates WHERE id = $1 AND coach_id = $2`, id, coachID))
	return t, database.OrMissing(err, "read template "+id)
}

// DeleteTemplate deletes a template of a coach, or returns not_found.
func (db *DB) DeleteTemplate(ctx context.Context, coachID, id string) error {
	n, err := db.sql.Exec(ctx, `DELETE FROM message_templates WHERE id = $1 AND coach_id = $2`, id, coachID)
	if err != nil {
		return fmt.Errorf("delete template %s: %w", id, err)
	}
	if n == 1 {
		return nil
	}
	return fault.Missing()
}
