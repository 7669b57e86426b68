package dump_test

import (
	"testing"

	"github.com/touchline/touchline/internal/store/storetest"
)

// rowsPerPlayer are the rows of a season in the tables that grow with the players.
var rowsPerPlayer = map[string]int{
	"accounts": 2, "players": 1, "requests": 2, "deliveries": 3, "approval_history": 2, "consent_records": 2, "record_keys": 2,
	"notifications": 3, "changes": 2, "sessions": 1, "batch_players": 1, "attendance_marks": 10, "fees": 1, "fee_payments": 1, "team_recipients": 3,
}

// BenchmarkCopy copies 100,000 players from SQLite to PostgreSQL and back. Run it with -benchtime 1x.
func BenchmarkCopy(b *testing.B) {
	players := 100_000
	first := storetest.SQLite(b)
	fillTables(b, first, func(table string) int { return max(100, players*rowsPerPlayer[table]) })
	for b.Loop() {
		second, third := storetest.EmptyPostgres(b), storetest.EmptySQLite(b)
		for _, pair := range [][2]string{{first, second}, {second, third}} {
			c := newCopy(pair[0], pair[1])
			c.Chunk = 0
			begin := b.Elapsed()
			r, err := c.Run(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.Logf("%d rows from %.8s in %.1f s", r.Rows(), pair[0], (b.Elapsed() - begin).Seconds())
		}
	}
}
