package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/player"
)

const address = "Meera@families.example"

// motherWithMail is mother with an e-mail address.
func motherWithMail(n phone.Number) *approval.Person {
	g := mother(n)
	g.Email = address
	return g
}

// claimMail claims the mails of a kind.
func (p *fixture) claimMail(kind message.Kind) []message.Delivery {
	p.Helper()
	claimed, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: message.Email, Kind: kind}, p.db.NewID(), p.clock.Now().Add(time.Minute), 10)
	ok(p, err)
	return claimed
}

// Each channel fails separately: a request has failed when all its channels that leave the
// app have, and each failure notifies the coach once.
func TestFailuresByChannel(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a, err := p.Add(bg, coach, child("Asha Rao", ""), motherWithMail(number(2)))
		ok(p, err)
		id := a.Party(actor.Guardian).Request.ID
		want := func(when string, failed bool, channels string, notifications int) {
			p.Helper()
			r, err := p.Request(bg, coach, id)
			ok(p, err)
			if r.DeliveryFailed != failed || fmt.Sprint(r.FailedChannels) != channels || len(p.tray(coach.AccountID)) != notifications {
				p.Errorf("%s: failed %t on %v, notifications %q", when, r.DeliveryFailed, r.FailedChannels, p.tray(coach.AccountID))
			}
		}
		mails := p.claimMail(message.Request)
		if len(mails) != 1 || mails[0].To != address {
			p.Fatalf("claimed %+v, want a mail", mails)
		}
		ok(p, p.db.Outbox.DeliveryFailed(bg, mails, message.ReasonRefused, message.CauseUnknownAddress))
		want("the mail failed", false, "[email]", 1)
		sms := p.claimOneRequest()
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{sms}))
		_, err = p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: sms.ID, Attempt: 1, Receipt: message.ReceiptUndeliverable})
		ok(p, err)
		want("the SMS failed too", true, "[email sms]", 2)
		p.wantFailedOn(coach, "[email sms]")
		_, err = p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: sms.ID, Attempt: 1, Receipt: message.ReceiptDelivered})
		ok(p, err)
		want("the SMS arrived after all", false, "[email]", 2)

		// Only the mail is sent again, and an old report of it changes nothing.
		_, created, err := p.Send(bg, coach, a.ID, actor.Guardian, approval.Patch{Guardian: &approval.GuardianPatch{Email: ptr("new@families.example")}}, nil)
		if err != nil || created {
			p.Fatal(created, err)
		}
		want("sent again", false, "[]", 2)
		_, err = p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: mails[0].ID, Attempt: message.NewestAttempt, Receipt: message.ReceiptUndeliverable})
		ok(p, err)
		want("an old report", false, "[]", 2)
		if again := p.claimMail(message.Request); len(again) != 1 || again[0].To != "new@families.example" {
			p.Errorf("claimed %+v, want one mail to the new address", again)
		}
		if n := p.count(`SELECT count(*) FROM deliveries WHERE request_id = $1 AND channel = 'sms'`, id); n != 1 {
			p.Errorf("%d SMS, want 1", n)
		}
		// The link to the former address is dead, also if its mail leaves at this moment. That in the SMS works.
		ok(p, p.RenewLinks(bg, mails))
		p.wantLink(vault.HashToken(p.vault.LinkToken(mails[0].ID)), approval.LinkState{})
		if l, err := p.Link(bg, vault.HashToken(p.vault.LinkToken(sms.ID))); err != nil || !l.Open {
			p.Errorf("the link in the SMS: %+v, %v", l, err)
		}
		// A mail that waits for an address that was corrected meanwhile is dropped.
		_, _, open, err := p.RequestDetails(bg, message.Delivery{ID: "x", RequestID: id, Lane: message.Lane{Channel: message.Email}, To: address})
		if err != nil || open {
			p.Errorf("details for the former address: %t, %v", open, err)
		}
	})
}

// Of two channels that fail at the same time, the second one fails the request.
func TestChannelsFailAtOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		const requests = 8
		for i := range requests {
			_, err := p.Add(bg, coach, child(fmt.Sprintf("Child %c", 'A'+i), ""), motherWithMail(number(2+i)))
			ok(p, err)
		}
		mails := p.claimMail(message.Request)
		texts, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), p.clock.Now().Add(time.Minute), requests)
		if ok(p, err); len(mails) != requests || len(texts) != requests {
			p.Fatalf("claimed %d mails and %d SMS", len(mails), len(texts))
		}
		for i, err := range concurrently(2*requests, func(i int) error {
			d := mails[i/2]
			if i%2 == 1 {
				d = texts[i/2]
			}
			return p.db.Outbox.DeliveryFailed(bg, []message.Delivery{d}, message.ReasonRefused, "")
		}) {
			if err != nil {
				p.Errorf("failure %d: %v", i, err)
			}
		}
		if n := p.count(`SELECT count(*) FROM requests WHERE delivery_failed`); n != requests {
			p.Errorf("%d of %d requests have failed", n, requests)
		}
	})
}

