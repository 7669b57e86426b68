package store_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
)

// notifications runs the statements on notifications and preferences.
func (p *fixture) notifications(by actor.Actor) {
	p.Helper()
	for _, unread := range []bool{false, true} {
		_, err := p.notices().List(bg, by, unread, 0, 5)
		ok(p, err)
	}
	_, err := p.notices().After(bg, by, 0, 5)
	ok(p, err)
	_, err = p.notices().SeqOf(bg, by, "none")
	ok(p, err)
	_, err = p.notices().Unread(bg, by)
	ok(p, err)
	_, err = p.notices().UnreadNews(bg, by)
	ok(p, err)
	_, err = p.db.Outbox.SavePreferences(bg, by.Number, message.PreferencesPatch{Language: ptr("hi"), StoppedCoaches: &[]string{"one"}})
	ok(p, err)
	_, err = p.db.Outbox.SavePreferences(bg, by.Number, message.PreferencesPatch{StoppedCoaches: &[]string{}})
	ok(p, err)
	_, err = p.db.Outbox.StopCoachByReply(bg, message.Reply{From: by.Number, ID: "stop"}, "one")
	ok(p, err)
	_, err = p.db.Outbox.AllowCoachesByReply(bg, message.Reply{From: by.Number, ID: "start"}, "one")
	ok(p, err)
	_, err = p.db.Outbox.Preferences(bg, by.Number)
	ok(p, err)
	for _, ids := range [][]string{{"one"}, {"one", "two", "three"}, nil} {
		_, err = p.notices().MarkRead(bg, by, ids)
		ok(p, err)
	}
}

// tls runs the statements on certificates.
func (p *fixture) tls() {
	p.Helper()
	_, err := p.tlsEntries().Claim(bg, "t.example", p.clock.Now())
	ok(p, err)
	ok(p, p.tlsEntries().Save(bg, "t.example", []byte("x")))
	_, err = p.tlsEntries().Entry(bg, "t.example")
	ok(p, err)
	ok(p, p.tlsEntries().Delete(bg, "t.example"))
}

// streams runs the statements on notification streams.
func (p *fixture) streams(by actor.Actor) {
	p.Helper()
	o := p.stream(by.AccountID, "process")
	ok(p, notice.RenewStreams(bg, p.db, "process"))
	_, _, err := notice.OpenStream(bg, p.db, o)
	ok(p, err)
	for _, accounts := range [][]string{nil, {by.AccountID}} {
		_, err = notice.ReadStreamStates(bg, p.db, "process", accounts)
		ok(p, err)
	}
	ok(p, notice.CloseStream(bg, p.db, o))
	ok(p, notice.EndStreams(bg, p.db, "process"))
}

// mail runs the statements on mails and their addresses.
func (p *fixture) mail() {
	p.Helper()
	c := p.coach(75)
	a, err := p.Add(bg, c, child("Asha Rao", ""), motherWithMail(number(76)))
	ok(p, err)
	mails := p.claimMail(message.Request)
	_, _, _, err = p.RequestDetails(bg, mails[0])
	ok(p, err)
	ok(p, p.db.Outbox.DeliverySent(bg, mails))
	_, err = player.StopAddressOfLink(bg, p.db, vault.HashToken(p.vault.LinkToken(mails[0].ID)), p.clock.Now())
	ok(p, err)
	ok(p, p.db.Outbox.StopAddress(bg, "other@families.example"))
	ok(p, run(p.db, `UPDATE parties SET state = 'approved' WHERE role = 'guardian' AND player_id = $1`, a.ID))
	for _, by := range []actor.Actor{c, p.as(actor.Guardian, number(76))} {
		_, err = player.StoppedAddresses(bg, p.db, by)
		ok(p, err)
	}
	ok(p, run(p.db, `UPDATE parties SET state = 'pending' WHERE role = 'guardian' AND player_id = $1`, a.ID))
	_, err = p.db.Outbox.AddressStopped(bg, address)
	ok(p, err)
	ok(p, p.db.Outbox.AllowAddress(bg, address))
	ok(p, p.db.Outbox.StopAddress(bg, address))
	ok(p, p.db.Outbox.AllowAddressForOperator(bg, auditor, address, "asked by mail"))
	_, _, err = p.Send(bg, c, a.ID, actor.Guardian, approval.Patch{Guardian: &approval.GuardianPatch{Email: ptr("new@families.example")}}, nil)
	ok(p, err)
}

