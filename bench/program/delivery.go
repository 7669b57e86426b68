package program

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite

	"github.com/touchline/touchline/bench"
)

const (
	// deliveryWorkers is the number of coaches who add players.
	deliveryWorkers = 8
	// deliveryBatch is how many rows one statement inserts.
	deliveryBatch = 5_000
	// drainTimeout is the longest wait for the next message of a drain.
	drainTimeout = 30 * time.Second
)

// Delivery is how fast messages reach the gateway.
type Delivery struct {
	Rate    float64 // calls a second that were made
	Refused int     // calls with the status 503, which queue nothing
	// FromResponse and FromRequest are the times until a message is at the gateway's socket,
	// from the response to the call that queued it and from the call itself. The commit is
	// between both. Lower is better.
	FromResponse, FromRequest Percentiles
	// Drained is how many of Queued messages a second reached the gateway, which takes Delay for
	// each. Higher is better.
	Queued  int
	Delay   time.Duration
	Drained float64
}

// Percentiles are two of a series of durations.
type Percentiles struct{ P50, P99 time.Duration }

// String returns both in milliseconds.
func (p Percentiles) String() string {
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms", p.P50.Seconds()*1000, p.P99.Seconds()*1000)
}

// String returns one line for people.
func (d Delivery) String() string {
	return fmt.Sprintf("%.0f messages/s, %d refused: from the response %s, from the request %s; %d queued messages at %s each: %.0f/s",
		d.Rate, d.Refused, d.FromResponse, d.FromRequest, d.Queued, d.Delay, d.Drained)
}

// arrivals are the messages that a gateway got.
type arrivals struct {
	delay time.Duration // of each response

	mu          sync.Mutex
	at          map[string]time.Time // by number, the first one
	first, last time.Time
}

func (a *arrivals) add(to string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.at[to]; known {
		return
	}
	if a.first.IsZero() {
		a.first = at
	}
	a.at[to], a.last = at, at
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.at)
}

