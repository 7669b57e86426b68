package notice

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// maxStreamAttempts limits how often OpenStream tries. Each failed attempt means that another
// stream of the account took the slot meanwhile.
const maxStreamAttempts = 50

// OpenStream saves the stream in a slot of its account. The primary key allows one stream for
// each slot, so an account never has more than MaxAccountStreams rows. One guarded statement
// finds the slot and replaces the stream that it saw there; of concurrent calls that chose the
// same slot one wins, and the others try again.
func OpenStream(ctx context.Context, db *store.DB, o OpenedStream) (slot int, replaced string, err error) {
	for range maxStreamAttempts {
		slot, replaced, err = takeSlot(ctx, db, o)
		switch {
		case err == nil:
			if replaced != "" { // its process may be another one
				db.WakeStreams([]string{o.AccountID})
			}
			return slot, replaced, nil
		case !database.IsNoRows(err):
			return 0, "", fmt.Errorf("open stream: %w", err)
		case ctx.Err() != nil:
			return 0, "", ctx.Err()
		}
	}
	return 0, "", fault.Overloaded("Too many streams of this account open at the same time. Try again.").After(time.Second)
}

// takeSlot returns sql.ErrNoRows if another stream took the chosen slot meanwhile. An attempt
// is a transaction by itself: two that wait for each other's slots would deadlock.
func takeSlot(ctx context.Context, db *store.DB, o OpenedStream) (slot int, replaced string, err error) {
	scan := func(row database.Scanner) error { return row.Scan(&slot, &replaced) }
	err = db.ExecRow(ctx, scan, `
		INSERT INTO streams (account_id, slot, id, process, replaced, opened_at, ends_at, session_id)
		SELECT CAST($1 AS TEXT), c.column1, CAST($2 AS TEXT), CAST($3 AS TEXT), coalesce(s.id, ''), CAST($4 AS BIGINT), CAST($5 AS BIGINT), CAST($7 AS TEXT)
		FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS c
			LEFT JOIN streams s ON s.account_id = $1 AND s.slot = c.column1
			LEFT JOIN stream_processes p ON p.id = s.process
		WHERE TRUE
		ORDER BY CASE WHEN s.id IS NULL THEN 0 WHEN s.ends_at <= $4 OR p.seen_at IS NULL OR p.seen_at <= $6 THEN 1 ELSE 2 END,
			coalesce(s.opened_at, 0), c.column1
		LIMIT 1
		ON CONFLICT (account_id, slot) DO UPDATE SET id = excluded.id, process = excluded.process, replaced = excluded.replaced,
			opened_at = excluded.opened_at, ends_at = excluded.ends_at, session_id = excluded.session_id
		WHERE streams.id = excluded.replaced
		RETURNING slot, replaced`,
		o.AccountID, o.ID, o.Process, database.Micros(o.OpenedAt), database.Micros(o.EndsAt), database.Micros(o.OpenedAt.Add(-StreamsExpire)), o.SessionID)
	return slot, replaced, err
}

// CloseStream frees the slot of the stream if it still has it.
func CloseStream(ctx context.Context, db *store.DB, o OpenedStream) error {
	_, err := db.Exec(ctx, `DELETE FROM streams WHERE account_id = $1 AND slot = $2 AND id = $3`, o.AccountID, o.Slot, o.ID)
	return fault.Wrap(err, "close stream")
}

// RenewStreams renews the last-seen time of a process: one row for all its streams.
func RenewStreams(ctx context.Context, db *store.DB, process string) error {
	_, err := db.Exec(ctx, `
		INSERT INTO stream_processes (id, seen_at) VALUES ($1, $2)
		ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`, process, database.Micros(db.Now()))
	return fault.Wrap(err, "renew streams")
}

// EndStreams removes the last-seen time of a process.
func EndStreams(ctx context.Context, db *store.DB, process string) error {
	_, err := db.Exec(ctx, `DELETE FROM stream_processes WHERE id = $1`, process)
	return fault.Wrap(err, "end streams")
}

// streamStates reads the states of the streams of the process $1 whose sessions are valid at $2.
const streamStates = `
	SELECT t.id, a.tray_seq,
		(SELECT count(*) FROM parties p WHERE p.account_id = a.id AND p.deleted_at IS NULL)
	FROM streams t
		JOIN sessions s ON s.id = t.session_id AND s.account_id = t.account_id
		JOIN accounts a ON a.id = s.account_id AND a.role = s.role
	WHERE t.process = $1 AND s.revoked_at IS NULL AND s.ends_at > $2 AND (s.page_idle IS NULL OR s.idle_at > $2)`

// ReadStreamStates reads the states of the streams of a process in one statement, of these accounts, or of
// all without any. A stream has no state if its session has ended or a newer stream has its slot.
func ReadStreamStates(ctx context.Context, db *store.DB, process string, accountIDs []string) (map[string]StreamState, error) {
	query, args := streamStates, []any{process, database.Micros(db.Now())}
	if len(accountIDs) > 0 {
		ids := database.PaddedIDs(accountIDs)
		query += ` AND t.account_id IN (` + database.Params(3, len(ids)) + `)`
		args = append(args, ids...)
	}
	states := map[string]StreamState{}
	rs, err := db.Query(ctx, query, args...)
	_, err = database.Collect(rs, err, func(row database.Scanner) (id string, err error) {
		st := StreamState{Live: true}
		err = row.Scan(&id, &st.Seq, &st.Players)
		states[id] = st
		return id, err
	})
	return states, fault.Wrap(err, "read the states of streams")
}

// Expired are the rows that the sweep deletes.
var Expired = []store.Expired{
	{What: "push subscriptions", Query: `DELETE FROM push_subscriptions WHERE session_id IN (SELECT session_id FROM push_subscriptions WHERE ends_at < $1 ORDER BY ends_at LIMIT $2)`},
	{What: "streams", Query: `DELETE FROM streams WHERE (account_id, slot) IN (SELECT account_id, slot FROM streams WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`},
	{What: "processes with streams", Query: `DELETE FROM stream_processes WHERE id IN (SELECT id FROM stream_processes WHERE seen_at < $1 ORDER BY seen_at LIMIT $2) AND seen_at < $1`, Kept: StreamProcessesKept},
	{What: "tellings", Query: `DELETE FROM tellings WHERE (coach_id, about) IN (SELECT coach_id, about FROM tellings WHERE told_at < $1 ORDER BY told_at LIMIT $2) AND told_at < $1`, Kept: tellingsKept},
}
