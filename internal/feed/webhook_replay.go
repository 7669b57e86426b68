package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// fromPrecision lets a caller that computes from as ChangesKept ago, before the call, ask for all changes.
const fromPrecision = time.Minute

// Replay makes the worker queue the messages of a range of time again, under the same ids, whether they were
// delivered or not. A zero to has no end: the range then has all changes that were committed before the call, also if
// the clock of another replica is ahead. It returns the number of changes in the range. A replay that continues the one
// in progress, such as the same one again, extends it.
func (h *Webhooks) Replay(ctx context.Context, by actor.Operator, id string, from, to time.Time) (int64, error) {
	if err := positionAll(ctx, h.DB); err != nil { // the range has what was committed before the call
		return 0, err
	}
	now := h.Now()
	var f []fault.Field
	switch {
	case now.Sub(from) > ChangesKept+fromPrecision:
		f = append(f, fault.Field{Pointer: "/from", Code: "invalid_value", Detail: "Changes are kept for 90 days."})
	case to.IsZero() && from.After(now):
		f = append(f, fault.Field{Pointer: "/from", Code: "invalid_value", Detail: "This must be in the past."})
	}
	if !to.IsZero() && !to.After(from) {
		f = append(f, fault.Field{Pointer: "/to", Code: "invalid_value", Detail: "This must be after from."})
	}
	if err := fault.Validation(f); err != nil {
		return 0, err
	}
	return h.beginReplay(ctx, by, id, from, to)
}

// beginReplay saves the range of a replay.
func (h *Webhooks) beginReplay(ctx context.Context, by actor.Operator, id string, from, to time.Time) (changes int64, err error) {
	err = h.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := readWebhook(ctx, tx, id); err != nil {
			return err
		}
		first, err := positionAt(ctx, tx, from.UnixMicro())
		if err != nil {
			return err
		}
		end, err := positionAt(ctx, tx, database.UntilMicros(to))
		if err != nil {
			return err
		}
		if changes = max(0, end-first); changes > 0 {
			if err := saveReplay(ctx, tx, id, first, end-1); err != nil {
				return err
			}
			tx.AfterCommit(h.OnQueued)
		}
		until := "now"
		if !to.IsZero() {
			until = to.UTC().Format(time.RFC3339)
		}
		return tx.Record(ctx, by, operator.WebhookReplayed, "webhook", id, "from "+from.UTC().Format(time.RFC3339)+" to "+until)
	})
	return changes, err
}

// positionAt returns the first position that was given at or after a time, or the next one. Positions and their times grow together, so
// it searches by halves.
func positionAt(ctx context.Context, q database.Querier, micros int64) (int64, error) {
	var from, to int64
	err := q.QueryRow(ctx, `
		SELECT coalesce((SELECT min(position) FROM changes WHERE position IS NOT NULL), 1),
			coalesce((SELECT max(position) FROM changes WHERE position IS NOT NULL), 0) + 1`).Scan(&from, &to)
	for from < to && err == nil {
		middle := from + (to-from)/2
		var position, at int64
		err = q.QueryRow(ctx, `SELECT position, positioned_at FROM changes WHERE position >= $1 ORDER BY position LIMIT 1`, middle).Scan(&position, &at)
		if at >= micros {
			to = middle
		} else {
			from = position + 1
		}
	}
	return from, fault.Wrap(err, "find the changes of a time")
}

// saveReplay begins a replay, or extends the one in progress if the changes from first continue it. It ends a
// pause of the webhook.
func saveReplay(ctx context.Context, tx *store.Tx, id string, first, last int64) error {
	n, err := tx.Exec(ctx, `
		UPDATE webhooks SET replay_first = coalesce(replay_first, $2), replay_at = coalesce(replay_at, CAST($2 AS BIGINT) - 1),
			replay_end = CASE WHEN replay_end > $3 THEN replay_end ELSE $3 END, paused_until = NULL
		WHERE id = $1 AND (replay_end IS NULL OR replay_first <= $2 AND replay_end >= CAST($2 AS BIGINT) - 1)`, id, first, last)
	if err != nil {
		return fmt.Errorf("save the replay of webhook %s: %w", id, err)
	}
	if n == 0 {
		if _, err := readWebhook(ctx, tx, id); err != nil {
			return err // deleted meanwhile
		}
		return fault.New(fault.Conflict, "invalid_transition", "Another replay of this webhook is in progress. Try again when it has ended.").With("state", "replaying")
	}
	return nil
}

// QueueReplay queues the next messages of a replay and returns the number of changes. Messages of the same players that
// wait for their next attempt become due, so that the replay does not wait with them. Of concurrent calls one moves the
// replay; the others do nothing.
func (h *Webhooks) QueueReplay(ctx context.Context, id string) (int64, error) {
	var at, end int64
	var types []string
	err := h.DB.QueryRow(ctx, `
		SELECT replay_at, replay_end, types FROM webhooks
		WHERE id = $1 AND disabled_at IS NULL AND replay_end IS NOT NULL`, id).Scan(&at, &end, database.IntoWords(&types))
	if database.IsNoRows(err) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the replay of webhook %s: %w", id, err)
	}
	to := min(at+webhookBatch, end)
	err = h.DB.Write(ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE webhooks SET replay_at = $3 WHERE id = $1 AND replay_at = $2 AND disabled_at IS NULL`, id, at, to)
		if err != nil || n == 0 {
			return err
		}
		err = tx.Defer(ctx, `
			UPDATE webhook_messages SET due_at = $2, attempts = 0
			WHERE webhook_id = $1 AND state = 'queued' AND due_at > $2 AND lease IS NULL
				AND player_id IN (SELECT c.player_id FROM changes c WHERE c.position > $3 AND c.position <= $4)`, id, database.Micros(tx.Now), at, to)
		if err != nil {
			return err
		}
		if _, err := insertMessages(ctx, tx, replayedMessage, id, types, at, to); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE webhooks SET replay_first = NULL, replay_at = NULL, replay_end = NULL
			WHERE id = $1 AND replay_at >= replay_end`, id)
		return err
	})
	return to - at, fault.Wrap(err, "queue the replay of webhook %s", id)
}