// await waits until n messages have arrived.
func (a *arrivals) await(ctx context.Context, n int) error {
	for seen, since := 0, time.Now(); ; {
		switch now := a.count(); {
		case now >= n:
			return nil
		case now > seen:
			seen, since = now, time.Now()
		case time.Since(since) > drainTimeout:
			return fmt.Errorf("%d of %d messages arrived", now, n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// MeasureDelivery measures a program: first the latency at rate messages a second for duration, then the rate at which a number of queued
// messages leaves through a gateway that takes delay for each.
func MeasureDelivery(ctx context.Context, p Program, engine string, rate float64, duration time.Duration, queued int, delay time.Duration) (Delivery, error) {
	s, err := run(ctx, p, engine, deliveryWorkers)
	if err != nil {
		return Delivery{}, err
	}
	defer s.close()
	d := Delivery{Queued: queued, Delay: delay}
	if err := s.gateway.drained(ctx); err != nil {
		return d, err
	}
	if err := s.measureLatency(ctx, &d, rate, duration); err != nil {
		return d, err
	}
	if err := s.gateway.drained(ctx); err != nil {
		return d, err
	}
	stop(s.process)
	if err := s.queue(ctx, queued); err != nil {
		return d, fmt.Errorf("queue messages: %w", err)
	}
	got := s.gateway.record(delay)
	if s.process, err = s.server.Start(ctx); err != nil {
		return d, err
	}
	if err := got.await(ctx, queued); err != nil {
		return d, err
	}
	d.Drained = float64(queued-1) / got.last.Sub(got.first).Seconds()
	return d, nil
}

// measureLatency adds players at a rate. Each has a different guardian, who gets a message at once.
func (s *runningServer) measureLatency(ctx context.Context, d *Delivery, rate float64, duration time.Duration) error {
	got := s.gateway.record(0)
	client := newOverloadClient(s.server.URL())
	type call struct {
		begun, answered time.Time
		status          int
	}
	calls := make([]call, int(rate*duration.Seconds()))
	number := func(i int) string { return fmt.Sprintf("+91985%07d", i) }
	start := time.Now()
	var wait sync.WaitGroup
	for i := range calls {
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(due)):
		}
		a := s.workers[i%len(s.workers)]
		r := bench.NewRequest(http.MethodPost, "/api/players/add", a.coach, playerBody(number(i), "", s.added.Add(1)))
		wait.Go(func() {
			calls[i].begun = time.Now()
			calls[i].status = client.do(r)
			calls[i].answered = time.Now()
		})
	}
	wait.Wait()
	d.Rate = float64(len(calls)) / time.Since(start).Seconds()
	for _, c := range calls {
		switch c.status {
		case http.StatusCreated:
		case http.StatusServiceUnavailable:
			d.Refused++
		default:
			return fmt.Errorf("add a player: status %d", c.status)
		}
	}
	if err := got.await(ctx, len(calls)-d.Refused); err != nil {
		return err
	}
	var fromResponse, fromRequest []time.Duration
	for i, c := range calls {
		if c.status != http.StatusCreated {
			continue
		}
		at := got.at[number(i)]
		fromResponse, fromRequest = append(fromResponse, max(0, at.Sub(c.answered))), append(fromRequest, at.Sub(c.begun))
	}
	d.FromResponse, d.FromRequest = percentiles(fromResponse), percentiles(fromRequest)
	return nil
}

func percentiles(all []time.Duration) Percentiles {
	if len(all) == 0 {
		return Percentiles{}
	}
	slices.Sort(all)
	return Percentiles{all[len(all)/2], all[len(all)*99/100]}
}

// queue inserts n families with requests and queued messages. The service must not run.
func (s *runningServer) queue(ctx context.Context, n int) error {
	return s.insert(ctx, n, append(families[:], `INSERT INTO requests (id, player_id, coach_id, approver_type, approver_id, state, channels, requested_at, last_sent_at, delivery_failed) `+
		familyRows+familyID+`, `+familyID+`, '%[2]s', 'guardian', `+familyID+`, 'pending', 'sms', %[1]d, %[1]d, FALSE FROM n`,
		`INSERT INTO deliveries (id, kind, channel, state, account_id, recipient, role, coach_id, request_id, attempts, due_at, gives_up_at, created_at, updated_at) `+
			familyRows+familyID+`, 'request', 'sms', 'queued', `+familyID+`, `+familyNumberSQL+`, 'guardian', '%[2]s', `+familyID+`, 0, %[1]d, %[3]d, %[1]d, %[1]d FROM n`))
}

// addFamilies inserts n families. The service must not run.
func (s *runningServer) addFamilies(ctx context.Context, n int) error {
	return s.insert(ctx, n, families[:])
}

// familyNumber returns the number of the guardian of family i.
func familyNumber(i int) string { return fmt.Sprintf("+91986%07d", i) }

const (
	familyRows      = `WITH RECURSIVE n (i) AS (SELECT %[4]d UNION ALL SELECT i + 1 FROM n WHERE i < %[5]d) SELECT `
	familyID        = `'0198f2c4-5e00-7b11-8f3a-1' || substr(CAST(100000000000 + i AS TEXT), 2)`
	familyNumberSQL = `'+91986' || substr(CAST(10000000 + i AS TEXT), 2)`
)

// families insert accounts of guardians with a player each. The values are the time, a coach, the time of the
// next day, the first family and the last one.
var families = [...]string{
	`INSERT INTO accounts (id, mobile_number, role, tray_seq, created_at) ` + familyRows + familyID + `, ` + familyNumberSQL + `, 'guardian', 0, %[1]d FROM n`,
	`INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, unanswered_since, created_at, changes) ` + familyRows + familyID + `, '%[2]s', 1,
		'Asha Rao', 'asha rao ' || CAST(i AS TEXT), '2014-01-01', 'asha rao', %[1]d, %[1]d, 1 FROM n`,
	`INSERT INTO parties (player_id, role, position, coach_id, account_id, name, number, state, pending_since) ` + familyRows + familyID + `, 'guardian', 1, '%[2]s', ` + familyID + `,
		'Bela Rao', ` + familyNumberSQL + `, 'pending', %[1]d FROM n`,
	`INSERT INTO parties (player_id, role, position, coach_id, state, pending_since) ` + familyRows + familyID + `, 'student', 1, '%[2]s', 'pending', %[1]d FROM n`,
}

// openDatabase opens the database of the service.
func (s *runningServer) openDatabase() (*sql.DB, error) {
	if path, sqlite := strings.CutPrefix(s.server.database.URL, "sqlite:"); sqlite {
		return sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(20000)")
	}
	return sql.Open("pgx", s.server.database.URL)
}

// insert runs statements for n families, of all coaches in turn, and analyses the tables.
func (s *runningServer) insert(ctx context.Context, n int, statements []string) error {
	db, err := s.openDatabase()
	if err != nil {
		return err
	}
	defer db.Close()
	coaches, err := coachIDs(ctx, db)
	if err != nil {
		return err
	}
	now := time.Now().UnixMicro()
	for first := 0; first < n; first += deliveryBatch {
		last := min(first+deliveryBatch, n) - 1
		coach := coaches[first/deliveryBatch%len(coaches)]
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, fmt.Sprintf(statement, now, coach, now+24*int64(time.Hour/time.Microsecond), first, last)); err != nil {
				return fmt.Errorf("%.30s: %w", statement, err)
			}
		}
	}
	if !strings.HasPrefix(s.server.database.URL, "sqlite:") {
		_, err = db.ExecContext(ctx, `ANALYZE`)
	}
	return err
}

func coachIDs(ctx context.Context, db *sql.DB) (ids []string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id FROM coaches WHERE name IS NOT NULL ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
