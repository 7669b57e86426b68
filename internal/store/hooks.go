package store

// WakeFeed wakes the readers of the feed of changes in all replicas after the commit.
func (tx *Tx) WakeFeed() {
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
