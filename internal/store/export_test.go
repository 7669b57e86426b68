package store

// Announce is announce.
func (db *DB) Announce(accountIDs []string) { db.announce(accountIDs) }
