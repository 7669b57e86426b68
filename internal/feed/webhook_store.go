package feed

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

const webhookColumns = `id, url, description, types, disabled_at, disabled_reason, accepted_at, failing_since, old_secret_ends_at, replay_end IS NOT NULL, created_at, updated_at, version`

func scanWebhook(s database.Scanner) (w Webhook, err error) {
	err = s.Scan(&w.ID, &w.URL, &w.Description, database.IntoWords(&w.Types), database.IntoTime(&w.DisabledAt), database.IntoText(&w.DisabledReason), database.IntoTime(&w.AcceptedAt),
		database.IntoTime(&w.FailingSince), database.IntoTime(&w.OldSecretEndsAt), &w.Replaying, database.IntoTime(&w.CreatedAt), database.IntoTime(&w.UpdatedAt), &w.version)
	return w, err
}

// webhookDetail describes a webhook for the audit log.
func webhookDetail(w Webhook) string {
	state := "enabled"
	if !w.Enabled() {
		state = "disabled"
	}
	return fmt.Sprintf("to %s, %s, %s", hostOf(w.URL), strings.Join(w.Sent(), " "), state)
}

// hostOf returns the host of a URL for the audit log, because the path may hold a secret.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// add saves a webhook with its secret at the end of the feed.
func (h *Webhooks) add(ctx context.Context, by actor.Operator, w Webhook, secret string) error {
	sealed, err := h.DB.Seal(vault.ForWebhook, secret, w.ID)
	if err != nil {
		return err
	}
	return h.DB.Write(ctx, func(tx *store.Tx) error {
		err := tx.Defer(ctx, `
			INSERT INTO webhooks (id, url, description, types, secret, position, version, disabled_at, disabled_reason, created_at, updated_at)
			SELECT $1, $2, $3, $4, $5, last, 1, $6, $7, $8, $8 FROM change_feed WHERE id = 1`,
			w.ID, w.URL, w.Description, database.JoinWords(w.Types), sealed, database.Micros(w.DisabledAt), database.Text(w.DisabledReason), database.Micros(w.CreatedAt))
		if err != nil {
			return fmt.Errorf("add webhook: %w", err)
		}
		if err := tx.Complete(ctx, idempotency.Work{ID: w.ID, New: true}); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.WebhookCreated, "webhook", w.ID, webhookDetail(w))
	})
}

// update loads a webhook, lets fn change it, and saves it. fn may run more than once.
func (h *Webhooks) update(ctx context.Context, by actor.Operator, id string, fn func(*Webhook) error) (*Webhook, error) {
	var saved Webhook
	err := h.DB.Write(ctx, func(tx *store.Tx) error {
		w, err := readWebhook(ctx, tx, id)
		if err != nil {
			return err
		}
		before := w
		if err := fn(&w); err != nil {
			return err
		}
		err = tx.ExecOne(ctx, `
			UPDATE webhooks SET url = $3, description = $4, types = $5, disabled_at = $6, disabled_reason = $7, version = version + 1, updated_at = $8
			WHERE id = $1 AND version = $2`,
			id, w.version, w.URL, w.Description, database.JoinWords(w.Types), database.Micros(w.DisabledAt), database.Text(w.DisabledReason), database.Micros(w.UpdatedAt))
		if err != nil {
			return fmt.Errorf("save webhook %s: %w", id, err)
		}
		if w.Enabled() && !before.Enabled() {
			if err := resume(ctx, tx, before); err != nil {
				return err
			}
			w.FailingSince = time.Time{}
		}
		if w.URL != before.URL {
			if err := changeEndpoint(ctx, tx, id); err != nil {
				return err
			}
			w.FailingSince = time.Time{}
		}
		saved = w
		return tx.Record(ctx, by, operator.WebhookUpdated, "webhook", id, webhookDetail(w))
	})
	return &saved, err
}

func readWebhook(ctx context.Context, tx *store.Tx, id string) (Webhook, error) {
	w, err := scanWebhook(tx.QueryRow(ctx, `SELECT `+webhookColumns+` FROM webhooks WHERE id = $1`, id))
	if err != nil {
		return w, database.OrMissing(err, "read webhook "+id)
	}
	return w, nil
}

// resume makes a webhook that was disabled send its messages at once. If changes
// may be missing from the feed, it begins at the end of the feed.
func resume(ctx context.Context, tx *store.Tx, before Webhook) error {
	err := tx.Defer(ctx, `UPDATE webhooks SET paused_until = NULL, failing_since = NULL WHERE id = $1`, before.ID)
	if err != nil {
		return fmt.Errorf("resume webhook %s: %w", before.ID, err)
	}
	if before.MissedChanges(tx.Now) {
		err := tx.Defer(ctx, `UPDATE webhooks SET position = (SELECT last FROM change_feed WHERE id = 1) WHERE id = $1`, before.ID)
		if err != nil {
			return fmt.Errorf("move webhook %s to the end of the feed: %w", before.ID, err)
		}
	}
	err = tx.Defer(ctx, `
		UPDATE webhook_messages SET due_at = $2, attempts = 0
		WHERE webhook_id = $1 AND state = 'queued' AND due_at > $2 AND lease IS NULL`, before.ID, database.Micros(tx.Now))
	return fault.Wrap(err, "resume the messages of webhook %s", before.ID)
}

