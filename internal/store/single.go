package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// exec runs one writing statement that answers no rows, with all that write
// promises. PostgreSQL makes it a transaction by itself, which saves a round trip,
// and shares that with others who are about to write: it must meet few rows.
func (db *DB) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	var res sql.Result
	if db.writer != nil {
		err := db.write(ctx, func(tx *tx) (err error) {
			res, err = tx.exec(ctx, query, args...)
			return err
		})
		return res, err
	}
	t := &traveller{statement: statement{query: query, args: args}}
	err := db.share(ctx, t, func(own context.Context) error {
		// Not by database/sql, whose result asks the connection once more, which has
		// gone to somebody else by then, and may wait there.
		return db.lend(own, func(conn *pgx.Conn) error {
			tag, err := conn.Exec(own, query, args...)
			t.met = tag.RowsAffected()
			return err
		})
	})
	return driver.RowsAffected(t.met), err
}

// execRow is exec for a statement that answers at most one row, which read
// scans: sql.ErrNoRows where its guard met none. It may run more than once. On
// PostgreSQL a row that read cannot take has been written all the same.
func (db *DB) execRow(ctx context.Context, read func(scanner) error, query string, args ...any) error {
	if db.writer != nil {
		return db.write(ctx, func(tx *tx) error { return read(tx.queryRow(ctx, query, args...)) })
	}
	return db.share(ctx, &traveller{statement: statement{query: query, args: args, read: read}}, func(own context.Context) error {
		rs, err := db.reads.QueryContext(own, query, args...)
		if err != nil {
			return err
		}
		return read(&row{&rows{cursor: rs, closed: func() {}}, nil})
	})
}

// share runs t with others who write at the same time, or alone.
func (db *DB) share(ctx context.Context, t *traveller, alone func(own context.Context) error) error {
	observe(t.query, t.args)
	return db.single(ctx, func(own context.Context) error {
		return db.convoy.do(own, t, func() error { return alone(own) })
	})
}

// execRows runs one writing statement that answers rows; read gets what query
// answers, and may run more than once.
func (db *DB) execRows(ctx context.Context, read func(*rows, error) error, query string, args ...any) error {
	if db.writer != nil {
		return db.write(ctx, func(tx *tx) error { return read(tx.query(ctx, query, args...)) })
	}
	observe(query, args)
	return db.single(ctx, func(own context.Context) error {
		rs, err := db.reads.QueryContext(own, query, args...)
		if err != nil {
			return err
		}
		return read(&rows{cursor: rs, closed: func() {}}, nil)
	})
}

// single runs one statement on PostgreSQL as a transaction of its own: one round
// trip, detached from the request like every other write.
func (db *DB) single(ctx context.Context, run func(ctx context.Context) error) error {
	own, done, err := db.detached(ctx)
	if err != nil {
		return err
	}
	defer done()
	for try := 1; ; try++ {
		// A lost connection is as one lost at COMMIT: perhaps the statement is kept,
		// unless it was lost before.
		err := run(own)
		if !(mayRepeat(err) || isLost(err) && pgconn.SafeToRetry(err)) || try == writeTries || !pause(own, try) {
			return db.failure(err)
		}
	}
}

// lend lends fn a connection to PostgreSQL.
func (db *DB) lend(ctx context.Context, fn func(*pgx.Conn) error) error {
	conn, err := db.reads.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var answer error
	lost := conn.Raw(func(raw any) error {
		answer = fn(raw.(*stdlib.Conn).Conn())
		return nil
	})
	return cmp.Or(answer, lost)
}
