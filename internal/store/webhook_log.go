package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

const webhookMessageColumns = `id, player_id, sequence, type, party, guardian_state, student_state, at, state, attempts, due_at, lease, status, error, created_at, updated_at`

func scanWebhookMessage(s database.Scanner) (m operator.WebhookMessage, err error) {
	err = s.Scan(&m.ID, database.IntoText(&m.PlayerID), &m.Sequence, &m.Type, database.IntoText((*string)(&m.Party)), &m.GuardianStatus, &m.StudentStatus, database.IntoTime(&m.At),
		&m.State, &m.Attempts, database.IntoTime(&m.DueAt), database.IntoText(&m.Lease), &m.Status, &m.Error, database.IntoTime(&m.CreatedAt), database.IntoTime(&m.UpdatedAt))
	for _, status := range []*string{&m.GuardianStatus, &m.StudentStatus} {
		if *status == "revoked" { // a state, not a status
			*status = "rejected"
		}
	}
	m.Test = m.PlayerID == ""
	return m, err
}

// WebhookLog lists the messages of a webhook, the newest event first, and audits the access.
func (db *DB) WebhookLog(ctx context.Context, by actor.Operator, id string, s operator.WebhookLogSearch, limit int) ([]operator.WebhookMessage, error) {
	before, beforeID := database.UntilMicros(s.After.At), s.After.ID
	var messages []operator.WebhookMessage
	err := db.Write(ctx, func(tx *Tx) error {
		if _, _, err := tx.webhook(ctx, id); err != nil {
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

// AddTestMessage queues a test message, unless check refuses.
func (db *DB) AddTestMessage(ctx context.Context, by actor.Operator, id string, m operator.WebhookMessage, check func(operator.Webhook) error) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.lockWebhook(ctx, id); err != nil {
			return err
		}
		w, _, err := tx.webhook(ctx, id)
		if err == nil {
			err = check(w)
		}
		if err != nil {
			return err
		}
		err = tx.Defer(ctx, `
			INSERT INTO webhook_messages (webhook_id, id, sequence, type, guardian_state, student_state, at, state, attempts, due_at, status, error, created_at, updated_at)
			VALUES ($1, $2, 0, 'test', '', '', $3, 'queued', 0, $3, 0, '', $3, $3)`, id, m.ID, database.Micros(m.At))
		if err != nil {
			return fmt.Errorf("add a test message to webhook %s: %w", id, err)
		}
		tx.AfterCommit(func() { tx.db.options.OnChanged(true) })
		return tx.Record(ctx, by, operator.WebhookTested, "webhook", id, m.ID)
	})
}

// lockWebhook keeps a webhook until the end of the transaction, or returns not_found.
func (tx *Tx) lockWebhook(ctx context.Context, id string) error {
	err := tx.QueryRow(ctx, `SELECT 1 FROM webhooks w WHERE w.id = $1 `+tx.ForShare("w"), id).Scan(new(int))
	return database.OrMissing(err, "lock webhook "+id)
}

// ReplayWebhook queues the messages of changes again, in batches.
func (db *DB) ReplayWebhook(ctx context.Context, by actor.Operator, id string, from, to time.Time) (int64, error) {
	var first, last int64
	var types []string
	err := db.Write(ctx, func(tx *Tx) error {
		err := tx.QueryRow(ctx, `
			SELECT types, position,
				coalesce((SELECT position FROM changes WHERE position IS NOT NULL AND positioned_at >= $2 ORDER BY positioned_at, position LIMIT 1), 0),
				coalesce((SELECT position FROM changes WHERE position IS NOT NULL AND positioned_at < $3 ORDER BY positioned_at DESC, position DESC LIMIT 1), 0)
			FROM webhooks WHERE id = $1`, id, database.Micros(from), database.Micros(to)).Scan(database.IntoWords(&types), new(int64), &first, &last)
		if err != nil {
			return database.OrMissing(err, "find the changes to replay for webhook "+id)
		}
		detail := fmt.Sprintf("from %s to %s", from.UTC().Format(time.RFC3339), to.UTC().Format(time.RFC3339))
		return tx.Record(ctx, by, operator.WebhookReplayed, "webhook", id, detail)
	})
	if err != nil || first == 0 {
		return 0, err
	}
	var total int64
	for at := first - 1; at < last; at += webhookBatch {
		var n int64
		err := db.Write(ctx, func(tx *Tx) (err error) {
			if err = tx.lockWebhook(ctx, id); err == nil {
				n, err = tx.insertWebhookMessages(ctx, replayedMessage, id, types, at, min(at+webhookBatch, last))
			}
			return err
		})
		if err != nil {
			return total, err
		}
		total += n
	}
	db.options.OnChanged(true)
	return total, nil
}