// push runs the statements on subscriptions for push messages.
func (p *fixture) push() {
	p.Helper()
	p.add(p.coach(77), "Asha Rao", number(78), "")
	by := p.subscribe(p.signIn(), actor.Guardian, number(78), "https://push.example/a")
	s, found, err := p.pushSubscriptions().OfSession(bg, by)
	if err != nil || !found {
		p.Fatalf("subscription %t, %v", found, err)
	}
	subscriptions := p.pushSubscriptions()
	for range 2 {
		_, _, err = subscriptions.PushSubscription(bg, s.ID)
		ok(p, err)
		ok(p, subscriptions.PushSubscriptionGone(bg, s.ID))
	}
	ok(p, p.pushSubscriptions().Delete(bg, by))
}

// outbox completes a delivery with each result.
func (p *fixture) outbox() {
	p.Helper()
	for _, lane := range message.SMS.Lanes() { // claim the deliveries of earlier steps
		_, err := p.db.Outbox.ClaimDeliveries(bg, lane, "lease", p.clock.Now().Add(100*day), 100)
		ok(p, err)
	}
	c := p.coach(70)
	for i := range 9 { // the last ones exceed the limit and are held
		p.add(c, "Child "+strings.Repeat("x", i), number(71), number(72))
	}
	_, err := p.db.Outbox.LanesDue(bg, message.SMS.Lanes(), p.clock.Now())
	ok(p, err)
	claim := func() message.Delivery {
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), "lease", p.clock.Now().Add(time.Minute), 1)
		if err != nil || len(claimed) != 1 {
			p.Fatalf("claimed %v, %v", claimed, err)
		}
		return claimed[0]
	}
	d := claim()
	_, _, _, err = p.RequestDetails(bg, d)
	ok(p, err)
	_, _, _, err = p.accounts().LiveChallenge(bg, message.Delivery{To: string(number(60)), Role: actor.Coach, ChallengeID: "challenge"}, 5)
	ok(p, err)
	ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
	ok(p, p.db.Outbox.SaveProviderID(bg, d.ID, "wamid.1"))
	if _, err := p.db.Outbox.VoiceDelivery(bg, d.ID); !database.IsNoRows(err) {
		p.Errorf("VoiceDelivery: err = %v, want no call", err)
	}
	for _, channel := range []message.Channel{message.SMS, message.Chat} {
		for _, n := range []phone.Number{phone.Number(d.To), number(3999)} {
			_, err = p.db.Outbox.NewestSender(bg, n, channel, p.clock.Now())
			ok(p, err)
		}
	}
	_, err = p.db.Outbox.QuotedSender(bg, phone.Number(d.To), "wamid.1")
	ok(p, err)
	ok(p, p.db.Outbox.DeliveryDropped(bg, []message.Delivery{claim()}, "gone"))
	postponed := claim()
	ok(p, p.db.Outbox.PostponeDelivery(bg, []message.Delivery{postponed}, p.clock.Now(), "later"))
	ok(p, p.db.Outbox.RetryDelivery(bg, []message.Delivery{claim()}, p.clock.Now(), "later"))
	_, err = p.db.Outbox.StoreReceipt(bg, message.Report{ProviderID: "wamid.none", Receipt: message.ReceiptDelivered})
	ok(p, err)
	_, err = p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: d.ID, Attempt: 1, Receipt: message.ReceiptUndeliverable})
	ok(p, err)
	_, err = p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: d.ID, Attempt: 1, Receipt: message.ReceiptDelivered})
	ok(p, err)
	_, err = p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: d.ID, Attempt: 1, Receipt: message.ReceiptRead})
	ok(p, err)
	ok(p, run(p.db, `UPDATE deliveries SET gathered_by = id, state = 'sent' WHERE id = $1`, d.ID))
	_, err = p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: d.ID, Attempt: 1, Receipt: message.ReceiptDelivered})
	ok(p, err)
	ok(p, p.db.Outbox.AwaitStatus(bg, []message.Delivery{claim()}, p.clock.Now().Add(day)))
	ok(p, p.db.Outbox.FallBack(bg, []message.Delivery{claim()}, message.Chat))
	d = claim()
	ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
	_, err = p.with(func(s *settings) {
		s.Outbox.Fallbacks = map[message.Channel]message.Channel{message.SMS: message.Chat}
	}).
		db.Outbox.StoreReceipt(bg, message.Report{MessageID: d.ID, Attempt: 1, Receipt: message.ReceiptUndeliverable})
	ok(p, err)
	failed := claim()
	ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{failed}, "refused", ""))
	for _, coachID := range []string{"", c.AccountID} {
		_, err = p.db.Outbox.MessageCosts(bg, auditor, message.MessageCostSearch{From: p.clock.Now(), To: p.clock.Now(), CoachID: coachID}, 5)
		ok(p, err)
		_, err = p.db.Outbox.FailedDeliveries(bg, auditor, message.FailedDeliverySearch{CoachID: coachID}, 5)
		ok(p, err)
	}
	_, err = p.db.Outbox.RetryFailed(bg, auditor, failed.ID, func(message.DeliveryRecord) error { return nil })
	ok(p, err)
	p.clock.advance(2 * day)
	strict := p.with(limited(message.Limits{PerNumberFromCoach: 1})) // admits one delivery and holds the others
	for range 4 {
		d := claim()
		_, err = strict.db.Outbox.AdmitMessages(bg, outgoing(1, d))
		ok(p, err)
	}
	ok(p, p.db.Outbox.DeliverySuppressed(bg, []message.Delivery{d}))
	p.clock.advance(2 * day)
	ok(p, p.db.Outbox.WakeHeld(bg))
	if len(p.sendRequests(1)) == 0 {
		p.Error("no held message was sent")
	}
	p.gatherStatements()
	_, err = p.db.Outbox.FailRemovedChannels(bg, nil, 1)
	ok(p, err)
	poor := p.with(budgeted(1))
	free := p.with()
	free.requestOTP(75, actor.Coach)
	free.requestOTP(76, actor.Coach)
	if sent := poor.sendOTPs(); sent != 1 {
		p.Errorf("%d OTPs sent, want 1", sent)
	}
	p.with(budgeted(1000), maxOTPCost(1)).requestOTP(77, actor.Coach)
	if poor.requestOTP(78, actor.Coach) == 0 {
		p.Errorf("an OTP is accepted after the budget is spent")
	}
	_, err = poor.db.Outbox.BudgetHolds(bg, message.SMSCosts)
	ok(p, err)
	_, err = poor.db.Outbox.Spent(bg, message.SMSCosts)
	ok(p, err)
}

