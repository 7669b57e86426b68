package database

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// listenRetry is the pause before Listen opens another connection.
const listenRetry = time.Second

// Notify sends payload, at most 8,000 bytes, to the processes that listen on channel.
// On SQLite it does nothing, because one process uses the file. A transaction should not
// call it: PostgreSQL serializes the commits of transactions that notify.
func (db *DB) Notify(ctx context.Context, channel, payload string) error {
	if db.engine != postgres {
		return nil
	}
	rs, err := db.Query(ctx, `SELECT pg_notify($1, $2)`, channel, payload)
	if err != nil {
		return err
	}
	return rs.Close()
}

// Listen calls received with each payload sent on channel, until ctx ends. It opens
// another connection when one is lost; payloads sent meanwhile are missed. On SQLite it
// returns at once. channel must be a valid SQL identifier.
func (db *DB) Listen(ctx context.Context, channel string, received func(payload string)) {
	if db.engine != postgres {
		return
	}
	for ctx.Err() == nil {
		_ = db.listen(ctx, channel, received)
		select {
		case <-ctx.Done():
		case <-time.After(listenRetry):
		}
	}
}

// listen listens on one connection until it is lost.
func (db *DB) listen(ctx context.Context, channel string, received func(string)) error {
	return db.withConn(ctx, func(pg *pgx.Conn) error {
		if _, err := pg.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
		for {
			n, err := pg.WaitForNotification(ctx)
			if err != nil {
				// An interrupted wait leaves the connection unusable.
				_ = pg.Close(context.WithoutCancel(ctx))
				return err
			}
			received(n.Payload)
		}
	})
}
