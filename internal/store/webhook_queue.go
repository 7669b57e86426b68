package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

var _ operator.WebhookQueue = (*DB)(nil)

// webhookBatch limits the changes that become messages in one transaction.
const webhookBatch = 500

// DueWebhooks gives positions to new changes and returns the webhooks that have something to
// send.
func (db *DB) DueWebhooks(ctx context.Context) (ids []string, anyEnabled bool, err error) {
	for {
		n, err := db.PositionChanges(ctx)
		if err != nil {
			return nil, false, err
		}
		if n < positionBatch {
			break
		}
	}
	type candidate struct {
		id  string
		due bool
	}
	rs, err := db.sql.Query(ctx, `
		SELECT w.id, (w.paused_until IS NULL OR w.paused_until <= $1) AND (w.position < f.last OR coalesce((
			SELECT m.due_at FROM webhook_messages m WHERE m.webhook_id = w.id AND m.state = 'queued' ORDER BY m.due_at, m.id LIMIT 1) <= $1, FALSE))
		FROM webhooks w JOIN change_feed f ON f.id = 1 WHERE w.disabled_at IS NULL ORDER BY w.id`, database.Micros(db.Now()))
	all, err := database.Collect(rs, err, func(s database.Scanner) (c candidate, err error) { return c, s.Scan(&c.id, &c.due) })
	if err != nil {
		return nil, false, fmt.Errorf("find due webhooks: %w", err)
	}
	for _, c := range all {
		if c.due {
			ids = append(ids, c.id)
		}
	}
	return ids, len(all) > 0, nil
}

