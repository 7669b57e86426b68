package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/progress"
	"github.com/touchline/touchline/internal/roster"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/training"
)

// fixture is a migrated database with an approval service and a clock.
type fixture struct {
	testing.TB
	*approval.Service
	sql *database.DB
	db  *store.DB
	// postgres is true on PostgreSQL.
	postgres bool
	clock    *clock
	vault    *auth.Vault
	rand     io.Reader // of the store; nil means crypto/rand

	queued   atomic.Int64
	mu       sync.Mutex
	notified []string
}

// clock is a fake clock that moves only by advance, unless a hook is set.
type clock struct {
	now  atomic.Int64
	hook atomic.Pointer[func() time.Time]
}

func (c *clock) Now() time.Time {
	if hook := c.hook.Load(); hook != nil {
		return (*hook)()
	}
	return c.stopped()
}

// setHook makes Now call hook; nil removes it.
func (c *clock) setHook(hook func() time.Time) {
	if hook == nil {
		c.hook.Store(nil)
		return
	}
	c.hook.Store(&hook)
}

func (c *clock) stopped() time.Time       { return time.UnixMicro(c.now.Load()).UTC() }
func (c *clock) advance(by time.Duration) { c.now.Add(by.Microseconds()) }

const day = 24 * time.Hour

// option changes the settings of a fixture's store.
type option = func(*store.Settings)

// eachEngine runs test on both engines, each with an empty database.
func eachEngine(t *testing.T, test func(p *fixture), options ...option) {
	storetest.Each(t, func(t *testing.T, url string) {
		test(newFixture(t, url, options...))
	})
}

// fixtureConns is how many concurrent transactions a fixture has on PostgreSQL. Each new
// connection costs about 10 ms of processor time.
const fixtureConns = 8

func newFixture(tb testing.TB, url string, options ...option) *fixture {
	tb.Helper()
	p := &fixture{TB: tb, clock: &clock{}, postgres: strings.HasPrefix(url, "postgres")}
	p.clock.now.Store(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).UnixMicro())
	p.sql = openDatabase(tb, url, database.Options{Now: p.clock.Now, MaxConns: fixtureConns})
	ok(tb, p.sql.Migrate(bg))
	var err error
	p.vault, err = auth.NewVault([]byte("0123456789abcdef0123456789abcdef"))
	ok(tb, err)
	p.openStore(options...)
	return p
}

// with returns a fixture with the same database and clock and with other settings.
func (p *fixture) with(options ...option) *fixture {
	other := &fixture{TB: p.TB, clock: p.clock, sql: p.sql, vault: p.vault, postgres: p.postgres}
	other.openStore(options...)
	return other
}

// hooks are those of server.
var hooks = store.Hooks{
	CoachLeft:     []func(context.Context, *store.Tx, string) error{conversation.CoachLeft, progress.CoachLeft, roster.CoachLeft, fee.CoachLeft, training.CoachLeft},
	PlayerRemoved: []func(context.Context, *store.Tx, string, string) error{conversation.PlayerRemoved, progress.PlayerRemoved, training.PlayerRemoved},
	PlayerAdded:   roster.PlayerAdded,
	Expired:       append([]store.Expired{progress.Expired}, roster.Expired...),
}

// openStore creates the store and the approval service.
func (p *fixture) openStore(options ...option) {
	settings := store.Settings{Brand: "Touchline", LinkValidity: 14 * day, DigestAfter: 3 * day, DigestEvery: 3 * day, Route: toNumbers}
	for _, option := range options {
		option(&settings)
	}
	p.db = store.New(p.sql, store.Options{
		Vault:    p.vault,
		Rand:     p.rand,
		Settings: settings,
		Hooks:    hooks,
		OnQueued: func(message.Lane) { p.queued.Add(1) },
		OnNotified: func(ids []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.notified = append(p.notified, ids...)
		},
	})
	p.Service = approval.NewService(p.db, approval.Rules{
		ResendAfter: 48 * time.Hour, RemindersPerWindow: 2, ReminderWindow: 7 * day,
		Routes: map[approval.Channel]approval.Route{
			"in_app": approval.RouteInApp,
			"sms":    approval.RouteToNumber(func(n phone.Number) bool { return n[:3] == "+91" }, noTestNumber),
			"email":  approval.RouteToEmail(noTestNumber),
		},
		DefaultChannels: []approval.Channel{"in_app", "sms", "email"},
		TestNumber:      noTestNumber,
	}, p.clock.Now, p.db.NewID)
}

