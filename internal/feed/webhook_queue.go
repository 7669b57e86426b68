package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// WebhookTarget is where the messages of a webhook go, and how they are signed.
type WebhookTarget struct {
	URL string
	// Secrets sign each message: the current one, then the one before while both are valid.
	Secrets []string
}

// WebhookHealth is a change of the endpoint's state, for the log.
type WebhookHealth struct {
	// FirstFailure says that the attempt failed and the one before did not.
	FirstFailure bool
	// Disabled is the reason if the result disabled the webhook, or "".
	Disabled string
}

// webhookBatch limits the changes that become messages in one transaction.
const webhookBatch = 500

// Due gives positions to new changes and returns the webhooks that have something to
// send.
func (h *Webhooks) Due(ctx context.Context) (ids []string, anyEnabled bool, err error) {
	if err := positionAll(ctx, h.DB); err != nil {
		return nil, false, err
	}
	type candidate struct {
		id  string
		due bool
	}
	rs, err := h.DB.Query(ctx, `
		SELECT w.id, (w.paused_until IS NULL OR w.paused_until <= $1) AND (w.position < f.last OR w.replay_end IS NOT NULL OR coalesce((
			SELECT m.due_at FROM webhook_messages m WHERE m.webhook_id = w.id AND m.state = 'queued' ORDER BY m.due_at, m.id LIMIT 1) <= $1, FALSE))
		FROM webhooks w JOIN change_feed f ON f.id = 1 WHERE w.disabled_at IS NULL ORDER BY w.id`, database.Micros(h.DB.Now()))
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

// Queue queues messages for the next changes of the feed. Of concurrent calls
// one moves the position of the webhook; the others do nothing.
func (h *Webhooks) Queue(ctx context.Context, id string) (int64, error) {
	var at, last int64
	var types []string
	err := h.DB.QueryRow(ctx, `
		SELECT w.position, w.types, f.last FROM webhooks w JOIN change_feed f ON f.id = 1
		WHERE w.id = $1 AND w.disabled_at IS NULL`, id).Scan(&at, database.IntoWords(&types), &last)
	if database.IsNoRows(err) || err == nil && at >= last {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the position of webhook %s: %w", id, err)
	}
	to := min(at+webhookBatch, last)
	err = h.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE webhooks SET position = $3 WHERE id = $1 AND position = $2 AND disabled_at IS NULL`, id, at, to)
		if err != nil || n == 0 {
			return err
		}
		_, err = insertMessages(ctx, tx, newMessage, id, types, at, to)
		return err
	})
	return to - at, fault.Wrap(err, "queue messages of webhook %s", id)
}

// The conflict clauses of insertMessages: a message that was queued already stays, or
// is queued again. A claim of it ends.
const (
	newMessage      = ` DO NOTHING`
	replayedMessage = ` DO UPDATE SET state = 'queued', attempts = 0, due_at = excluded.due_at, lease = NULL, status = 0, error = '', updated_at = excluded.updated_at`
)

// insertMessages queues messages for the changes of these types after one position, up
// to another. A message of a player waits with an earlier one that waits for its next
// attempt.
func insertMessages(ctx context.Context, tx *store.Tx, onConflict, id string, types []string, after, to int64) (int64, error) {
	types = Webhook{Types: types}.Sent()
	args := []any{id, after, to, database.Micros(tx.Now)}
	for i := range ChangeTypes { // one text whatever the number of types
		args = append(args, types[min(i, len(types)-1)])
	}
	return tx.Exec(ctx, `
		INSERT INTO webhook_messages (webhook_id, id, player_id, sequence, type, party, guardian_state, student_state, at,
			state, attempts, due_at, status, error, created_at, updated_at, guardian_id)
		SELECT CAST($1 AS TEXT), 'msg_' || c.player_id || '_' || CAST(c.sequence AS TEXT), c.player_id, c.sequence, c.type, c.party, c.guardian_state, c.student_state, c.at,
			'queued', 0, coalesce((
				SELECT max(m.due_at) FROM webhook_messages m
				WHERE m.webhook_id = $1 AND m.player_id = c.player_id AND m.state = 'queued' AND m.lease IS NULL AND m.attempts > 0), CAST($4 AS BIGINT)),
			0, '', CAST($4 AS BIGINT), CAST($4 AS BIGINT), c.guardian_id
		FROM changes c WHERE c.position > $2 AND c.position <= $3 AND c.type IN (`+database.Params(5, len(ChangeTypes))+`)
		ON CONFLICT (webhook_id, id)`+onConflict, args...)
}

// Claim claims up to n due messages that no earlier message of their player
// blocks. A concurrent change of the webhook commits before its URL is read, or waits for the
// claims, which changeEndpoint then ends.
func (h *Webhooks) Claim(ctx context.Context, id, lease string, until time.Time, n int) (target WebhookTarget, claimed []WebhookMessage, err error) {
	var secret, old []byte
	var w Webhook
	err = h.DB.Write(ctx, func(tx *store.Tx) error {
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
				ORDER BY m.due_at, m.id LIMIT $5 `+tx.SkipLocked()+`)
			RETURNING `+webhookMessageColumns, id, database.Micros(tx.Now), lease, database.Micros(until), n)
		claimed, err = database.Collect(rs, err, scanWebhookMessage)
		return err
	})
	if err == nil && len(claimed) > 0 {
		if !w.SignsWithOld(h.DB.Now()) {
			old = nil
		}
		target.Secrets, err = h.unsealSecrets(id, secret, old)
	}
	if err != nil {
		return target, nil, fmt.Errorf("claim messages of webhook %s: %w", id, err)
	}
	return target, claimed, nil
}