// changeEndpoint makes a webhook send its waiting messages to its new URL at once. The attempts in
// progress at the old one lose their claims: their results would count against the new one.
func changeEndpoint(ctx context.Context, tx *store.Tx, id string) error {
	err := tx.Defer(ctx, `UPDATE webhooks SET paused_until = NULL, failing_since = NULL WHERE id = $1`, id)
	if err == nil {
		err = tx.Defer(ctx, `
			UPDATE webhook_messages SET due_at = $2, attempts = 0, lease = NULL
			WHERE webhook_id = $1 AND state = 'queued' AND (due_at > $2 OR lease IS NOT NULL)`, id, database.Micros(tx.Now))
	}
	return fault.Wrap(err, "change the endpoint of webhook %s", id)
}

// saveSecret replaces the secret of a webhook. Messages are also signed with the one
// before until oldEndsAt, or not at all if that is zero.
func (h *Webhooks) saveSecret(ctx context.Context, by actor.Operator, id, secret string, oldEndsAt time.Time) (*Webhook, error) {
	sealed, err := h.DB.Seal(vault.ForWebhook, secret, id)
	if err != nil {
		return nil, err
	}
	var w Webhook
	err = h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		w, err = scanWebhook(tx.QueryRow(ctx, `
			UPDATE webhooks SET old_secret = CASE WHEN CAST($3 AS BIGINT) IS NULL THEN NULL ELSE secret END, old_secret_ends_at = CAST($3 AS BIGINT), secret = $2,
				version = version + 1, updated_at = $4
			WHERE id = $1
			RETURNING `+webhookColumns, id, sealed, database.Micros(oldEndsAt), database.Micros(tx.Now)))
		if err != nil {
			return database.OrMissing(err, "rotate the secret of webhook "+id)
		}
		detail := "the old secret ended"
		if !oldEndsAt.IsZero() {
			detail = "the old secret ends " + oldEndsAt.UTC().Format(time.RFC3339)
		}
		return tx.Record(ctx, by, operator.WebhookRotated, "webhook", id, detail)
	})
	return &w, err
}

// Delete deletes a webhook and, by its foreign key, its messages.
func (h *Webhooks) Delete(ctx context.Context, by actor.Operator, id string) error {
	return h.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM webhooks WHERE id = $1`, id)
		if err != nil {
			return fmt.Errorf("delete webhook %s: %w", id, err)
		}
		if n == 0 {
			return fault.Missing()
		}
		return tx.Record(ctx, by, operator.WebhookDeleted, "webhook", id, "")
	})
}

// Find returns a webhook and audits the access.
func (h *Webhooks) Find(ctx context.Context, by actor.Operator, id string) (*Webhook, error) {
	var w Webhook
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if w, err = readWebhook(ctx, tx, id); err != nil {
			return err
		}
		return tx.Record(ctx, by, operator.WebhookRead, "webhook", id, "")
	})
	return &w, err
}

// FindWithSecret returns a webhook and its newest secret, and audits the access.
func (h *Webhooks) FindWithSecret(ctx context.Context, by actor.Operator, id string) (*Webhook, string, error) {
	var w Webhook
	var sealed []byte
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		if w, err = readWebhook(ctx, tx, id); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `SELECT secret FROM webhooks WHERE id = $1`, id).Scan(&sealed); err != nil {
			return fmt.Errorf("read the secret of webhook %s: %w", id, err)
		}
		return tx.Record(ctx, by, operator.WebhookRead, "webhook", id, "with its secret")
	})
	if err != nil {
		return nil, "", err
	}
	secrets, err := h.unsealSecrets(id, sealed)
	if err != nil {
		return nil, "", err
	}
	return &w, secrets[0], nil
}

// List lists webhooks, newest first, and audits the access.
func (h *Webhooks) List(ctx context.Context, by actor.Operator, after string, limit int) ([]Webhook, error) {
	var webhooks []Webhook
	err := h.DB.Write(ctx, func(tx *store.Tx) error {
		rs, err := tx.Query(ctx, `SELECT `+webhookColumns+` FROM webhooks WHERE id < $1 ORDER BY id DESC LIMIT $2`, database.Before(after), limit)
		if webhooks, err = database.Collect(rs, err, scanWebhook); err != nil {
			return fmt.Errorf("list webhooks: %w", err)
		}
		return tx.Record(ctx, by, operator.WebhooksListed, "webhook", "", "")
	})
	return webhooks, err
}

// ReadWebhooks returns up to n webhooks, the oldest first, for a check of the installation. It is not audited, so it must not answer a caller.
func ReadWebhooks(ctx context.Context, db database.Querier, n int) ([]Webhook, error) {
	rs, err := db.Query(ctx, `SELECT `+webhookColumns+` FROM webhooks ORDER BY id LIMIT $1`, n)
	return database.Collect(rs, err, scanWebhook)
}

// Sealed are the columns that the service secret seals.
var Sealed = []store.Sealed{
	{
		Table: "webhooks", Column: "secret", Purpose: vault.ForWebhook,
		Read:  `SELECT id, secret FROM webhooks WHERE id > $2 ORDER BY id LIMIT $1`,
		Write: `UPDATE webhooks SET secret = $2 WHERE id = $3 AND secret = $1`,
	},
	{
		Table: "webhooks", Column: "old_secret", Purpose: vault.ForWebhook,
		Read:  `SELECT id, old_secret FROM webhooks WHERE id > $2 AND old_secret IS NOT NULL ORDER BY id LIMIT $1`,
		Write: `UPDATE webhooks SET old_secret = $2 WHERE id = $3 AND old_secret = $1`,
	},
}
