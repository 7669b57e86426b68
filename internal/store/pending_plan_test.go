package store_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestPendingJoinsOnePage: on SQLite the pending list joins the requests to one page of the
// merged parties, not to a page of each.
func TestPendingJoinsOnePage(t *testing.T) {
	p := newFixture(t, storetest.SQLite(t))
	coach := p.coach(1)
	var query string
	var args []any
	stop := database.Observe(func(q string, a []any) { query, args = q, a })
	_, err := p.Pending(bg, coach, approval.Page{Limit: 5})
	stop()
	ok(t, err)
	rs, err := p.db.Query(bg, "EXPLAIN QUERY PLAN "+query, args...)
	plan, err := database.Collect(rs, err, func(s database.Scanner) (line string, err error) {
		return line, s.Scan(new(int), new(int), new(int), &line)
	})
	ok(t, err)
	if n := strings.Count(strings.Join(plan, "\n"), "SEARCH r "); n != 1 {
		t.Errorf("the plan joins the requests %d times, want once:\n%s", n, strings.Join(plan, "\n"))
	}
}
