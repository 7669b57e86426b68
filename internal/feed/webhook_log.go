package feed

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

const webhookMessageColumns = `id, player_id, sequence, type, party, guardian_id, guardian_state, student_state, at, state, attempts, due_at, lease, status, error, created_at, updated_at, attempt_log`

func scanWebhookMessage(s database.Scanner) (m WebhookMessage, err error) {
	err = s.Scan(&m.ID, database.IntoText(&m.PlayerID), &m.Sequence, &m.Type, database.IntoText((*string)(&m.Party)), database.IntoText(&m.GuardianID), &m.GuardianStatus, &m.StudentStatus, database.IntoTime(&m.At),
		&m.State, &m.Attempts, database.IntoTime(&m.DueAt), database.IntoText(&m.Lease), &m.Status, &m.Error, database.IntoTime(&m.CreatedAt), database.IntoTime(&m.UpdatedAt), database.IntoJSON(&m.Log))
	for _, status := range []*string{&m.GuardianStatus, &m.StudentStatus} {
		if *status == "revoked" { // a state, not a status
			*status = "rejected"
		}
	}
	m.Test = m.PlayerID == ""
	return m, err
}

// Log lists the messages of a webhook, the newest event first, and audits the access.
func (h *Webhooks) Log(ctx context.Context, by actor.Operator, id string, s WebhookLogSearch, limit int) ([]WebhookMessage, error) {
	before, beforeID := database.UntilMicros(s.After.At), s.After.ID
	var messages []WebhookMessage
	err := h.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := readWebhook(ctx, tx, id); err != nil {
			return err
		}
		var rs *database.Rows
		var err error
		if s.FailedOnly {
			rs, err = tx.Query(ctx, `
				SELECT `+webhookMessageColumns+` FROM webhook_messages
				WHERE webhook_id = $1 AND state = 'failed' AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT $4`, id, before, beforeID, limit)
		} else {
			rs, err = tx.Query(ctx, `
				SELECT `+webhookMessageColumns+` FROM webhook_messages
				WHERE webhook_id = $1 AND (at, id) < ($2, $3) ORDER BY at DESC, id DESC LIMIT $4`, id, before, beforeID, limit)
		}
		if messages, err = database.Collect(rs, err, scanWebhookMessage); err != nil {
			return fmt.Errorf("list the messages of webhook %s: %w", id, err)
		}
		return tx.Record(ctx, by, operator.WebhookLogRead, "webhook", id, "")
	})
	return messages, err
}

// addTest queues a test message unless the webhook is disabled.
func (h *Webhooks) addTest(ctx context.Context, by actor.Operator, id string, m WebhookMessage) error {
	return h.DB.Write(ctx, func(tx *store.Tx) error {
		if err := lockWebhook(ctx, tx, id); err != nil {
			return err
		}
		w, err := readWebhook(ctx, tx, id)
		if err != nil {
			return err
		}
		if !w.Enabled() {
			return fault.New(fault.Conflict, "invalid_transition", "This webhook is disabled. Enable it first.").With("state", "disabled")
		}
		err = tx.Defer(ctx, `
			INSERT INTO webhook_messages (webhook_id, id, sequence, type, guardian_state, student_state, at, state, attempts, due_at, status, error, created_at, updated_at)
			VALUES ($1, $2, 0, 'test', '', '', $3, 'queued', 0, $3, 0, '', $3, $3)`, id, m.ID, database.Micros(m.At))
		if err != nil {
			return fmt.Errorf("add a test message to webhook %s: %w", id, err)
		}
		tx.AfterCommit(h.OnQueued)
		return tx.Record(ctx, by, operator.WebhookTested, "webhook", id, m.ID)
	})
}

// lockWebhook keeps a webhook until the end of the transaction, or returns not_found.
func lockWebhook(ctx context.Context, tx *store.Tx, id string) error {
	err := tx.QueryRow(ctx, `SELECT 1 FROM webhooks w WHERE w.id = $1 `+tx.ForShare("w"), id).Scan(new(int))
	return database.OrMissing(err, "lock webhook "+id)
}
