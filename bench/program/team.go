package program

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/bench"
)

// signInEvery is how often each worker signs a coach in, with and without a message. It leaves the service time to spare, so that
// latencies show what the message costs and not a queue of sign-ins.
const signInEvery = 200 * time.Millisecond

// maxMessages is how many messages a party that never approved gets in a week.
const maxMessages = 2

// messageTimeout is how long all SMS of a message may take to leave.
const messageTimeout = 5 * time.Minute

// TeamLoad is the load of MeasureTeam.
type TeamLoad struct {
	Marks      int           // of a sheet
	Recipients int           // of a message
	Workers    int           // concurrent sign-ins
	Duration   time.Duration // of the sheets, and of the sign-ins without a message
}

// Latencies are the durations of operations in ascending order.
type Latencies []time.Duration

// P returns the latency that a share of the operations do not exceed, by nearest rank: 0.99 is
// p99. It is 0 if there are none.
func (l Latencies) P(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[max(0, int(math.Ceil(share*float64(len(l))))-1)].Round(100 * time.Microsecond)
}

// String returns one part of a line for people.
func (l Latencies) String() string {
	return fmt.Sprintf("p50 %s, p99 %s of %d", l.P(0.5), l.P(0.99), len(l))
}

// Team is how long sheets of attendance take, and sign-ins without and with a message to many. Lower is better.
type Team struct {
	Load TeamLoad
	// NewSheets are PUTs of a day without attendance, ChangedSheets those that change every mark of a day.
	NewSheets, ChangedSheets Latencies
	// Accepted are the requests of the messages, and Left is how long after its request the last SMS of a message left.
	Accepted, Left Latencies
	// Idle are sign-ins without a message, Meanwhile those until the last SMS of a message left.
	Idle, Meanwhile Latencies
}

// String returns lines for people.
func (t Team) String() string {
	return fmt.Sprintf("\n  PUT of %d marks, new: %s\n  PUT of %d marks, changed: %s\n  message to %d: accepted in %s, all sent after %s\n  sign-in, idle: %s\n  sign-in, meanwhile: %s\n  p99 of sign-ins above idle: %s",
		t.Load.Marks, t.NewSheets, t.Load.Marks, t.ChangedSheets, t.Load.Recipients, t.Accepted.P(1), t.Left.P(1), t.Idle, t.Meanwhile, t.Meanwhile.P(0.99)-t.Idle.P(0.99))
}

// MeasureTeam measures a program with the team load of one coach.
func MeasureTeam(ctx context.Context, p Program, engine string, load TeamLoad) (Team, error) {
	s, err := run(ctx, p, engine, load.Workers)
	if err != nil {
		return Team{}, err
	}
	defer s.close()
	m := &teamMeasurement{s: s, c: newClient(s.server.URL()), load: load}
	if err := m.prepare(ctx); err != nil {
		return Team{}, fmt.Errorf("prepare: %w", err)
	}
	t := Team{Load: load}
	if t.NewSheets, t.ChangedSheets, err = m.sheets(ctx); err != nil {
		return t, err
	}
	if t.Idle, err = m.signIns(ctx, func() bool { return false }, load.Duration); err != nil {
		return t, err
	}
	for range maxMessages {
		if err := m.message(ctx, &t); err != nil {
			return t, err
		}
	}
	slices.Sort(t.Accepted)
	slices.Sort(t.Left)
	slices.Sort(t.Meanwhile)
	return t, nil
}

// teamMeasurement is a measurement in progress.
type teamMeasurement struct {
	s       *runningServer
	c       *client
	load    TeamLoad
	coach   http.Header
	batch   string
	players []string
	day     time.Time // of the next sheet
}

// prepare adds the players, of which the first are in a batch.
func (m *teamMeasurement) prepare(ctx context.Context) error {
	m.coach, m.day = m.s.workers[0].coach, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	body, err := m.c.post(ctx, "/api/batches", m.coach, `{"name":"Everybody"}`)
	if err != nil {
		return err
	}
	if m.batch, err = bench.StringMember(body, "batch_id"); err != nil {
		return err
	}
	for len(m.players) < max(m.load.Marks, m.load.Recipients)-playersOfWorker {
		n := m.s.added.Add(1)
		body, err := m.c.post(ctx, "/api/players/add", m.coach, playerBody(fmt.Sprintf("+91985%07d", n), "", n))
		if err != nil {
			return err
		}
		player, err := bench.StringMember(body, "player_id")
		if err != nil {
			return err
		}
		m.players = append(m.players, player)
	}
	m.players = append(m.players, m.s.workers[0].players...)
	for _, player := range m.players[:m.load.Marks] {
		if _, err := m.c.send(ctx, http.MethodPut, "/api/batches/"+m.batch+"/players/"+player, m.coach, nil); err != nil {
			return err
		}
	}
	return m.s.gateway.drained(ctx)
}

