package approval

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

const (
	// linksKept is how long an expired link of a closed request is kept. Until then it leads the
	// party that was asked to the player, after a sign-in.
	linksKept = 30 * 24 * time.Hour
	// remindersKept is the longest REMINDER_WINDOW.
	remindersKept = 90 * 24 * time.Hour
	// toldPhonesKept is longer than a step of becoming an adult can be late for another coach.
	toldPhonesKept = 60 * 24 * time.Hour
)

// Expired are the rows that store.DB.Sweep deletes.
var Expired = []store.Expired{
	{What: "links", Query: `DELETE FROM request_links WHERE hash IN (SELECT hash FROM request_links WHERE ends_at < $1 ORDER BY ends_at LIMIT $2) AND ends_at < $1`, Kept: linksKept},
	{What: "reminders", Query: `DELETE FROM reminders WHERE id IN (SELECT id FROM reminders WHERE sent_at < $1 ORDER BY sent_at LIMIT $2)`, Kept: remindersKept},
	{What: "told phones", Query: `DELETE FROM told_phones WHERE hash IN (SELECT hash FROM told_phones WHERE told_at < $1 ORDER BY told_at LIMIT $2) AND told_at < $1`, Kept: toldPhonesKept},
}

// codesBatch is how many requests a sweep reads to free short codes.
const codesBatch = 2000

// FreeShortCodes returns a hook of the sweep that frees the short codes of requests which ended shortCodeReusedAfter ago. Each call
// reads the next codesBatch requests, and after the last one it begins again: an index of codes by their end would cost each answer an entry.
func FreeShortCodes() func(ctx context.Context, db *store.DB, now time.Time) (int64, error) {
	var mu sync.Mutex
	last := ""
	return func(ctx context.Context, db *store.DB, now time.Time) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		var end string
		var read, old int
		before := database.Micros(now.Add(-shortCodeReusedAfter))
		err := db.QueryRow(ctx, `
			SELECT max(r.id), count(*), count(*) FILTER (WHERE r.short_code IS NOT NULL AND r.closed_at < $3) FROM (
				SELECT id, short_code, closed_at FROM requests WHERE id > $1 ORDER BY id LIMIT $2) AS r`, last, codesBatch, before).
			Scan(database.IntoText(&end), &read, &old)
		var freed int64
		if err == nil && old > 0 {
			freed, err = db.Exec(ctx, `UPDATE requests SET short_code = NULL WHERE id > $1 AND id <= $2 AND short_code IS NOT NULL AND closed_at < $3`, last, end, before)
		}
		if err != nil {
			return freed, fmt.Errorf("free short codes: %w", err)
		}
		if last = end; read < codesBatch {
			last = ""
		}
		return freed, nil
	}
}

// keptBatch limits the links that one statement keeps, so that it holds its locks only briefly.
const keptBatch = 500

// KeepLinks keeps the expired links of open requests: see Expired.
func KeepLinks(ctx context.Context, db *store.DB, now time.Time) (int64, error) {
	for total := int64(0); ; { // an old link of an open request is looked at again only after linksKept
		n, err := keepLinks(ctx, db, now)
		if total += n; err != nil || n < keptBatch {
			return total, err
		}
	}
}

// keepLinks keeps a batch of expired links whose requests are open, for another linksKept. They stay
// expired. Their page says that the link is old and that the question waits for an answer.
func keepLinks(ctx context.Context, db *store.DB, now time.Time) (n int64, err error) {
	err = db.Write(ctx, func(tx *store.Tx) error {
		n, err = tx.Exec(ctx, `
			UPDATE request_links SET ends_at = $3
			WHERE ends_at < $1 AND hash IN (
				SELECT hash FROM request_links l
				WHERE ends_at < $1 AND EXISTS (SELECT 1 FROM requests r WHERE r.id = l.request_id AND r.state = 'pending')
				ORDER BY ends_at LIMIT $2)`, database.Micros(now.Add(-linksKept)), keptBatch, database.Micros(now))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("keep links of open requests: %w", err)
	}
	return n, nil
}
