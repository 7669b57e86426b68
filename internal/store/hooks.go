package store

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/idempotency"
)

// Record is operator.AddEntry in the transaction.
func (tx *Tx) Record(ctx context.Context, by actor.Operator, action, objectKind, objectID, detail string) error {
	return operator.AddEntry(ctx, tx.Tx, tx.db.options.NewID(), by, action, objectKind, objectID, detail)
}

// WakeFeed wakes the readers of the feed of changes in all replicas after the commit.
func (tx *Tx) WakeFeed() {
	tx.AfterCommit(func() {
		tx.db.options.OnChanged(true)
		tx.db.announce([]string{changesAnnounced})
	})
}

// WakeStreams wakes the streams of the accounts in all replicas. Call it after the commit.
func (db *DB) WakeStreams(accountIDs []string) {
	if len(accountIDs) > 0 {
		db.options.OnNotified(accountIDs)
		db.announce(accountIDs)
	}
}

// Complete is idempotency.Complete in the transaction.
func (tx *Tx) Complete(ctx context.Context, w idempotency.Work) error {
	return idempotency.Complete(ctx, tx.Tx, w)
}

// TierChanged runs what features do after the stored tier of a coach has changed.
func (tx *Tx) TierChanged(ctx context.Context, coachID, before, after string) error {
	return tx.db.options.Hooks.Consents.TierChanged(ctx, tx, coachID, before, after)
}

// CoachShown is what families see of a coach who asks them.
type CoachShown struct {
	// Name is the name of the coach, and PictureHash the SHA-256 of the profile picture in hexadecimal digits. Both can be
	// empty.
	Name, PictureHash string
	// PictureShown reports whether the coach shows the picture in the directory, and so to families.
	PictureShown bool
}

// CoachChanged runs what depends on the name and the picture of a coach, after a change of them that takes effect. The
// row of the coach is locked. It does nothing if before and after are equal.
func (tx *Tx) CoachChanged(ctx context.Context, coachID string, before, after CoachShown) error {
	if consents := tx.db.options.Hooks.Consents; consents != nil && before != after {
		return consents.CoachChanged(ctx, tx, coachID, before, after)
	}
	return nil
}

// CoachRenaming tells the families of a coach that the coach wants to be called after from a time on. The row of the
// coach is locked.
func (tx *Tx) CoachRenaming(ctx context.Context, coachID, before, after string, from time.Time) error {
	if consents := tx.db.options.Hooks.Consents; consents != nil {
		return consents.CoachRenaming(ctx, tx, coachID, before, after, from)
	}
	return nil
}
