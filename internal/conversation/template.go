package conversation

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
)

// TemplatesFeature is the feature of a tier that new templates need.
const TemplatesFeature = "templates"

// MaxTemplates is how many templates a coach may have.
const MaxTemplates = 100

// Template is a text that a coach sends repeatedly.
type Template struct {
	ID, CoachID string
	Title, Text string
	CreatedAt   time.Time
}

// AddTemplate saves a template of the calling coach. The coach's row is locked while the templates are
// counted.
func (s *Service) AddTemplate(ctx context.Context, by actor.Actor, title, text string) (Template, error) {
	t := Template{ID: s.NewID(), CoachID: by.AccountID, Title: title, Text: text}
	return t, s.DB.Write(ctx, func(tx *store.Tx) error {
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
			return fault.SessionEnded()
		}
		if err != nil {
			return fmt.Errorf("count templates: %w", err)
		}
		if err := s.CheckFeature(tier, TemplatesFeature); err != nil {
			return err
		}
		if n >= MaxTemplates {
			return fault.Validation([]fault.Field{{Code: "too_many", Detail: "You have 100 templates. Delete one first."}})
		}
		t.CreatedAt = tx.Now
		return tx.Defer(ctx, `INSERT INTO message_templates (id, coach_id, title, body, created_at) VALUES ($1, $2, $3, $4, $5)`,
			t.ID, t.CoachID, t.Title, t.Text, database.Micros(tx.Now))
	})
}

func scanTemplate(row database.Scanner) (t Template, err error) {
	return t, row.Scan(&t.ID, &t.CoachID, &t.Title, &t.Text, database.IntoTime(&t.CreatedAt))
}

// Templates lists the templates of the calling coach before the one with an id, newest first.
func (s *Service) Templates(ctx context.Context, by actor.Actor, before string, limit int) ([]Template, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT id, coach_id, title, body, created_at FROM message_templates WHERE coach_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
		by.AccountID, database.Before(before), limit)
	return database.Collect(rs, err, scanTemplate)
}

// Template returns a template of the calling coach.
func (s *Service) Template(ctx context.Context, by actor.Actor, id string) (Template, error) {
	t, err := scanTemplate(s.DB.QueryRow(ctx, `
		SELECT id, coach_id, title, body, created_at FROM message_templates WHERE id = $1 AND coach_id = $2`, id, by.AccountID))
	return t, database.OrMissing(err, "read template "+id)
}

// DeleteTemplate deletes a template of the calling coach.
func (s *Service) DeleteTemplate(ctx context.Context, by actor.Actor, id string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM message_templates WHERE id = $1 AND coach_id = $2`, id, by.AccountID)
		if err == nil && n == 0 {
			err = fault.Missing()
		}
		return err
	})
}
