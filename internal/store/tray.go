package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
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
		return n, fmt.Errorf("data of notification %s: %w", n.ID, err)
	}
	return n, nil
}

// Notifications lists those of an account, newest first, with a seq below
// before; 0 starts at the top.
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

// NotificationsAfter lists those with a seq above after, oldest first.
func (db *DB) NotificationsAfter(ctx context.Context, accountID string, after int64, limit int) ([]notify.Notification, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT seq, id, type, title, body, data, created_at, read_at FROM notifications
		WHERE account_id = $1 AND seq > $2
		ORDER BY seq LIMIT $3`, accountID, after, limit)
	return database.Collect(rs, err, scanNotification)
}

// NotificationSeq returns the seq of a notification of the account. One that is
// there no more is placed by its id, which holds its time: after what is older.
func (db *DB) NotificationSeq(ctx context.Context, accountID, id string) (int64, bool, error) {
	var seq int64
	err := db.sql.QueryRow(ctx, `SELECT seq FROM notifications WHERE id = $1 AND account_id = $2`, id, accountID).Scan(&seq)
	if !errors.Is(err, sql.ErrNoRows) {
		return seq, err == nil, err
	}
	// Looks from the newest on at what would be sent again in any case.
	err = db.sql.QueryRow(ctx, `
		SELECT seq FROM notifications WHERE account_id = $1 AND id < $2
		ORDER BY seq DESC LIMIT 1`, accountID, id).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, true, nil
	}
	return seq, err == nil, err
}

// MarkRead marks those of the account among ids, or all where ids is nil, and
// returns how many are unread then.
func (db *DB) MarkRead(ctx context.Context, accountID string, ids []string, at time.Time) (int, error) {
	var unread int
	err := db.write(ctx, func(tx *tx) error {
		query := `UPDATE notifications SET read_at = $2 WHERE account_id = $1 AND read_at IS NULL`
		args := []any{accountID, micros(at)}
		if ids != nil {
			marks := make([]string, paddedSize(len(ids)))
			for i := range marks {
				marks[i] = fmt.Sprintf("$%d", len(args)+1)
				id := "" // fills up: no notification has it
				if i < len(ids) {
					id = ids[i]
				}
				args = append(args, id)
			}
			query += ` AND id IN (` + strings.Join(marks, ", ") + `)`
		}
		if err := tx.Defer(ctx, query, args...); err != nil {
			return fmt.Errorf("mark read: %w", err)
		}
		var err error
		unread, err = countUnread(ctx, tx, accountID)
		return err
	})
	return unread, err
}

// paddedSize rounds up, so that lists of any length make a few statements only.
func paddedSize(n int) int {
	size := 1
	for size < n {
		size *= 4
	}
	return size
}

// Unread counts the unread notifications of an account, to notify.MaxUnread.
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

// StreamState asks all that a stream must know, in one statement.
func (db *DB) StreamState(ctx context.Context, sessionID, accountID string, role actor.Role, now time.Time) (notify.StreamState, error) {
	var st notify.StreamState
	err := db.sql.QueryRow(ctx, `
		SELECT a.tray_seq,
			(SELECT count(*) FROM players p WHERE p.guardian_id = a.id AND a.role = 'guardian' AND p.deleted_at IS NULL)
			+ (SELECT count(*) FROM players p WHERE p.student_id = a.id AND a.role = 'student' AND p.deleted_at IS NULL)
		FROM sessions s JOIN accounts a ON a.id = s.account_id
		WHERE s.id = $1 AND s.account_id = $2 AND s.role = $3 AND s.revoked_at IS NULL AND s.ends_at > $4`,
		sessionID, accountID, string(role), micros(now)).Scan(&st.Seq, &st.Links)
	if errors.Is(err, sql.ErrNoRows) {
		return notify.StreamState{}, nil
	}
	st.Live = err == nil
	return st, err
}
