// Package notice owns what people read inside the app: their notifications with the copies that
// leave it, the streams that tell an app of new ones, and its subscriptions for push messages.
// Package message decides who is notified of an event, on which channels and in which words.
package notice

import (
	"context"
	"fmt"
	"math"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// MaxUnread limits how many unread notifications are counted: apps show "99+", and each call of
// /api/me counts.
const MaxUnread = 100

// Tray gives an account access to its notifications.
type Tray struct{ DB *store.DB }

func scanNotification(s database.Scanner) (n message.Notification, err error) {
	return n, s.Scan(&n.Seq, &n.ID, &n.Type, &n.Title, &n.Body, database.IntoJSON(&n.Data), database.IntoTime(&n.CreatedAt), database.IntoTime(&n.ReadAt))
}

// List returns the caller's notifications with a Seq below before, newest first. before 0 starts
// with the newest.
func (t *Tray) List(ctx context.Context, by actor.Actor, unreadOnly bool, before int64, limit int) ([]message.Notification, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	query := `
		SELECT seq, id, type, title, body, data, created_at, read_at FROM notifications
		WHERE account_id = $1 AND seq < $2
		ORDER BY seq DESC LIMIT $3`
	if unreadOnly {
		query = `
		SELECT seq, id, type, title, body, data, created_at, read_at FROM notifications
		WHERE account_id = $1 AND seq < $2 AND read_at IS NULL
		ORDER BY seq DESC LIMIT $3`
	}
	rs, err := t.DB.Query(ctx, query, by.AccountID, before, limit)
	return database.Collect(rs, err, scanNotification)
}

// After returns the caller's notifications with a Seq above seq, oldest first.
func (t *Tray) After(ctx context.Context, by actor.Actor, seq int64, limit int) ([]message.Notification, error) {
	rs, err := t.DB.Query(ctx, `
		SELECT seq, id, type, title, body, data, created_at, read_at FROM notifications
		WHERE account_id = $1 AND seq > $2
		ORDER BY seq LIMIT $3`, by.AccountID, seq, limit)
	return database.Collect(rs, err, scanNotification)
}

// SeqOf returns the Seq of one of the caller's notifications. If it was deleted, it returns
// the Seq of the newest one with a smaller id, or 0: ids sort by the clocks of replicas.
func (t *Tray) SeqOf(ctx context.Context, by actor.Actor, id string) (int64, error) {
	var seq int64
	err := t.DB.QueryRow(ctx, `SELECT seq FROM notifications WHERE id = $1 AND account_id = $2`, id, by.AccountID).Scan(&seq)
	if !database.IsNoRows(err) {
		return seq, err
	}
	// The scan from the newest reads only what the stream sends again anyway.
	err = t.DB.QueryRow(ctx, `
		SELECT seq FROM notifications WHERE account_id = $1 AND id < $2
		ORDER BY seq DESC LIMIT 1`, by.AccountID, id).Scan(&seq)
	if database.IsNoRows(err) {
		return 0, nil
	}
	return seq, err
}

// MarkRead marks the caller's notifications among ids as read and ignores other ids.
// It returns how many are still unread, at most MaxUnread.
func (t *Tray) MarkRead(ctx context.Context, by actor.Actor, ids []string) (int, error) {
	args := database.PaddedIDs(ids)
	return t.markRead(ctx, by, ` AND id IN (`+database.Params(3, len(args))+`)`, args)
}

// MarkAllRead marks all of the caller's notifications as read. It returns how many
// arrived meanwhile.
func (t *Tray) MarkAllRead(ctx context.Context, by actor.Actor) (int, error) {
	return t.markRead(ctx, by, "", nil)
}

func (t *Tray) markRead(ctx context.Context, by actor.Actor, which string, args []any) (unread int, err error) {
	err = t.DB.Write(ctx, func(tx *store.Tx) error {
		err := tx.Defer(ctx, `UPDATE notifications SET read_at = $2 WHERE account_id = $1 AND read_at IS NULL`+which,
			append([]any{by.AccountID, database.Micros(tx.Now)}, args...)...)
		if err != nil {
			return fmt.Errorf("mark notifications as read: %w", err)
		}
		unread, err = CountUnread(ctx, tx, by.AccountID)
		return err
	})
	return unread, err
}

// unreadRefusals are the unread notifications of the account $1 of a no to the questions about the player $2.
const unreadRefusals = `player_id = $2 AND account_id = $1 AND read_at IS NULL
	AND type IN ('guardian_rejected', 'guardian_revoked', 'student_rejected', 'student_revoked')`

// MarkRefusalsRead marks the caller's notifications of a no to the questions about a player as
// read, because the caller reads it on the player's page. It writes nothing if there is none.
func (t *Tray) MarkRefusalsRead(ctx context.Context, by actor.Actor, playerID string) error {
	var any bool
	err := t.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM notifications WHERE `+unreadRefusals+`)`, by.AccountID, playerID).Scan(&any)
	if err == nil && any {
		err = t.DB.Write(ctx, func(tx *store.Tx) error {
			return tx.Defer(ctx, `UPDATE notifications SET read_at = $3 WHERE `+unreadRefusals, by.AccountID, playerID, database.Micros(tx.Now))
		})
	}
	return fault.Wrap(err, "mark refusals as read")
}

// Unread returns the number of the caller's unread notifications, at most MaxUnread.
func (t *Tray) Unread(ctx context.Context, by actor.Actor) (int, error) {
	return CountUnread(ctx, t.DB, by.AccountID)
}

// UnreadNews is Unread without the replies of families, which the coach's pages count as messages.
func (t *Tray) UnreadNews(ctx context.Context, by actor.Actor) (n int, err error) {
	err = t.DB.QueryRow(ctx, `
		SELECT count(*) FROM (
			SELECT 1 FROM notifications WHERE account_id = $1 AND read_at IS NULL AND type <> 'team_reply' LIMIT $2) AS unread`,
		by.AccountID, MaxUnread).Scan(&n)
	return n, err
}

// CountUnread returns the number of unread notifications of an account, at most MaxUnread.
func CountUnread(ctx context.Context, q database.Querier, accountID string) (int, error) {
	var n int
	err := q.QueryRow(ctx, `
		SELECT count(*) FROM (
			SELECT 1 FROM notifications WHERE account_id = $1 AND read_at IS NULL LIMIT $2) AS unread`,
		accountID, MaxUnread).Scan(&n)
	return n, err
}