// QueueWebhookMessages queues messages for the next changes of the feed. Of concurrent calls
// one moves the position of the webhook; the others do nothing.
func (db *DB) QueueWebhookMessages(ctx context.Context, id string) (int64, error) {
	var at, last int64
	var types []string
	err := db.sql.QueryRow(ctx, `
		SELECT w.position, w.types, f.last FROM webhooks w JOIN change_feed f ON f.id = 1
		WHERE w.id = $1 AND w.disabled_at IS NULL`, id).Scan(&at, database.IntoWords(&types), &last)
	if database.IsNoRows(err) || err == nil && at >= last {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the position of webhook %s: %w", id, err)
	}
	to := min(at+webhookBatch, last)
	err = db.Write(ctx, func(tx *Tx) error {
		n, err := tx.Exec(ctx, `UPDATE webhooks SET position = $3 WHERE id = $1 AND position = $2 AND disabled_at IS NULL`, id, at, to)
		if err != nil || n == 0 {
			return err
		}
		_, err = tx.insertWebhookMessages(ctx, newMessage, id, types, at, to)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("queue messages of webhook %s: %w", id, err)
	}
	return to - at, nil
}

// The conflict clauses of insertWebhookMessages: a message that was queued already stays, or
// is queued again. A claim of it ends.
const (
	newMessage      = ` DO NOTHING`
	replayedMessage = ` DO UPDATE SET state = 'queued', attempts = 0, due_at = excluded.due_at, lease = NULL, status = 0, error = '', updated_at = excluded.updated_at`
)

// insertWebhookMessages queues messages for the changes of these types after one position, up
// to another. A message of a player waits with an earlier one that waits for its next
// attempt.
func (tx *Tx) insertWebhookMessages(ctx context.Context, onConflict, id string, types []string, after, to int64) (int64, error) {
	types = operator.Webhook{Types: types}.Sent()
	args := []any{id, after, to, database.Micros(tx.Now)}
	for i := range operator.ChangeTypes { // one text whatever the number of types
		args = append(args, types[min(i, len(types)-1)])
	}
	return tx.Exec(ctx, `
		INSERT INTO webhook_messages (webhook_id, id, player_id, sequence, type, party, guardian_state, student_state, at,
			state, attempts, due_at, status, error, created_at, updated_at)
		SELECT CAST($1 AS TEXT), 'msg_' || c.player_id || '_' || CAST(c.sequence AS TEXT), c.player_id, c.sequence, c.type, c.party, c.guardian_state, c.student_state, c.at,
			'queued', 0, coalesce((
				SELECT max(m.due_at) FROM webhook_messages m
				WHERE m.webhook_id = $1 AND m.player_id = c.player_id AND m.state = 'queued' AND m.lease IS NULL AND m.attempts > 0), CAST($4 AS BIGINT)),
			0, '', CAST($4 AS BIGINT), CAST($4 AS BIGINT)
		FROM changes c WHERE c.position > $2 AND c.position <= $3 AND c.type IN (`+database.Params(5, len(operator.ChangeTypes))+`)
		ON CONFLICT (webhook_id, id)`+onConflict, args...)
}

// ClaimWebhookMessages claims up to n due messages that no earlier message of their player
// blocks. A concurrent change of the webhook commits before its URL is read, or waits for the
// claims, which changeEndpoint then ends.
func (db *DB) ClaimWebhookMessages(ctx context.Context, id, lease string, until time.Time, n int) (target operator.WebhookTarget, claimed []operator.WebhookMessage, err error) {
	var secret, old []byte
	var w operator.Webhook
	err = db.Write(ctx, func(tx *Tx) error {
		claimed = nil
		err := tx.QueryRow(ctx, `
			SELECT w.url, w.secret, w.old_secret, w.old_secret_ends_at FROM webhooks w
			WHERE w.id = $1 AND w.disabled_at IS NULL AND (w.paused_until IS NULL OR w.paused_until <= $2) `+tx.ForShare("w"), id, database.Micros(tx.Now)).
			Scan(&target.URL, &secret, &old, database.IntoTime(&w.OldSecretEndsAt))
		if database.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		rs, err := tx.Query(ctx, `
			UPDATE webhook_messages SET lease = $3, due_at = $4, attempts = attempts + 1, updated_at = $2
			WHERE webhook_id = $1 AND id IN (
				SELECT m.id FROM webhook_messages m
				WHERE m.webhook_id = $1 AND m.state = 'queued' AND m.due_at <= $2 AND NOT EXISTS (
					SELECT 1 FROM webhook_messages e
					WHERE e.webhook_id = $1 AND e.player_id = m.player_id AND e.state = 'queued' AND e.sequence < m.sequence)
				ORDER BY m.due_at, m.id LIMIT $5 `+db.sql.SkipLocked()+`)
			RETURNING `+webhookMessageColumns, id, database.Micros(tx.Now), lease, database.Micros(until), n)
		claimed, err = database.Collect(rs, err, scanWebhookMessage)
		return err
	})
	if err == nil && len(claimed) > 0 {
		if !w.SignsWithOld(db.Now()) {
			old = nil
		}
		target.Secrets, err = db.unsealSecrets(id, secret, old)
	}
	if err != nil {
		return target, nil, fmt.Errorf("claim messages of webhook %s: %w", id, err)
	}
	return target, claimed, nil
}

// unsealSecrets decrypts the secrets of a webhook that it has.
func (db *DB) unsealSecrets(id string, sealed ...[]byte) (secrets []string, err error) {
	for _, s := range sealed {
		if s == nil {
			continue
		}
		secret, err := db.Unseal(auth.ForWebhook, s, id)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// acceptedPrecision limits the writes of accepted_at.
const acceptedPrecision = time.Minute

// SaveWebhookResult saves the result of an attempt of a claimed message. It disables the
// webhook if the endpoint is gone, or has failed for long when a message fails for good.
func (db *DB) SaveWebhookResult(ctx context.Context, id string, m operator.WebhookMessage, r operator.WebhookResult) (health operator.WebhookHealth, err error) {
	err = db.Write(ctx, func(tx *Tx) error {
		health = operator.WebhookHealth{}
		due := r.DueAt
		if r.State != operator.MessageQueued {
			due = tx.Now
		}
		n, err := tx.Exec(ctx, `
			UPDATE webhook_messages SET state = $4, due_at = $5, lease = NULL, status = $6, error = $7, updated_at = $8
			WHERE webhook_id = $1 AND id = $2 AND lease = $3 AND state = 'queued'`,
			id, m.ID, m.Lease, r.State, database.Micros(due), r.Status, r.Error, database.Micros(tx.Now))
		if err != nil || n == 0 {
			return err // another replica claimed it, or it was replayed
		}
		err = tx.Defer(ctx, `
			UPDATE webhook_messages SET due_at = $4
			WHERE webhook_id = $1 AND player_id = $2 AND state = 'queued' AND sequence > $3 AND lease IS NULL`,
			id, database.Text(m.PlayerID), m.Sequence, database.Micros(due))
		if err != nil {
			return err
		}
		if r.State == operator.MessageDelivered {
			return tx.Defer(ctx, `
				UPDATE webhooks SET failing_since = NULL, accepted_at = $2
				WHERE id = $1 AND (failing_since IS NOT NULL OR accepted_at IS NULL OR accepted_at < $3)`,
				id, database.Micros(tx.Now), database.Micros(tx.Now.Add(-acceptedPrecision)))
		}
		health, err = tx.webhookFailed(ctx, id, m, r)
		return err
	})
	if err != nil {
		return health, fmt.Errorf("save the result of message %s of webhook %s: %w", m.ID, id, err)
	}
	return health, nil
}

// webhookFailed saves that an endpoint did not accept a message, and disables its webhook if
// it is gone or has failed for long.
func (tx *Tx) webhookFailed(ctx context.Context, id string, m operator.WebhookMessage, r operator.WebhookResult) (health operator.WebhookHealth, err error) {
	var failingSince time.Time
	err = tx.QueryRow(ctx, `
		UPDATE webhooks SET failing_since = coalesce(failing_since, $2),
			paused_until = CASE WHEN CAST($3 AS BIGINT) > coalesce(paused_until, 0) THEN CAST($3 AS BIGINT) ELSE paused_until END
		WHERE id = $1 AND disabled_at IS NULL
		RETURNING failing_since`, id, database.Micros(tx.Now), database.Micros(r.PauseUntil)).Scan(database.IntoTime(&failingSince))
	if database.IsNoRows(err) {
		return health, nil // disabled or deleted meanwhile
	}
	if err != nil {
		return health, err
	}
	health.FirstFailure = failingSince.Equal(tx.Now)
	if health.Disabled = m.DisabledBy(r, failingSince, tx.Now); health.Disabled == "" {
		return health, nil
	}
	err = tx.ExecOne(ctx, `
		UPDATE webhooks SET disabled_at = $2, disabled_reason = $3, version = version + 1, updated_at = $2
		WHERE id = $1 AND disabled_at IS NULL`, id, database.Micros(tx.Now), health.Disabled)
	if err != nil {
		return health, fmt.Errorf("disable the webhook: %w", err)
	}
	return health, tx.Record(ctx, actor.Operator{Name: "webhook worker"}, operator.WebhookDisabled, "webhook", id, health.Disabled)
}
