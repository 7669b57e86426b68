package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// subscribe signs a number in on a page and subscribes its session.
func (p *fixture) subscribe(s *auth.Service, role actor.Role, n phone.Number, endpoint string) actor.Actor {
	p.Helper()
	p.clock.advance(2 * time.Minute) // past OTPResendAfter
	by := p.pageLogin(s, role, n, auth.RememberedLifetime, 0).Session.Actor()
	ok(p, p.pushSubscriptions().Save(bg, by, message.PushSubscription{ID: p.db.NewID(), Endpoint: endpoint, P256DH: "key", Auth: "secret", CreatedAt: p.clock.Now()}))
	return by
}

// claimPush claims the push messages and returns their endpoints. Those of ended sessions
// are "".
func (p *fixture) claimPush(subscriptions *notice.PushSubscriptions) string {
	p.Helper()
	claimed, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: message.Push, Kind: message.NotificationCopy}, p.db.NewID(), p.clock.Now().Add(time.Minute), 50)
	ok(p, err)
	var endpoints []string
	for _, d := range claimed {
		s, found, err := subscriptions.PushSubscription(bg, d.To)
		ok(p, err)
		if found && (s.P256DH != "key" || s.Auth != "secret") {
			p.Errorf("subscription %+v", s)
		}
		endpoints = append(endpoints, s.Endpoint)
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
	}
	slices.Sort(endpoints)
	return strings.Join(endpoints, " ")
}

// Every notification goes to the subscriptions of its account, unless the person chose other
// channels. A subscription ends with its session, when the browser gets another user, and
// when it is gone.
func TestPushSubscriptions(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, s := p.coach(1), p.signIn()
		subscriptions := p.pushSubscriptions()
		player := p.add(coach, "Asha Rao", number(2), "")
		other := p.add(coach, "Bela Rao", number(3), "")
		remind := func(player *approval.Player) {
			p.Helper()
			p.clock.advance(day)
			_, _, err := p.Remind(bg, coach, player.ID, actor.Guardian)
			ok(p, err)
		}
		want := func(when, endpoints string) {
			p.Helper()
			if got := p.claimPush(subscriptions); got != endpoints {
				p.Errorf("%s: pushed to %q, want %q", when, got, endpoints)
			}
		}
		want("no subscription", "")
		phoneA := p.subscribe(s, actor.Guardian, number(2), "https://push.example/a")
		p.subscribe(s, actor.Guardian, number(2), "https://push.example/b")
		if n := p.count(`SELECT count(*) FROM push_subscriptions WHERE endpoint = 'https://push.example/a'`); n != 0 {
			p.Error("the endpoint is stored in clear")
		}
		remind(player)
		want("two devices", "https://push.example/a https://push.example/b")

		_, err := p.db.Outbox.SavePreferences(bg, number(2), message.PreferencesPatch{Channels: map[message.Kind]*[]message.Channel{message.Reminder: {message.SMS}}})
		ok(p, err)
		remind(player)
		want("reminders by SMS alone", "")
		ok(p, p.decide(phoneA, player.ID, approval.Approve))
		want("a decision", "https://push.example/a https://push.example/b")

		// The other guardian signs in on the second device.
		p.subscribe(s, actor.Guardian, number(3), "https://push.example/b")
		ok(p, p.decide(phoneA, player.ID, approval.Revoke))
		want("one device left", "https://push.example/a")
		_, err = p.accounts().EndSession(bg, phoneA.AccountID, phoneA.SessionID)
		ok(p, err)
		if n := p.count(`SELECT count(*) FROM push_subscriptions`); n != 1 {
			p.Errorf("%d subscriptions after the sign-out, want 1", n)
		}
		attempts, now := 0, p.clock.Now() // a transaction reads the clock once
		p.clock.setHook(func() time.Time { attempts++; return now })
		err = p.pushSubscriptions().Save(bg, phoneA, message.PushSubscription{ID: "x", CreatedAt: now})
		p.clock.setHook(nil)
		if fault.CodeOf(err) != "session_revoked" || attempts != 1 {
			p.Errorf("an ended session: got %v after %d attempts, want session_revoked after one", err, attempts)
		}
		remind(other)
		want("the other guardian", "https://push.example/b")
		p.clock.advance(23 * day) // the session has ended by itself
		remind(other)
		want("an idle session", "")
		if n := p.count(`SELECT count(*) FROM push_subscriptions`); n != 0 {
			p.Errorf("%d subscriptions of ended sessions", n)
		}

		last := p.subscribe(s, actor.Guardian, number(3), "https://push.example/c")
		found, isFound, err := p.pushSubscriptions().OfSession(bg, last)
		if err != nil || !isFound || found.Endpoint != "https://push.example/c" {
			p.Errorf("subscription %+v, %t, %v", found, isFound, err)
		}
		ok(p, subscriptions.PushSubscriptionGone(bg, found.ID))
		if _, isFound, err := p.pushSubscriptions().OfSession(bg, last); err != nil || isFound {
			p.Errorf("after it is gone: %t, %v", isFound, err)
		}
		for range notice.MaxPushSubscriptions + 1 {
			ok(p, p.pushSubscriptions().Save(bg, p.pageLogin(s, actor.Guardian, number(3), auth.RememberedLifetime, 0).Session.Actor(),
				message.PushSubscription{ID: p.db.NewID(), Endpoint: p.db.NewID(), CreatedAt: p.clock.Now()}))
			p.clock.advance(day / 2)
		}
		if n := p.count(`SELECT count(*) FROM push_subscriptions`); n != notice.MaxPushSubscriptions {
			p.Errorf("%d subscriptions, want %d", n, notice.MaxPushSubscriptions)
		}
		p.clock.advance(60 * day)
		_, err = p.db.Sweep(bg, p.clock.Now())
		ok(p, err)
		if n := p.count(`SELECT count(*) FROM push_subscriptions`); n != 0 {
			p.Errorf("%d subscriptions after the sweep", n)
		}
	})
}
