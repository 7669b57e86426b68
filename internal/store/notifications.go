package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/notify"
)

func scanNotification(s database.Scanner) (notify.Notification, error) {
	var n notify.Notification
	var data string
	err := s.Scan(&n.Seq, &n.ID, &n.Type, &n.Title, &n.Body, &data, intoTime(&n.CreatedAt), intoTime(&n.ReadAt))
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal([]byte(data), &n.Data); err != nil {
		return n, fmt.Errorf("decode data of notification %s: %w", n.ID, err)
	}
	return n, nil
}

// Notifications lists an account's notifications with a Seq below before, newest
// first. before 0 starts with the newest.
func (db *DB) Notifications(ctx context.Context, accountID string, unreadOnly bool, before int64, limit int) ([]notify.Notification, error) {
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
func (db *DB) NotificationsAfter(ctx context.Context, accountID string, after int64, limit int) ([]notify.Notification, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT seq, id, type, title, body, data, created_at, read_at FROM notifications
		WHERE account_id = $1 AND seq > $2
		ORDER BY seq LIMIT $3`, accountID, after, limit)
	return database.Collect(rs, err, scanNotification)
}

// NotificationSeq returns the Seq of a notification of the account. For a deleted
// notification it returns the Seq of the newest one that is older: ids sort by time.
func (db *DB) NotificationSeq(ctx context.Context, accountID, id string) (int64, bool, error) {
	var seq int64
	err := db.sql.QueryRow(ctx, `SELECT seq FROM notifications WHERE id = $1 AND account_id = $2`, id, accountID).Scan(&seq)
	if !isNoRows(err) {
		return seq, err == nil, err
	}
	// The scan from the newest reads only what the stream sends again anyway.
	err = db.sql.QueryRow(ctx, `
		SELECT seq FROM notifications WHERE account_id = $1 AND id < $2
		ORDER BY seq DESC LIMIT 1`, accountID, id).Scan(&seq)
	if isNoRows(err) {
		return 0, true, nil
	}
	return seq, err == nil, err
}

// MarkRead marks the account's notifications among ids as read, or all if ids is nil.
// It returns how many are still unread.
func (db *DB) MarkRead(ctx context.Context, accountID string, ids []string, at time.Time) (int, error) {
	var unread int
	err := db.write(ctx, func(tx *tx) error {
		query := `UPDATE notifications SET read_at = $2 WHERE account_id = $1 AND read_at IS NULL`
		args := []any{accountID, micros(at)}
		if ids != nil {
			marks := make([]string, paddedSize(len(ids)))
			for i := range marks {
				marks[i] = fmt.Sprintf("$%d", len(args)+1)
				id := "" // padding, the id of no notification
				if i < len(ids) {
					id = ids[i]
				}
				args = append(args, id)
			}
			query += ` AND id IN (` + strings.Join(marks, ", ") + `)`
		}
		if err := tx.Defer(ctx, query, args...); err != nil {
			return fmt.Errorf("mark notifications as read: %w", err)
		}
		var err error
		unread, err = countUnread(ctx, tx, accountID)
		return err
	})
	return unread, err
}

// paddedSize rounds n up to a power of 4, so that few statements are prepared.
func paddedSize(n int) int {
	size := 1
	for size < n {
		size *= 4
	}
	return size
}

// Unread returns the number of unread notifications of an account, at most
// notify.MaxUnread.
func (db *DB) Unread(ctx context.Context, accountID string) (int, error) {
	return countUnread(ctx, db.sql, accountID)
}

func countUnread(ctx context.Context, q database.Querier, accountID string) (int, error) {
	var n int
	err := q.QueryRow(ctx, `
		SELECT count(*) FROM (
			SELECT 1 FROM notifications WHERE account_id = $1 AND read_at IS NULL LIMIT $2) AS unread`,
		accountID, notify.MaxUnread).Scan(&n)
	return n, err
}