// toNumbers is a Settings.Route with SMS, and with mail to those that have an address.
func toNumbers(channel message.Channel, a approval.Addresses) approval.Destination {
	switch {
	case channel == message.SMS:
		return approval.Destination{Address: string(a.Number), State: approval.DeliveryQueued}
	case channel == message.Email && a.Email != "":
		return approval.Destination{Address: a.Email, State: approval.DeliveryQueued}
	}
	return approval.Destination{}
}

// limited sets the message limits.
func limited(l message.Limits) option {
	return func(s *store.Settings) { s.Outbox.Limits = l }
}

func noTestNumber(phone.Number) bool { return false }

// coach registers a coach with the nth number.
func (p *fixture) coach(n int) actor.Actor {
	p.Helper()
	by := actor.Actor{AccountID: uuid.Must(uuid.NewV7()).String(), Role: actor.Coach, Number: number(n)}
	ok(p, run(p.db, `INSERT INTO accounts (id, mobile_number, role, created_at) VALUES ($1, $2, 'coach', 1)`, by.AccountID, string(by.Number)))
	ok(p, run(p.db, `INSERT INTO coaches (id, name, created_at, updated_at) VALUES ($1, $2, 1, 1)`, by.AccountID, fmt.Sprintf("Coach %d", n)))
	return by
}

// as returns the account of a number in a role. The account must exist.
func (p *fixture) as(role actor.Role, n phone.Number) actor.Actor {
	p.Helper()
	by := actor.Actor{Role: role, Number: n}
	ok(p, p.db.QueryRow(bg, `SELECT id FROM accounts WHERE mobile_number = $1 AND role = $2`, string(n), string(role)).Scan(&by.AccountID))
	return by
}

func (p *fixture) count(q string, args ...any) int {
	p.Helper()
	var n int
	ok(p, p.db.QueryRow(bg, q, args...).Scan(&n))
	return n
}

// number returns the nth mobile number of India.
func number(n int) phone.Number { return phone.Number(fmt.Sprintf("+9198%08d", n)) }

func child(name string, n phone.Number) approval.Student {
	return approval.Student{FullName: name, DateOfBirth: approval.Date{Year: 2014, Month: 5, Day: 6}, Number: n}
}

func adult(name string, n phone.Number) approval.Student {
	return approval.Student{FullName: name, DateOfBirth: approval.Date{Year: 2000, Month: 5, Day: 6}, Number: n}
}

func mother(n phone.Number) *approval.Guardian {
	return &approval.Guardian{Name: "Meera", Relationship: "mother", Number: n}
}

// add adds a child with both contacts.
func (p *fixture) add(by actor.Actor, name string, guardian, student phone.Number) *approval.Player {
	p.Helper()
	added, err := p.Add(bg, by, child(name, student), mother(guardian))
	ok(p, err)
	return added
}

func (p *fixture) decide(by actor.Actor, id string, what approval.Trigger) error {
	_, _, err := p.Decide(bg, by, id, approval.Decision{Action: what})
	return err
}

func (p *fixture) refused(err error, code string) *fault.Error {
	p.Helper()
	f, is := errors.AsType[*fault.Error](err)
	if !is || f.Code != code {
		p.Fatalf("err = %v, want %s", err, code)
	}
	return f
}

func ptr[T any](v T) *T { return &v }

// deliveries returns the deliveries of a request as "channel state reason".
func (p *fixture) deliveries(by actor.Actor, requestID string) []string {
	p.Helper()
	r, err := p.Request(bg, by, requestID)
	ok(p, err)
	var all []string
	for _, d := range r.Deliveries {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Channel, d.State, d.Reason)))
	}
	return all
}

// tray returns the types of an account's notifications, oldest first, and checks that
// tray_seq is at least the last Seq.
func (p *fixture) tray(account string) []string {
	p.Helper()
	rs, err := p.db.Query(bg, `SELECT type, seq FROM notifications WHERE account_id = $1 ORDER BY seq`, account)
	ok(p, err)
	defer rs.Close()
	types, last := []string{}, int64(0)
	for rs.Next() {
		var kind string
		ok(p, rs.Scan(&kind, &last))
		types = append(types, kind)
	}
	ok(p, rs.Err())
	if seq := p.count(`SELECT tray_seq FROM accounts WHERE id = $1`, account); last > int64(seq) {
		p.Errorf("account %s: tray_seq is %d, but the last notification has seq %d", account, seq, last)
	}
	return types
}
