package notify

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/actor"
)

// MaxUnread is up to where unread notifications are counted.
const MaxUnread = 1000

// TrayStore is what a Tray needs kept; package store provides it.
type TrayStore interface {
	// Notifications lists those of an account, newest first, with a Seq below
	// before; 0 starts at the top.
	Notifications(ctx context.Context, accountID string, unreadOnly bool, before int64, limit int) ([]Notification, error)
	// NotificationsAfter lists those with a Seq above after, oldest first.
	NotificationsAfter(ctx context.Context, accountID string, after int64, limit int) ([]Notification, error)
	// NotificationSeq returns the Seq of a notification of the account; false
	// where it has none with that id.
	NotificationSeq(ctx context.Context, accountID, id string) (int64, bool, error)
	// MarkRead marks those of the account that are among ids, or every one where
	// ids is nil, as read at a time, and returns how many are still unread,
	// counted to MaxUnread. What is read already keeps its time.
	MarkRead(ctx context.Context, accountID string, ids []string, at time.Time) (int, error)
	// Unread counts to MaxUnread.
	Unread(ctx context.Context, accountID string) (int, error)
	// StreamState asks all that a stream must know, in one statement.
	StreamState(ctx context.Context, sessionID, accountID string, role actor.Role, now time.Time) (StreamState, error)
}

// StreamState is what decides whether a stream goes on, and how far it has come.
type StreamState struct {
	// Live says whether the session lives and is the account's in that role.
	Live bool
	// Seq is that of the account's newest notification, 0 where there was none.
	Seq int64
	// Links counts the players that name the account; 0 for a coach.
	Links int
}

// Tray is the in-app tray of each account.
type Tray struct {
	Store TrayStore
	Now   func() time.Time
}

// List returns the caller's notifications, newest first, below before.
func (t *Tray) List(ctx context.Context, by actor.Actor, unreadOnly bool, before int64, limit int) ([]Notification, error) {
	return t.Store.Notifications(ctx, by.AccountID, unreadOnly, before, limit)
}

// After returns the caller's notifications that follow seq, oldest first.
func (t *Tray) After(ctx context.Context, by actor.Actor, seq int64, limit int) ([]Notification, error) {
	return t.Store.NotificationsAfter(ctx, by.AccountID, seq, limit)
}

// SeqOf returns where one of the caller's notifications stands.
func (t *Tray) SeqOf(ctx context.Context, by actor.Actor, id string) (int64, bool, error) {
	return t.Store.NotificationSeq(ctx, by.AccountID, id)
}

// MarkRead marks those of ids that are the caller's as read; the others are
// passed over. It returns how many are still unread.
func (t *Tray) MarkRead(ctx context.Context, by actor.Actor, ids []string) (int, error) {
	if ids == nil {
		ids = []string{}
	}
	return t.Store.MarkRead(ctx, by.AccountID, ids, t.Now())
}

// MarkAllRead marks all that the caller has as read. It returns how many have
// come meanwhile.
func (t *Tray) MarkAllRead(ctx context.Context, by actor.Actor) (int, error) {
	return t.Store.MarkRead(ctx, by.AccountID, nil, t.Now())
}

// Unread counts what the caller has not read, to MaxUnread.
func (t *Tray) Unread(ctx context.Context, by actor.Actor) (int, error) {
	return t.Store.Unread(ctx, by.AccountID)
}

// State returns what a stream of the caller must know.
func (t *Tray) State(ctx context.Context, by actor.Actor) (StreamState, error) {
	return t.Store.StreamState(ctx, by.SessionID, by.AccountID, by.Role, t.Now())
}
