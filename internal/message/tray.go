package message

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// MaxUnread limits how many unread notifications are counted: apps show "99+", and each call of
// /api/me counts.
const MaxUnread = 100

// TrayStore stores notifications. Package store implements it.
type TrayStore interface {
	// Notifications lists an account's notifications with a Seq below before, newest
	// first. before 0 starts with the newest.
	Notifications(ctx context.Context, accountID string, unreadOnly bool, before int64, limit int) ([]Notification, error)
	// NotificationsAfter lists notifications with a Seq above after, oldest first.
	NotificationsAfter(ctx context.Context, accountID string, after int64, limit int) ([]Notification, error)
	// NotificationSeq returns the Seq of a notification. If the account has none with that id,
	// as after its deletion, it returns the Seq of the newest one with a smaller id, or 0.
	NotificationSeq(ctx context.Context, accountID, id string) (int64, error)
	// MarkRead sets the read time of the account's unread notifications among ids, or
	// of all if ids is nil. It returns how many are still unread, at most MaxUnread.
	MarkRead(ctx context.Context, accountID string, ids []string, at time.Time) (int, error)
	// MarkRefusalsRead sets the read time of the account's unread notifications of a no to the
	// questions about a player.
	MarkRefusalsRead(ctx context.Context, accountID, playerID string, at time.Time) error
	// Unread returns the number of unread notifications, at most MaxUnread.
	Unread(ctx context.Context, accountID string) (int, error)
}

// Tray gives an account access to its in-app notifications.
type Tray struct {
	Store TrayStore
	Now   func() time.Time
}

// List returns the caller's notifications with a Seq below before, newest first.
func (t *Tray) List(ctx context.Context, by actor.Actor, unreadOnly bool, before int64, limit int) ([]Notification, error) {
	return t.Store.Notifications(ctx, by.AccountID, unreadOnly, before, limit)
}

// After returns the caller's notifications with a Seq above seq, oldest first.
func (t *Tray) After(ctx context.Context, by actor.Actor, seq int64, limit int) ([]Notification, error) {
	return t.Store.NotificationsAfter(ctx, by.AccountID, seq, limit)
}

// SeqOf returns the Seq of one of the caller's notifications, or of the newest one with a smaller
// id, or 0.
func (t *Tray) SeqOf(ctx context.Context, by actor.Actor, id string) (int64, error) {
	return t.Store.NotificationSeq(ctx, by.AccountID, id)
}

// MarkRead marks the caller's notifications among ids as read and ignores other ids.
// It returns how many are still unread.
func (t *Tray) MarkRead(ctx context.Context, by actor.Actor, ids []string) (int, error) {
	if ids == nil {
		ids = []string{}
	}
	return t.Store.MarkRead(ctx, by.AccountID, ids, t.Now())
}

// MarkAllRead marks all of the caller's notifications as read. It returns how many
// arrived meanwhile.
func (t *Tray) MarkAllRead(ctx context.Context, by actor.Actor) (int, error) {
	return t.Store.MarkRead(ctx, by.AccountID, nil, t.Now())
}

// MarkRefusalsRead marks the caller's notifications of a no to the questions about a player as
// read, because the caller reads it on the player's page.
func (t *Tray) MarkRefusalsRead(ctx context.Context, by actor.Actor, playerID string) error {
	return t.Store.MarkRefusalsRead(ctx, by.AccountID, playerID, t.Now())
}

// Unread returns the number of the caller's unread notifications, at most MaxUnread.
func (t *Tray) Unread(ctx context.Context, by actor.Actor) (int, error) {
	return t.Store.Unread(ctx, by.AccountID)
}
