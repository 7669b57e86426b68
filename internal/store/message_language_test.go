package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// Notifications and messages are in the language that was chosen for the recipient.
func TestLanguageOfMessages(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		guardian := mother(number(2))
		guardian.Language = "hi"
		a, err := p.Add(bg, coach, child("Asha Rao", ""), guardian)
		ok(p, err)
		details, to, _, err := p.RequestDetails(bg, p.claimOneRequest())
		ok(p, err)
		if to.Preferences.Language != "hi" || len(details.ShortCode) != 6 || details.Repeated {
			p.Errorf("details %+v, want Hindi, a short code, not repeated", details)
		}
		party := p.as(actor.Guardian, number(2))
		p.wantNewest(party, "आपका जवाब चाहिए")
		ok(p, p.decide(party, a.ID, approval.Approve))
		p.wantNewest(party, "आपने हाँ कहा")
		p.wantNewest(coach, "Guardian said yes")
		_, err = p.db.Outbox.SavePreferences(bg, coach.Number, message.PreferencesPatch{Language: ptr("hi")})
		ok(p, err)
		ok(p, p.decide(party, a.ID, approval.Revoke))
		p.wantNewest(coach, "अभिभावक ने हाँ वापस ली")
	})
}

// wantNewest checks the title of the newest notification.
func (p *fixture) wantNewest(by actor.Actor, title string) {
	p.Helper()
	list, err := p.notices().List(bg, by, false, 0, 1)
	if err != nil || len(list) != 1 || list[0].Title != title {
		p.Errorf("newest notification %+v, %v; want %q", list, err, title)
	}
}

// A question that was sent before is repeated, also in a new request after a rejection. One
// that never left is not.
func TestRepeatedQuestion(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		sendOne := func(repeated bool) {
			p.Helper()
			d := p.claimOneRequest()
			details, _, _, err := p.RequestDetails(bg, d)
			ok(p, err)
			if details.Repeated != repeated {
				p.Errorf("repeated = %t, want %t", details.Repeated, repeated)
			}
			ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
		}
		sendOne(false)
		p.clock.advance(49 * time.Hour)
		ok(p, third(p.send(coach, a.ID, actor.Guardian)))
		sendOne(true)
		p.clock.advance(time.Minute)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
		p.clock.advance(49 * time.Hour)
		ok(p, third(p.send(coach, a.ID, actor.Guardian)))
		sendOne(true)

		b := p.add(coach, "Bela Rao", number(3), "")
		ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{p.claimOneRequest()}, message.ReasonRefused, ""))
		p.clock.advance(time.Minute)
		ok(p, third(p.send(coach, b.ID, actor.Guardian)))
		sendOne(false)

		// The mail arrived and the SMS of the same sending failed, so the next SMS repeats it,
		// also if the coach removed the player and added it again.
		byMail, err := p.Add(bg, coach, child("Chetan Rao", ""), motherWithMail(number(4)))
		ok(p, err)
		mails := p.claimMail(message.Request)
		details, _, _, err := p.RequestDetails(bg, mails[0])
		if err != nil || details.Repeated {
			p.Errorf("the first mail: repeated = %t, %v", details.Repeated, err)
		}
		ok(p, p.db.Outbox.DeliverySent(bg, mails))
		first := p.claimOneRequest()
		if details, _, _, err := p.RequestDetails(bg, first); err != nil || details.Repeated {
			p.Errorf("the SMS beside the first mail: repeated = %t, %v", details.Repeated, err)
		}
		ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{first}, message.ReasonRefused, ""))
		p.clock.advance(49 * time.Hour)
		ok(p, third(p.send(coach, byMail.ID, actor.Guardian)))
		sendOne(true)
		ok(p, p.Remove(bg, coach, byMail.ID))
		p.clock.advance(49 * time.Hour)
		p.add(coach, "Chetan Rao", number(4), "")
		sendOne(true)
		p.add(coach, "Dev Rao", number(4), "") // another child
		sendOne(false)
	})
}

// TestRepeatedQuestionAfterRename: an earlier request asked about the child that the player was then.
func TestRepeatedQuestionAfterRename(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		coach := p.coach(1)
		sendOne := func(what string, repeated bool) {
			p.Helper()
			p.clock.advance(49 * time.Hour) // a repeated one is held
			d := p.claimOneRequest()
			if details, _, _, err := p.RequestDetails(bg, d); err != nil || details.Repeated != repeated {
				p.Errorf("%s: repeated = %t, %v; want %t", what, details.Repeated, err, repeated)
			}
			ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
		}
		rename := func(id, name string) {
			p.Helper()
			ok(p, second(p.Edit(bg, coach, id, approval.Patch{Student: approval.StudentPatch{FullName: &name}})))
		}
		a := p.add(coach, "Asha Rao", number(2), "")
		sendOne("Asha", false)
		rename(a.ID, "Bela Rao")
		sendOne("Bela in the place of Asha", false)
		rename(a.ID, "Asha Rao")
		sendOne("Asha again", true)
		rename(a.ID, "Chetan Rao")
		sendOne("Chetan in the place of Asha", false)
		ok(p, p.Remove(bg, coach, a.ID))
		p.add(coach, "Asha Rao", number(2), "")
		sendOne("Asha, whose record was renamed and removed", true)
	})
}

// A party that had approved learns what the coach changed.
func TestPlayerChangedNamesChanges(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		ok(p, p.decide(student, a.ID, approval.Approve))
		born := approval.Date{Year: 2013, Month: time.May, Day: 1}
		_, err := p.Edit(bg, coach, a.ID, approval.Patch{
			Student: approval.StudentPatch{DateOfBirth: &born}, Guardian: &approval.GuardianPatch{Number: ptr(number(5))},
		})
		ok(p, err)
		list, err := p.notices().List(bg, student, false, 0, 5)
		ok(p, err)
		i := slices.IndexFunc(list, func(n message.Notification) bool { return n.Type == message.PlayerChanged })
		if i < 0 || !slices.Equal(list[i].Data.Changes, []event.Change{event.BirthDateChanged, event.GuardianNumberChanged}) ||
			!strings.Contains(list[i].Body, "birth date, the guardian's number") {
			p.Errorf("notifications %+v, want one that names the birth date and the guardian's number", list)
		}
	})
}
