package store_test

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/push"
	"github.com/touchline/touchline/internal/message/push/pushtest"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/webhook"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/worker"
)

// devices are the browsers of the families of a club. A push service receives and decrypts
// what the outbox of the worker sends to them.
type devices struct {
	service *pushtest.Service
	sender  *push.Sender
	signIn  *auth.Service
	checked int // of the messages that the service has received

	mu sync.Mutex
	// rendered has the notification of each delivery when it was rendered.
	rendered map[string]pushed
}

// pushed is a notification that was sent to a browser.
type pushed struct {
	Type      message.Type
	AccountID string
	PlayerID  string
}

func newDevices(p *fixture) *devices {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	ok(p, err)
	return &devices{
		service: pushtest.New(p, push.PublicKey(key)),
		sender: push.New(push.Config{
			Store: p.pushSubscriptions(), Client: webhook.NewClient(webhook.Networks{netip.MustParsePrefix("127.0.0.0/8")}),
			Key: key, Contact: "https://touchline.example", Now: p.clock.Now,
		}),
		signIn:   p.signIn(),
		rendered: map[string]pushed{},
	}
}

// subscribeDevices gives each guardian and student without a subscription one, as long as a
// player names the number.
func (c *club) subscribeDevices() {
	c.Helper()
	for role, numbers := range map[actor.Role][]phone.Number{actor.Guardian: c.guardians, actor.Student: c.students} {
		for _, n := range numbers {
			if c.count(`
				SELECT count(*) FROM accounts a WHERE mobile_number = $1 AND role = $2
					AND EXISTS (SELECT 1 FROM parties p WHERE p.deleted_at IS NULL AND p.account_id = a.id)
					AND NOT EXISTS (SELECT 1 FROM push_subscriptions s WHERE s.account_id = a.id)`, string(n), string(role)) == 0 {
				continue
			}
			by := c.pageLogin(c.devices.signIn, role, n, auth.RememberedLifetime, 0).Session.Actor()
			b := c.devices.service.Browser
			ok(c, c.pushSubscriptions().Save(bg, by, message.PushSubscription{
				ID: c.db.NewID(), Endpoint: c.devices.service.Endpoint() + "?of=" + by.AccountID, P256DH: b.P256DH(), Auth: b.Auth(), CreatedAt: c.clock.Now(),
			}))
		}
	}
}

// push runs the outbox of the worker until it has sent all push messages that are due.
func (c *club) push() error {
	ctx, stop := context.WithCancel(bg)
	defer stop()
	signal := message.NewQueueSignal(message.Push)
	signal.Wake(message.Lane{Channel: message.Push, Kind: message.NotificationCopy})
	worker.NewOutbox(worker.OutboxConfig{
		Store: pushStore{c.db.Outbox, stop}, Contents: pushContents{c.notices(), c.accounts(), c.messages(0), c.Service, c.devices}, Senders: map[message.Channel]worker.Sender{message.Push: c.devices.sender}, Signal: signal,
		PublicURL: "https://touchline.example", Brand: "Touchline", Now: c.clock.Now, NewID: c.db.NewID, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		NewTicker: func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} },
	}).Run(ctx)
	return nil
}

// pushStore is the store of an outbox that stops when nothing more is due.
type pushStore struct {
	*outbox.Store
	stop func()
}

func (s pushStore) ClaimDeliveries(ctx context.Context, lane message.Lane, lease string, until time.Time, n int) ([]message.Delivery, error) {
	claimed, err := s.Store.ClaimDeliveries(ctx, lane, lease, until, n)
	if len(claimed) < n {
		s.stop()
	}
	return claimed, err
}

// pushContents notes whose notifications are sent.
type pushContents struct {
	*notice.Tray
	auth.Store
	*conversation.Service
	*approvals
	devices *devices
}

type approvals = player.Service

// NotificationCopy notes whose notification is sent. One that was deleted before has no type.
func (s pushContents) NotificationCopy(ctx context.Context, d message.Delivery) (message.Copy, message.Recipient, bool, error) {
	var of pushed
	_ = s.Tray.DB.QueryRow(ctx, `SELECT type, account_id, coalesce(player_id, '') FROM notifications WHERE id = $1`, d.NotificationID).
		Scan(&of.Type, &of.AccountID, &of.PlayerID)
	s.devices.mu.Lock()
	s.devices.rendered[d.ID] = of
	s.devices.mu.Unlock()
	return s.Tray.NotificationCopy(ctx, d)
}

// checkPushed fails the test if a browser received a notification of an app service since the
// last check and its account had approved neither before nor after that, nor between two actions of
// the step.
func (c *club) checkPushed(before, after map[string]map[actor.Role]consent) {
	c.Helper()
	received := c.devices.service.Received()
	for _, m := range received[c.devices.checked:] {
		var text message.PushText
		ok(c, json.Unmarshal(m.Text, &text))
		of := c.devices.rendered[text.Tag]
		if slices.Contains(withoutApproval, of.Type) {
			continue
		}
		c.pushed++
		if _, between := c.approved.Load(of.PlayerID); !between && !approves(before, of) && !approves(after, of) {
			c.Errorf("a browser without an approval received %q (%+v)", text.Title, of)
		}
	}
	c.devices.checked = len(received)
}

// approves reports whether the account of a notification has approved the player.
func approves(all map[string]map[actor.Role]consent, of pushed) bool {
	for _, given := range all[of.PlayerID] {
		if given.account == of.AccountID && given.state == approval.Approved {
			return true
		}
	}
	return false
}
