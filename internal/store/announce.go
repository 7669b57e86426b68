package store

import (
	"context"
	"slices"
	"strings"
)

const (
	// trayChannel is the LISTEN/NOTIFY channel of the replicas.
	trayChannel = "touchline_trays"
	// changesAnnounced is in a payload, in place of an account id, if there are new changes.
	changesAnnounced = "changes"
	// maxPayloadIDs limits a payload, which has at most 8,000 bytes.
	maxPayloadIDs = 150
	// maxAnnounced limits the announcements that wait to be sent. Further ones are lost.
	maxAnnounced = 256
)

// Announced reports whether this replica receives the announcements of all replicas. If not, it must
// poll for what others write.
func (db *DB) Announced() bool { return db.sql.Listening() }

// announce publishes to the other replicas that these accounts have new notifications.
// It does not block: an announcement may be lost, so streams also poll.
func (db *DB) announce(accountIDs []string) {
	select {
	case db.announced <- accountIDs:
	default:
	}
}

// Listen sends the announcements of this replica and passes announcements of others to OnNotified
// and OnChanged, until ctx ends. If only one process uses the database, it returns at once.
func (db *DB) Listen(ctx context.Context) {
	go db.sendAnnouncements(ctx)
	db.sql.Listen(ctx, trayChannel, func(payload string) {
		ids := strings.Split(payload, ",")
		if slices.Contains(ids, changesAnnounced) {
			db.options.OnChanged(false)
		}
		db.options.OnNotified(ids)
	})
}

func (db *DB) sendAnnouncements(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case ids := <-db.announced:
			ids = db.appendAnnounced(ids)
			for len(ids) > 0 {
				n := min(len(ids), maxPayloadIDs)
				_ = db.sql.Notify(ctx, trayChannel, strings.Join(ids[:n], ","))
				ids = ids[n:]
			}
		}
	}
}

// appendAnnounced appends the other waiting announcements, so that one payload carries
// all of them.
func (db *DB) appendAnnounced(ids []string) []string {
	for len(ids) < maxPayloadIDs {
		select {
		case more := <-db.announced:
			ids = append(ids, more...)
		default:
			return ids
		}
	}
	return ids
}