// sheets saves a sheet of a new day and then changes each of its marks, for one day after the
// other until the time is up.
func (m *teamMeasurement) sheets(ctx context.Context) (added, changed Latencies, err error) {
	for end := time.Now().Add(m.load.Duration); time.Now().Before(end); m.day = m.day.AddDate(0, 0, 1) {
		for _, mark := range []string{"present", "late"} {
			took, err := m.putSheet(ctx, mark)
			if err != nil {
				return nil, nil, err
			}
			if mark == "present" {
				added = append(added, took)
			} else {
				changed = append(changed, took)
			}
		}
	}
	slices.Sort(added)
	slices.Sort(changed)
	return added, changed, nil
}

func (m *teamMeasurement) putSheet(ctx context.Context, mark string) (time.Duration, error) {
	marks := make([]string, m.load.Marks)
	for i := range marks {
		marks[i] = `{"player_id":"` + m.players[i] + `","mark":"` + mark + `"}`
	}
	header := m.coach.Clone()
	if mark != "present" {
		header.Set("If-Match", "*")
	}
	body := []byte(`{"marks":[` + strings.Join(marks, ",") + `]}`)
	begun := time.Now()
	_, err := m.c.send(ctx, http.MethodPut, "/api/batches/"+m.batch+"/attendance/"+m.day.Format(time.DateOnly), header, body)
	return time.Since(begun), err
}

// message sends a message to the guardians of all players, and signs coaches in until it has left.
func (m *teamMeasurement) message(ctx context.Context, t *Team) error {
	before, wanted := m.s.gateway.messages.Load(), int64(min(m.load.Recipients, len(m.players)-playersOfWorker)+1)
	begun := time.Now()
	if _, err := m.c.post(ctx, "/api/messages", m.coach, `{"to":{"all":true},"audience":"guardian","text":"Training begins at 6 today.","channels":["sms"]}`); err != nil {
		return err
	}
	t.Accepted = append(t.Accepted, time.Since(begun))
	var leftAfter atomic.Int64 // a time.Duration; 0 until the last SMS left
	left := func() bool {
		if m.s.gateway.messages.Load()-before < wanted {
			return false
		}
		leftAfter.CompareAndSwap(0, int64(time.Since(begun)))
		return true
	}
	meanwhile, err := m.signIns(ctx, left, messageTimeout)
	if err != nil {
		return err
	}
	if !left() {
		return fmt.Errorf("%d of %d SMS left in %s", m.s.gateway.messages.Load()-before, wanted, messageTimeout)
	}
	t.Left, t.Meanwhile = append(t.Left, time.Duration(leftAfter.Load())), append(t.Meanwhile, meanwhile...)
	return m.s.gateway.drained(ctx)
}

// signIns signs coaches in on all workers until done returns true, at most for maxTime, and at least one on each worker.
// The first error stops all workers.
func (m *teamMeasurement) signIns(ctx context.Context, done func() bool, maxTime time.Duration) (Latencies, error) {
	end := time.Now().Add(maxTime)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	var all Latencies
	var workers sync.WaitGroup
	for worker := range m.load.Workers {
		workers.Go(func() {
			for i := 0; i == 0 || time.Now().Before(end) && !done() && ctx.Err() == nil; i++ {
				number := knownNumber(worker, i)
				m.s.gateway.expect(number)
				begun := time.Now()
				_, _, err := m.c.signIn(ctx, number, "coach", func() string { return m.s.gateway.await(number) })
				took := time.Since(begun)
				if err != nil {
					cancel(err) // only the first counts
					return
				}
				mu.Lock()
				all = append(all, took)
				mu.Unlock()
				time.Sleep(max(0, signInEvery-took))
			}
		})
	}
	workers.Wait()
	slices.Sort(all)
	return all, context.Cause(ctx)
}
