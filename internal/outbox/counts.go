package outbox

import (
	"context"
	"math"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// countersOf returns the stored counters of the counter of a limit, which is their sum.
func countersOf(counter string) []string {
	counters := []string{counter}
	if line := message.CostLine(counter); line == message.SMSCosts || line == message.CallCosts {
		for shard := range message.CostShards {
			counters = append(counters, line.Shard(shard))
		}
	}
	return counters
}

// ReadWindows reads the windows of the limits. The sum of a
// window is the difference of two totals, so its cost does not grow with the messages.
func ReadWindows(ctx context.Context, tx *database.Tx, limits ...message.Limit) (message.Windows, error) {
	windows := make(message.Windows)
	var rows [][]any
	for _, l := range limits {
		if _, known := windows[message.WindowOf(l)]; !known {
			windows[message.WindowOf(l)] = message.WindowCount{}
			for _, counter := range countersOf(l.Counter) {
				rows = append(rows, []any{counter, int64(l.Window), database.Micros(tx.Now.Add(-l.Window)), l.Counter})
			}
		}
	}
	if len(rows) == 0 {
		return windows, nil
	}
	// The columns are the stored counter, the length and the start of its window, and the
	// counter of the limit.
	values, args := database.ValuesTable(rows, "TEXT", "BIGINT", "BIGINT", "TEXT")
	rs, err := tx.Query(ctx, `
		SELECT v.column4, v.column2, oldest.counted_at, newest.total - oldest.total + oldest.size
		FROM `+values+` v
		JOIN message_counts oldest ON oldest.counter = v.column1 AND oldest.counted_at =
			(SELECT min(m.counted_at) FROM message_counts m WHERE m.counter = v.column1 AND m.counted_at > v.column3)
		JOIN message_counts newest ON newest.counter = v.column1 AND newest.counted_at =
			(SELECT max(m.counted_at) FROM message_counts m WHERE m.counter = v.column1)`, args...)
	_, err = database.Collect(rs, err, func(s database.Scanner) (count message.WindowCount, err error) {
		var window message.Window
		err = s.Scan(&window.Counter, (*int64)(&window.Length), database.IntoTime(&count.Oldest), &count.Size)
		if err == nil {
			sum := windows[window]
			if sum.Size += count.Size; sum.Oldest.IsZero() || count.Oldest.Before(sum.Oldest) {
				sum.Oldest = count.Oldest
			}
			windows[window] = sum
		}
		return count, err
	})
	return windows, fault.Wrap(err, "read message counts")
}

// AddCounts adds to the counters. The caller holds the row lock under which each of them is
// counted: the row of message_admission, of the cost shard or of the coach. The time of a
// counter never decreases, although the clocks of replicas differ: else its totals would not
// be in order.
func AddCounts(ctx context.Context, tx *database.Tx, counts []message.Count) error {
	sizes := make(map[string]int64)
	var rows [][]any
	for _, c := range counts {
		if _, known := sizes[c.Counter]; !known {
			rows = append(rows, []any{c.Counter, database.Micros(tx.Now), nil})
		}
		sizes[c.Counter] += c.Size
	}
	if len(rows) == 0 {
		return nil
	}
	for _, row := range rows {
		row[2] = sizes[row[0].(string)]
	}
	// The columns are the counter, the time and the size. WHERE skips the padding of
	// valuesTable.
	values, args := database.ValuesTable(rows, "TEXT", "BIGINT", "BIGINT")
	err := tx.Defer(ctx, `
		INSERT INTO message_counts (counter, counted_at, size, total)
		SELECT v.column1, CASE WHEN newest.counted_at > v.column2 THEN newest.counted_at ELSE v.column2 END,
			v.column3, v.column3 + coalesce(newest.total, 0)
		FROM `+values+` v
		LEFT JOIN message_counts newest ON newest.counter = v.column1 AND newest.counted_at =
			(SELECT max(m.counted_at) FROM message_counts m WHERE m.counter = v.column1)
		WHERE v.column1 IS NOT NULL
		ON CONFLICT (counter, counted_at) DO UPDATE SET size = message_counts.size + excluded.size, total = excluded.total`, args...)
	return fault.Wrap(err, "count messages")
}

// countsBatch is how many rows of message_counts DeleteCounts reads at once.
const countsBatch = 2000

// DeleteCounts deletes the rows of message_counts from before a time. It reads the primary key once, a batch at a time.
func (st *Store) DeleteCounts(ctx context.Context, before time.Time) (total int64, err error) {
	for last := ""; ; {
		var end string
		var oldest int64
		err := st.DB.QueryRow(ctx, `
			SELECT max(c.counter), coalesce(min(c.counted_at), $3) FROM (
				SELECT counter, counted_at FROM message_counts WHERE counter > $1 ORDER BY counter, counted_at LIMIT $2) AS c`,
			last, countsBatch, int64(math.MaxInt64)).Scan(database.IntoText(&end), &oldest)
		if err != nil || end == "" {
			return total, err
		}
		if oldest < before.UnixMicro() {
			n, err := st.DB.Exec(ctx, `DELETE FROM message_counts WHERE counter > $1 AND counter <= $2 AND counted_at < $3`, last, end, database.Micros(before))
			if total += n; err != nil {
				return total, err
			}
		}
		last = end
	}
}
