package store_test

import (
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
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// fixture is a migrated database with an approval service and a clock.
type fixture struct {
	testing.TB
	*player.Service
	sql *database.DB
	db  *store.DB
	url string
	// lastMaster is the master key after installation.
	lastMaster []byte
	// postgres is true on PostgreSQL.
	postgres bool
	clock    *clock
	vault    *vault.Vault
	rand     io.Reader // of short codes; nil means crypto/rand

	queued   atomic.Int64
	mu       sync.Mutex
	notified []string
}

func (p *fixture) notices() *notice.Tray { return &notice.Tray{DB: p.db} }

// pushSubscriptions are the subscriptions of browsers for push messages.
func (p *fixture) pushSubscriptions() *notice.PushSubscriptions {
	return &notice.PushSubscriptions{DB: p.sql, Vault: p.vault, NewID: p.db.NewID}
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
type option = func(*settings)

// settings are the settings of a fixture's store and approval service.
type settings struct {
	store.Settings
	Rules approval.Rules
}

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
	p := &fixture{TB: tb, clock: &clock{}, url: url, postgres: strings.HasPrefix(url, "postgres")}
	p.clock.now.Store(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).UnixMicro())
	p.sql = openDatabase(tb, url, database.Options{Now: p.clock.Now, MaxConns: fixtureConns})
	ok(tb, p.sql.Migrate(bg))
	var err error
	p.vault, err = vault.New([]byte("0123456789abcdef0123456789abcdef"))
	ok(tb, err)
	p.openStore(options...)
	return p
}

// with returns a fixture with the same database and clock and with other settings.
func (p *fixture) with(options ...option) *fixture {
	other := &fixture{TB: p.TB, clock: p.clock, url: p.url, sql: p.sql, vault: p.vault, postgres: p.postgres}
	other.openStore(options...)
	return other
}

// openStore creates the store and the approval service.
func (p *fixture) openStore(options ...option) {
	settings := settings{
		Settings: store.Settings{Brand: "Touchline", Route: toNumbers},
		Rules: approval.Rules{
			ResendAfter: 48 * time.Hour, RemindersPerWindow: 2, ReminderWindow: 7 * day,
			LinkValidity: 14 * day, Digest: approval.DigestRules{After: 3 * day, Every: 3 * day},
			Routes: map[message.Channel]message.Route{
				"in_app": message.RouteInApp,
				"sms":    message.RouteToNumber(func(n phone.Number) bool { return n[:3] == "+91" }, noTestNumber),
				"email":  message.RouteToEmail(noTestNumber),
			},
			DefaultChannels: []message.Channel{"in_app", "sms", "email"},
			TestNumber:      noTestNumber,
		},
	}
	for _, option := range options {
		option(&settings)
	}
	p.db = store.New(p.sql, store.Options{
		Vault:    p.vault,
		Settings: settings.Settings,
		Hooks:    server.Hooks(settings.Rules, retained),
		OnQueued: func(message.Lane) { p.queued.Add(1) },
		OnNotified: func(ids []string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.notified = append(p.notified, ids...)
		},
	})
	p.Service = &player.Service{
		DB: p.db, Rules: settings.Rules, Rand: p.rand,
		Hooks: server.PlayerHooks,
	}
}

// toNumbers is a Settings.Route with SMS, and with mail to those that have an address.
func toNumbers(channel message.Channel, a message.Addresses) message.Destination {
	switch {
	case channel == message.SMS:
		return message.Destination{Address: string(a.Number), State: message.QueuedState}
	case channel == message.Email && a.Email != "":
		return message.Destination{Address: a.Email, State: message.QueuedState}
	}
	return message.Destination{}
}

// limited sets the message limits.
func limited(l message.Limits) option {
	return func(s *settings) { s.Outbox.Limits = l }
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

// history returns the decisions about a player, also one that was removed.
func (p *fixture) history(playerID string) ([]approval.Record, error) {
	rs, err := p.db.Query(bg, `
		SELECT id, player_id, approver_type, approver_id, action, reason, request_id, decided_at
		FROM approval_history WHERE player_id = $1 ORDER BY decided_at, id`, playerID)
	return database.Collect(rs, err, func(s database.Scanner) (r approval.Record, err error) {
		return r, s.Scan(&r.ID, &r.PlayerID, &r.Party, &r.ApproverID, &r.Action, database.IntoText(&r.Reason), database.IntoText(&r.RequestID), database.IntoTime(&r.At))
	})
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

func mother(n phone.Number) *approval.Person {
	return &approval.Person{Name: "Meera", Relationship: "mother", Number: n}
}

// add adds a child with both contacts.
func (p *fixture) add(by actor.Actor, name string, guardian, student phone.Number) *approval.Player {
	p.Helper()
	added, err := p.Add(bg, by, child(name, student), mother(guardian))
	ok(p, err)
	return added
}

// decide records the decision of a party that was shown the newest version of its request.
func (p *fixture) decide(by actor.Actor, id string, what approval.Trigger) error {
	shown := p.count(`SELECT coalesce(max(version), 0) FROM requests WHERE player_id = $1 AND approver_type = $2 AND state = 'pending'`, id, string(by.Role))
	_, _, err := p.Decide(bg, by, id, approval.Decision{Action: what, Wording: approval.Wording{Version: int64(shown)}})
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

func (p *fixture) coaches() coach.Store { return coach.Store{DB: p.db} }

func (p *fixture) accounts() auth.Store { return auth.Store{DB: p.db} }