// Confirmations go to a guardian's address and digests to a coach's, unless the person chose
// no mail. A person who chose one of several channels for questions gets them there alone.
func TestChosenChannels(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		_, err := p.db.Outbox.SavePreferences(bg, number(2), message.PreferencesPatch{Channels: map[message.Kind]*[]message.Channel{
			message.Request: {message.Email}, message.NotificationCopy: {message.Push},
		}})
		ok(p, err)
		a, err := p.Add(bg, coach, child("Asha Rao", ""), motherWithMail(number(2)))
		ok(p, err)
		if sent := p.deliveries(coach, a.Party(actor.Guardian).Request.ID); fmt.Sprint(sent) != "[in_app delivered email queued]" {
			p.Errorf("the question goes by %v, want in_app and email", sent)
		}
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		copies := p.claimMail(message.NotificationCopy)
		if len(copies) != 1 {
			p.Fatalf("claimed %+v, want a confirmation: push does not reach the guardian", copies)
		}
		c, to, found, err := p.notices().NotificationCopy(bg, copies[0])
		if err != nil || !found || c.Title != "You said yes" || !c.Readable || c.ToCoach || to.Number != number(2) {
			p.Errorf("copy %+v to %+v, %t, %v", c, to, found, err)
		}
		ok(p, p.db.Outbox.DeliverySent(bg, copies))
		_, err = p.db.Outbox.SavePreferences(bg, number(2), message.PreferencesPatch{Channels: map[message.Kind]*[]message.Channel{message.NotificationCopy: {}}})
		ok(p, err)
		ok(p, p.decide(guardian, a.ID, approval.Revoke))
		if copies := p.claimMail(message.NotificationCopy); len(copies) != 0 {
			p.Errorf("claimed %+v although the guardian chose no channel", copies)
		}

		ok(p, run(p.db, `UPDATE coaches SET email = 'coach@club.example' WHERE id = $1`, coach.AccountID))
		_, err = p.Add(bg, coach, child("Bela Rao", ""), mother(number(3)))
		ok(p, err)
		p.clock.advance(4 * day)
		p.sendDigests(10, coach.AccountID)
		digests := p.claimMail(message.NotificationCopy)
		if len(digests) != 1 || digests[0].To != "coach@club.example" {
			p.Fatalf("claimed %+v, want a digest", digests)
		}
		if c, _, _, err := p.notices().NotificationCopy(bg, digests[0]); err != nil || !c.ToCoach || c.Type != message.PendingReminder {
			p.Errorf("digest %+v, %v", c, err)
		}
	})
}

// The holder of an address stops mail to it with the link of a mail, until the holder allows it
// again. An account sees which of its addresses are stopped, a guardian only after an approval.
func TestStoppedAddresses(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a, err := p.Add(bg, coach, child("Asha Rao", ""), motherWithMail(number(2)))
		ok(p, err)
		guardian := p.as(actor.Guardian, number(2))
		mails, sms := p.claimMail(message.Request), p.claimOneRequest()
		ok(p, p.db.Outbox.DeliverySent(bg, mails))
		for token, want := range map[string]bool{p.vault.LinkToken(sms.ID): false, "unknown": false, p.vault.LinkToken(mails[0].ID): true} {
			for range 2 {
				stopped, err := player.StopAddressOfLink(bg, p.db, vault.HashToken(token), p.clock.Now())
				if err != nil || stopped != want {
					p.Errorf("StopAddressOfLink = %t, %v; want %t", stopped, err, want)
				}
			}
		}
		r, err := p.Request(bg, coach, a.Party(actor.Guardian).Request.ID)
		if err != nil || r.State != approval.RequestPending || fmt.Sprint(r.FailedChannels) != "[email]" || len(p.tray(coach.AccountID)) != 1 {
			p.Errorf("request %+v, %v; notifications %q", r, err, p.tray(coach.AccountID))
		}
		if _, to, _, err := p.RequestDetails(bg, mails[0]); err != nil || !to.AddressStopped {
			p.Errorf("recipient %+v, %v; want the address stopped", to, err)
		}
		ok(p, p.db.Outbox.StopAddress(bg, "OTHER@families.example"))
		ok(p, p.db.Outbox.StopAddress(bg, "Meera@xn--bcher-kva.example"))
		if got, err := player.StoppedAddresses(bg, p.db, guardian); err != nil || len(got) != 0 {
			p.Errorf("stopped for a guardian before an approval: %v, %v; want none", got, err)
		}
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		if got, err := player.StoppedAddresses(bg, p.db, guardian); err != nil || fmt.Sprint(got) != "[meera@families.example]" {
			p.Errorf("stopped %v, %v", got, err)
		}
		if got, err := player.StoppedAddresses(bg, p.db, coach); err != nil || len(got) != 0 {
			p.Errorf("stopped for the coach: %v, %v", got, err)
		}
		for range 2 {
			ok(p, p.db.Outbox.AllowAddress(bg, "meera@FAMILIES.example"))
		}
		for address, want := range map[string]bool{
			"Other@families.example": true, "other@families。example": true, "other@ｆamilies.example": true, address: false,
			"meera@bücher.example": true, "meera@BÜCHER.example": true, "meera@bu\u0308cher.example": true, "ｍeera@bücher.example": true, "meera@bucher.example": false,
		} {
			if stopped, err := p.db.Outbox.AddressStopped(bg, address); err != nil || stopped != want {
				p.Errorf("%s stopped: %t, %v; want %t", address, stopped, err, want)
			}
		}
		if got, err := player.StoppedAddresses(bg, p.db, guardian); err != nil || len(got) != 0 {
			p.Errorf("stopped after it was allowed: %v, %v", got, err)
		}

		ok(p, p.db.Outbox.AllowAddressForOperator(bg, auditor, "other@Families.example", "asked by mail"))
		if err := p.db.Outbox.AllowAddressForOperator(bg, auditor, "other@families.example", "again"); fault.KindOf(err) != fault.NotFound {
			p.Errorf("an address that is not stopped: %v, want not_found", err)
		}
		if stopped, err := p.db.Outbox.AddressStopped(bg, "other@families.example"); err != nil || stopped {
			p.Errorf("stopped after an operator allowed it: %t, %v", stopped, err)
		}
		if log, err := p.db.Operators.Audit(bg, auditor, "", "", 10); err != nil || len(log) != 1 || log[0].Action != operator.MailAllowed || log[0].Detail != "asked by mail" || log[0].ObjectID != "" {
			p.Errorf("audit log %+v, %v; want one entry without the address", log, err)
		}
	})
}

