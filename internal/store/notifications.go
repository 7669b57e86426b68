package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
)

func scanNotification(s database.Scanner) (n message.Notification, err error) {
	return n, s.Scan(&n.Seq, &n.ID, &n.Type, &n.Title, &n.Body, database.IntoJSON(&n.Data), database.IntoTime(&n.CreatedAt), database.IntoTime(&n.ReadAt))
}

// Notifications lists an account's notifications with a Seq below before, newest
// first. before 0 starts with the newest.
func (db *DB) Notifications(ctx context.Context, accountID string, unreadOnly bool, before int64, limit int) ([]message.Notification, error) {
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
	rs, err := db.sql.Query(ctx, query, accountID, before, limit)
	return database.Collect(rs, err, scanNotification)
}

// NotificationsAfter lists an account's notifications with a Seq above after, oldest
// first.
func (db *DB) NotificationsAfter(ctx context.Context, accountID string, after int64, limit int) ([]message.Notification, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT seq, id, type, title, body, data, created_at, read_at FROM notifications
		WHERE account_id = $1 AND seq > $2
		ORDER BY seq LIMIT $3`, accountID, after, limit)
	return database.Collect(rs, err, scanNotification)
}

// NotificationSeq returns the Seq of a notification of the account. If it was deleted, it returns
// the Seq of the newest one with a smaller id, or 0: ids sort by the clocks of replicas.
func (db *DB) NotificationSeq(ctx context.Context, accountID, id string) (int64, error) {
	var seq int64
	err := db.sql.QueryRow(ctx, `SELECT seq FROM notifications WHERE id = $1 AND account_id = $2`, id, accountID).Scan(&seq)
	if !database.IsNoRows(err) {
		return seq, err
	}
	// The scan from the newest reads only what the stream sends again anyway.
	err = db.sql.QueryRow(ctx, `
		SELECT seq FROM notifications WHERE account_id = $1 AND id < $2
		ORDER BY seq DESC LIMIT 1`, accountID, id).Scan(&seq)
	if database.IsNoRows(err) {
		return 0, nil
	}
	return seq, err
}

// MarkRead marks the account's notifications among ids as read, or all if ids is nil.
// It returns how many are still unread.
func (db *DB) MarkRead(ctx context.Context, accountID string, ids []string, at time.Time) (int, error) {
	var unread int
	err := db.Write(ctx, func(tx *Tx) error {
		query := `UPDATE notifications SET read_at = $2 WHERE account_id = $1 AND read_at IS NULL`
		args := []any{accountID, database.Micros(at)}
		if ids != nil {
			args = append(args, database.PaddedIDs(ids)...)
			query += ` AND id IN (` + database.Params(3, len(args)-2) + `)`
		}
		if err := tx.Defer(ctx, query, args...); err != nil {
			return fmt.Errorf("mark notifications as read: %w", err)
		}
		var err error
		unread, err = CountUnread(ctx, tx, accountID)
		return err
	})
	return unread, err
}

// unreadRefusals are the unread notifications of the account $1 of a no to the questions about the player $2.
const unreadRefusals = `player_id = $2 AND account_id = $1 AND read_at IS NULL
	AND type IN ('guardian_rejected', 'guardian_revoked', 'student_rejected', 'student_revoked')`

// MarkRefusalsRead marks the notifications of the account of a no to the questions about a player as
// read. It writes nothing if there is none, because each view of the player's page calls it.
func (db *DB) MarkRefusalsRead(ctx context.Context, accountID, playerID string, at time.Time) error {
	var any bool
	err := db.sql.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM notifications WHERE `+unreadRefusals+`)`, accountID, playerID).Scan(&any)
	if err == nil && any {
		err = db.Write(ctx, func(tx *Tx) error {
			return tx.Defer(ctx, `UPDATE notifications SET read_at = $3 WHERE `+unreadRefusals, accountID, playerID, database.Micros(at))
		})
	}
	if err != nil {
		return fmt.Errorf("mark refusals as read: %w", err)
	}
	return nil
}

// Unread returns the number of unread notifications of an account, at most
// message.MaxUnread.
func (db *DB) Unread(ctx context.Context, accountID string) (int, error) {
	return CountUnread(ctx, db.sql, accountID)
}

func CountUnread(ctx context.Context, q database.Querier, accountID string) (int, error) {
	var n int
	err := q.QueryRow(ctx, `
		SELECT count(*) FROM (
			SELECT 1 FROM notifications WHERE account_id = $1 AND read_at IS NULL LIMIT $2) AS unread`,
		accountID, message.MaxUnread).Scan(&n)
	return n, err
}
