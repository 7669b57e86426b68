package store_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

// Statements that finish a claimed delivery find it by its id on PostgreSQL, also if the
// last ANALYZE found no queued delivery: then an index of queued deliveries seems to be
// empty, but it holds an entry for each delivery that was queued since the last VACUUM.
func TestFinishDeliveryByID(t *testing.T) {
	url := storetest.Postgres(t)
	p := newFixture(t, url, limited(message.Limits{PerNumber: 1}))
	p.ask(p.coach(1), 100, 8)
	p.add(p.coach(2), "Asha Rao", number(100), "")
	var statements []string
	stop := database.Observe(func(query string, _ []any) {
		if strings.Contains(query, "UPDATE deliveries") && strings.Contains(query, "lease") && !strings.Contains(query, "lease = $4") {
			statements = append(statements, query)
		}
	})
	defer stop()
	claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), "lease", p.clock.Now().Add(time.Minute), 100)
	if err != nil || len(claimed) != 9 {
		t.Fatalf("claimed %d, %v, want 9", len(claimed), err)
	}
	admitted, err := p.db.Outbox.AdmitMessages(bg, outgoing(1, claimed...))
	if err != nil || len(admitted) != 8 {
		t.Fatalf("admitted %d, %v, want 8", len(admitted), err)
	}
	ok(t, p.db.Outbox.DeliverySent(bg, []message.Delivery{claimed[0]}))
	ok(t, p.db.Outbox.DeliverySuppressed(bg, []message.Delivery{claimed[1]}))
	ok(t, p.db.Outbox.RetryDelivery(bg, []message.Delivery{claimed[2]}, p.clock.Now(), "later"))
	ok(t, p.db.Outbox.DeliveryDropped(bg, []message.Delivery{claimed[3]}, "gone"))
	ok(t, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{claimed[4]}, "refused", ""))
	if len(statements) != 7 {
		t.Errorf("%d statements, want 7: %q", len(statements), statements)
	}

	ok(t, run(p.db, `DELETE FROM deliveries`))
	ok(t, run(p.db, `INSERT INTO deliveries (id, kind, channel, state, recipient, role, attempts, due_at, gives_up_at, created_at, updated_at)
		SELECT 'd' || i, 'otp', 'sms', 'sent', 'n', 'coach', 1, i, i, i, i FROM generate_series(1, 5000) i`))
	conn, err := pgx.Connect(bg, url)
	ok(t, err)
	defer conn.Close(bg)
	for _, setup := range []string{`ANALYZE deliveries`, `SET plan_cache_mode = force_generic_plan`} {
		_, err := conn.Exec(bg, setup)
		ok(t, err)
	}
	for i, query := range statements {
		name := "s" + strconv.Itoa(i)
		_, err := conn.Exec(bg, "PREPARE "+name+" AS "+query)
		ok(t, err)
		arguments := "NULL" + strings.Repeat(", NULL", lastParameter(t, query)-1)
		rows, err := conn.Query(bg, "EXPLAIN EXECUTE "+name+"("+arguments+")")
		ok(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		ok(t, err)
		if plan := strings.Join(lines, "\n"); !strings.Contains(plan, "deliveries_pkey") {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}

// lastParameter returns the highest number of a parameter of query.
func lastParameter(t *testing.T, query string) int {
	t.Helper()
	last := 0
	for _, match := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(query, -1) {
		n, err := strconv.Atoi(match[1])
		ok(t, err)
		last = max(last, n)
	}
	return last
}
