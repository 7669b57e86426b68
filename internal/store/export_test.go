package store

// NewID returns a new identifier.
func (db *DB) NewID() string { return db.options.NewID() }

// Announce is announce.
func (db *DB) Announce(accountIDs []string) { db.announce(accountIDs) }