// unsealSecrets decrypts the secrets of a webhook that it has.
func (h *Webhooks) unsealSecrets(id string, sealed ...[]byte) (secrets []string, err error) {
	for _, s := range sealed {
		if s == nil {
			continue
		}
		secret, err := h.DB.Unseal(vault.ForWebhook, s, id)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// acceptedPrecision limits the writes of accepted_at.
const acceptedPrecision = time.Minute

// SaveResult saves the result of an attempt of a claimed message. It disables the
// webhook if the endpoint is gone, or has failed for long when a message fails for good.
func (h *Webhooks) SaveResult(ctx context.Context, id string, m WebhookMessage, r WebhookResult) (health WebhookHealth, err error) {
	log, err := json.Marshal(m.logged(r))
	if err != nil {
		return health, err
	}
	err = h.DB.Write(ctx, func(tx *store.Tx) error {
		health = WebhookHealth{}
		due := r.DueAt
		if r.State != MessageQueued {
			due = tx.Now
		}
		n, err := tx.Exec(ctx, `
			UPDATE webhook_messages SET state = $4, due_at = $5, lease = NULL, status = $6, error = $7, updated_at = $8, attempt_log = $9
			WHERE webhook_id = $1 AND id = $2 AND lease = $3 AND state = 'queued'`,
			id, m.ID, m.Lease, r.State, database.Micros(due), r.Status, r.Error, database.Micros(tx.Now), string(log))
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
		if r.State == MessageDelivered {
			return tx.Defer(ctx, `
				UPDATE webhooks SET failing_since = NULL, accepted_at = $2
				WHERE id = $1 AND (failing_since IS NOT NULL OR accepted_at IS NULL OR accepted_at < $3)`,
				id, database.Micros(tx.Now), database.Micros(tx.Now.Add(-acceptedPrecision)))
		}
		health, err = markFailing(ctx, tx, id, m, r)
		return err
	})
	if err != nil {
		return health, fmt.Errorf("save the result of message %s of webhook %s: %w", m.ID, id, err)
	}
	return health, nil
}

// markFailing saves that an endpoint did not accept a message, and disables its webhook if
// it is gone or has failed for long.
func markFailing(ctx context.Context, tx *store.Tx, id string, m WebhookMessage, r WebhookResult) (health WebhookHealth, err error) {
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