// A mail counts 1 and costs nothing, and no block of numbers counts it.
func TestLimitsOfMail(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		for i, name := range []string{"Asha Rao", "Bela Rao", "Chetan Rao"} {
			mother := motherWithMail(number(2))
			mother.Email = []string{mother.Email, strings.ToUpper(mother.Email[:3]) + mother.Email[3:], strings.ToUpper(mother.Email[:1]) + mother.Email[1:]}[i] // of one person
			_, err := p.Add(bg, coach, child(name, ""), mother)
			ok(p, err)
		}
		var messages []message.Outgoing
		for _, d := range p.claimMail(message.Request) {
			messages = append(messages, message.Outgoing{Message: message.Message{ID: d.ID, Kind: d.Kind}, Deliveries: []message.Delivery{d}, Segments: 1})
		}
		admitted, err := p.db.Outbox.AdmitMessages(bg, messages)
		if err != nil || len(messages) != 3 || len(admitted) != 2 {
			p.Errorf("admitted %d of %d mails, %v; want 2", len(admitted), len(messages), err)
		}
		if n := p.count(`SELECT count(*) FROM message_counts WHERE counter = 'cost' OR counter IN (SELECT counter FROM message_counts WHERE substr(counter, 1, 6) = 'block/')`); n != 0 {
			p.Errorf("%d counts of costs and blocks, want none", n)
		}
	}, limited(message.Limits{PerNumberFromCoach: 2, PerBlock: 1, Budget: 1}), func(s *settings) {
		s.Outbox.SegmentPrice = func(c message.Channel, _ phone.Number) int64 {
			if c == message.SMS {
				return 5
			}
			return 0
		}
	})
}

// A copy that waits does not go to an address that was corrected or removed meanwhile. That about
// a removed player goes to the address that the player had.
func TestCopyToFormerAddress(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		want := func(when string, d message.Delivery, changed bool) {
			p.Helper()
			_, to, found, err := p.notices().NotificationCopy(bg, d)
			if err != nil || !found || to.AddressChanged != changed {
				p.Errorf("%s: address changed %t, %t, %v; want %t", when, to.AddressChanged, found, err, changed)
			}
		}
		a, err := p.Add(bg, coach, child("Asha Rao", ""), motherWithMail(number(2)))
		ok(p, err)
		_, err = p.Add(bg, coach, child("Bela Rao", ""), motherWithMail(number(2)))
		ok(p, err)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		confirmation := p.claimMail(message.NotificationCopy)[0]
		want("a confirmation", confirmation, false)
		for _, email := range []string{"new@families.example", ""} {
			_, err = p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Email: ptr(email)}})
			ok(p, err)
			want("a confirmation, the address is now "+email, confirmation, true)
		}
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Email: ptr(address)}})
		ok(p, err)
		ok(p, p.Remove(bg, coach, a.ID))
		removal := p.claimMail(message.NotificationCopy)[0]
		want("the player was removed", removal, false)
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{confirmation, removal}))

		ok(p, run(p.db, `UPDATE coaches SET email = 'coach@club.example' WHERE id = $1`, coach.AccountID))
		p.clock.advance(4 * day)
		p.sendDigests(10, coach.AccountID)
		digest := p.claimMail(message.NotificationCopy)[0]
		want("a digest", digest, false)
		ok(p, run(p.db, `UPDATE coaches SET email = 'new@club.example' WHERE id = $1`, coach.AccountID))
		want("the coach has another address", digest, true)
		ok(p, run(p.db, `UPDATE coaches SET email = NULL WHERE id = $1`, coach.AccountID))
		want("the coach has no address", digest, true)
	})
}
