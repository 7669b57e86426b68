package store

import "github.com/touchline/touchline/internal/message"

// wakeOutbox wakes a lane of this process's outbox after the commit.
func (tx *Tx) wakeOutbox(lane message.Lane) {
	tx.AfterCommit(func() { tx.db.options.OnQueued(lane) })
}

// wakeFeed wakes the readers of the feed of changes in all replicas after the commit.
func (tx *Tx) wakeFeed() {
	tx.AfterCommit(func() {
		tx.db.options.OnChanged(true)
		tx.db.announce([]string{changesAnnounced})
	})
}

// wakeStreams wakes the streams of the accounts in all replicas after the commit.
func (tx *Tx) wakeStreams(accountIDs []string) {
	if len(accountIDs) == 0 {
		return
	}
	tx.AfterCommit(func() {
		tx.db.options.OnNotified(accountIDs)
		tx.db.announce(accountIDs)
	})
}
