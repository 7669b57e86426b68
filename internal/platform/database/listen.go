package database

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// listenRetry is the pause before Listen opens another connection. It doubles up to
	// maxListenRetry for a server without LISTEN.
	listenRetry    = time.Second
	maxListenRetry = 30 * time.Second
	// probeEvery is how often a process that listens notifies itself. After probeTimeout
	// without its notification, it does not count as listening.
	probeEvery   = 20 * time.Second
	probeTimeout = 5 * time.Second
	// probePrefix begins the payloads of probes.
	probePrefix = "probe "
	// notifyRetry is how long Notify sends nothing after the server said that it has no pg_notify.
	notifyRetry = 30 * time.Second
)

// Listening reports whether this process receives what others send: always on SQLite, where one
// process uses the file. On PostgreSQL a notification from itself must have arrived: a pooler in
// transaction mode accepts LISTEN, but delivers nothing.
func (db *DB) Listening() bool { return db.engine != postgres || db.listening.Load() }

// Notify sends payload, at most 8,000 bytes, to the processes that listen on channel.
// On SQLite it does nothing, because one process uses the file. A transaction should not
// call it: PostgreSQL serializes the commits of transactions that notify. A server of another kind may have no
// pg_notify; then it does nothing but try again every 30 s.
func (db *DB) Notify(ctx context.Context, channel, payload string) (err error) {
	if db.engine != postgres || db.now().UnixNano() < db.notifyAt.Load() {
		return nil
	}
	defer func() {
		if isNotAvailable(err) {
			db.notifyAt.Store(db.now().Add(notifyRetry).UnixNano())
		}
	}()
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
	for retry := listenRetry; ctx.Err() == nil; retry = min(2*retry, maxListenRetry) {
		if db.listen(ctx, channel, received) {
			retry = listenRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
}

// listen listens on one connection until it is lost. It reports whether the server knows LISTEN.
func (db *DB) listen(ctx context.Context, channel string, received func(string)) (known bool) {
	_ = db.withConn(ctx, func(pg *pgx.Conn) error {
		if _, err := pg.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
		known = true
		own, arrived := probePrefix+rand.Text(), make(chan struct{}, 1)
		probing, stop := context.WithCancel(ctx)
		var wait sync.WaitGroup
		wait.Go(func() { db.probe(probing, channel, own, arrived) })
		defer func() { stop(); wait.Wait(); db.listening.Store(false) }()
		for {
			n, err := pg.WaitForNotification(ctx)
			if err != nil {
				// An interrupted wait leaves the connection unusable.
				_ = pg.Close(context.WithoutCancel(ctx))
				return err
			}
			switch {
			case n.Payload == own:
				select {
				case arrived <- struct{}{}:
				default:
				}
			case !strings.HasPrefix(n.Payload, probePrefix): // of another process
				received(n.Payload)
			}
		}
	})
	return known
}

// probe sends own on channel until ctx ends, and records whether it arrives.
func (db *DB) probe(ctx context.Context, channel, own string, arrived <-chan struct{}) {
	for ctx.Err() == nil {
		_ = db.Notify(ctx, channel, own)
		select {
		case <-ctx.Done():
			return
		case <-arrived:
			db.listening.Store(true)
		case <-time.After(probeTimeout):
			db.listening.Store(false)
		}
		select {
		case <-ctx.Done():
		case <-time.After(probeEvery):
		}
	}
}
