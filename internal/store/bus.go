package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel is the PostgreSQL channel on which replicas say whose trays grew.
const channel = "touchline_trays"

// maxAnnounced bounds one announcement; PostgreSQL takes 8,000 bytes.
const maxAnnounced = 150

// Announce tells the other replicas, soon and without waiting, that the trays of
// these accounts grew. It is a hint: whoever misses it finds out by looking.
// It says so after the commit and not in it, for NOTIFY makes every commit that
// notifies wait for the one before.
func (db *DB) Announce(accountIDs []string) {
	if db.engine != postgres {
		return // one process alone writes to a SQLite file and has been told
	}
	select {
	case db.announce <- accountIDs:
	default:
	}
}

// Listen calls heard with the accounts that other replicas announce, and sends
// this one's announcements, until ctx ends. On SQLite it returns at once.
func (db *DB) Listen(ctx context.Context, heard func(accountIDs []string)) {
	if db.engine != postgres {
		return
	}
	go db.speak(ctx)
	for ctx.Err() == nil {
		// The connection was lost, or could not be had: try again in a moment.
		_ = db.hear(ctx, heard)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// speak sends announcements, as many together as have gathered.
func (db *DB) speak(ctx context.Context) {
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
			rs, err := db.query(ctx, `SELECT pg_notify($1, $2)`, channel, strings.Join(ids[:n], ","))
			if err == nil {
				_ = rs.Close()
			}
			ids = ids[n:]
		}
	}
}

// hear waits for announcements on a connection of its own until it is lost.
func (db *DB) hear(ctx context.Context, heard func([]string)) error {
	return db.lend(ctx, func(pg *pgx.Conn) error {
		if _, err := pg.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
		for {
			n, err := pg.WaitForNotification(ctx)
			if err != nil {
				// A connection that was left while it waited cannot serve again.
				_ = pg.Close(context.WithoutCancel(ctx))
				return err
			}
			heard(strings.Split(n.Payload, ","))
		}
	})
}
