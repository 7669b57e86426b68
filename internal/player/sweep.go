package player

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

const (
	// linksKept is how long the expired link of a closed request is kept. Until then it leads the
	// party that was asked to the player, after a sign-in.
	linksKept = 30 * 24 * time.Hour
	// remindersKept is the longest REMINDER_WINDOW.
	remindersKept = 90 * 24 * time.Hour
	// toldPhonesKept is longer than a step of becoming an adult can be late for another coach.
	toldPhonesKept = 60 * 24 * time.Hour
)

// Expired are the rows that store.DB.Sweep deletes.
var Expired = []store.Expired{
	{What: "reminders", Query: `DELETE FROM reminders WHERE id IN (SELECT id FROM reminders WHERE sent_at < $1 ORDER BY sent_at LIMIT $2)`, Kept: remindersKept},
	{What: "told phones", Query: `DELETE FROM told_phones WHERE hash IN (SELECT hash FROM told_phones WHERE told_at < $1 ORDER BY told_at LIMIT $2) AND told_at < $1`, Kept: toldPhonesKept},
}

// codesBatch is how many requests a sweep reads to free short codes.
const codesBatch = 2000

// FreeShortCodes returns a hook of the sweep that frees the short codes of requests which ended ShortCodeReusedAfter
// ago. Each call reads the next codesBatch requests, and after the last one it begins again: an index of codes by their
// end would cost each answer an entry.
func FreeShortCodes() func(ctx context.Context, db *store.DB, now time.Time) (int64, error) {
	var mu sync.Mutex
	last := ""
	return func(ctx context.Context, db *store.DB, now time.Time) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		var end string
		var read, old int
		before := database.Micros(now.Add(-approval.ShortCodeReusedAfter))
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
		last = end
		if read < codesBatch {
			last = ""
		}
		return freed, nil
	}
}

// linksBatch is how many links a sweep reads in one statement.
const linksBatch = 500

// DeleteLinks deletes the links that ended linksKept ago, and whose requests did too. The page of an old link of an
// open request says that the link is old and that the question waits for an answer. Each sweep reads the primary key
// once, a batch at a time: an index of links by their end would cost each message of a request an entry in each index.
func DeleteLinks(ctx context.Context, db *store.DB, now time.Time) (total int64, err error) {
	const oldLink = `l.ends_at < $3 AND EXISTS (SELECT 1 FROM requests r WHERE r.id = l.request_id AND r.closed_at < $3)`
	before := database.Micros(now.Add(-linksKept))
	for last := []byte{}; ; {
		end, found := last, false
		rs, err := db.Query(ctx, `SELECT l.hash, `+oldLink+` FROM request_links l WHERE l.hash > $1 ORDER BY l.hash LIMIT $2`, last, linksBatch, before)
		read, err := database.Collect(rs, err, func(s database.Scanner) (old bool, err error) {
			err = s.Scan(&end, &old)
			found = found || old
			return old, err
		})
		if err == nil && found {
			var n int64
			n, err = db.Exec(ctx, `DELETE FROM request_links AS l WHERE l.hash > $1 AND l.hash <= $2 AND `+oldLink, last, end, before)
			total += n
		}
		if err != nil {
			return total, fmt.Errorf("delete links: %w", err)
		}
		last = end
		if len(read) < linksBatch {
			return total, nil
		}
	}
}