// gatherStatements sends a request alone, then gathers two more in one message that is retried.
func (p *fixture) gatherStatements() {
	p.Helper()
	p = p.with(gathering)
	c := p.coach(73)
	for i := range 3 {
		p.add(c, fmt.Sprint("Child ", i), number(74), "")
	}
	for _, m := range p.claimMessages() {
		ok(p, p.db.Outbox.DeliverySent(bg, m.Deliveries))
	}
	p.clock.advance(2 * time.Minute)
	gathered := p.claimMessages()
	if len(gathered) != 1 || len(gathered[0].Deliveries) != 2 {
		p.Fatalf("messages = %v, want one with two requests", gathered)
	}
	ok(p, p.db.Outbox.RetryDelivery(bg, gathered[0].Deliveries, p.clock.Now(), message.ReasonRetrying))
	p.claimAll(1)
	second := gathered[0].Deliveries[1]
	second.GatheredBy = gathered[0].Deliveries[0].ID
	_, err := p.db.Outbox.GatherRequests(bg, []message.Delivery{second}, p.clock.Now())
	ok(p, err)
}

// announce publishes an account with new notifications to another replica.
func (p *fixture) announce() {
	p.Helper()
	if !p.postgres {
		return
	}
	received := make(chan []string, 1)
	ctx := p.TB.Context()
	db := store.New(p.sql, store.Options{OnNotified: func(ids []string) {
		select {
		case received <- ids:
		default:
		}
	}})
	go db.Listen(ctx)
	for {
		db.Announce([]string{"account"})
		select {
		case <-received:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *fixture) tlsEntries() auth.TLSEntries { return auth.TLSEntries{DB: p.sql, Vault: p.vault} }
