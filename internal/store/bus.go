package store

import (
	"context"
	"strings"
)

// channel is the channel on which replicas announce whose trays grew.
const channel = "touchline_trays"

// maxAnnounced bounds one announcement; a payload has at most 8,000 bytes.
const maxAnnounced = 150

// Announce tells the other replicas, soon and without waiting, that the trays of
// these accounts grew. It is a hint: a replica that misses it finds the rows at its
// next look. It runs after the commit (see database.DB.Notify).
func (db *DB) Announce(accountIDs []string) {
	select {
	case db.announce <- accountIDs:
	default:
	}
}

// Listen calls heard with the accounts that other replicas announce, and sends
// this one's announcements, until ctx ends. It returns at once where one process
// uses the database.
func (db *DB) Listen(ctx context.Context, heard func(accountIDs []string)) {
	go db.publish(ctx)
	db.sql.Listen(ctx, channel, func(payload string) { heard(strings.Split(payload, ",")) })
}

// publish sends announcements. It combines those that are waiting.
func (db *DB) publish(ctx context.Context) {
	for {
		var ids []string
		select {
		case <-ctx.Done():
			return
		case ids = <-db.announce:
		}
	gather:
		for len(ids) < maxAnnounced {
			select {
			case more := <-db.announce:
				ids = append(ids, more...)
			default:
				break gather
			}
		}
		for len(ids) > 0 {
			n := min(len(ids), maxAnnounced)
			_ = db.sql.Notify(ctx, channel, strings.Join(ids[:n], ","))
			ids = ids[n:]
		}
	}
}
