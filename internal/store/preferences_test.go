package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

var night = message.QuietHours{Start: 21 * 60, End: 7*60 + 30}

func TestPreferences(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.wantPreferences(2, message.Preferences{})
		for _, tt := range []struct {
			patch message.PreferencesPatch
			want  message.Preferences
		}{
			{message.PreferencesPatch{}, message.Preferences{}},
			{message.PreferencesPatch{Language: ptr("hi")}, message.Preferences{Language: "hi"}},
			{message.PreferencesPatch{TimeZone: ptr("Asia/Kolkata")}, message.Preferences{Language: "hi", TimeZone: "Asia/Kolkata"}},
			{message.PreferencesPatch{Language: ptr("")}, message.Preferences{TimeZone: "Asia/Kolkata"}},
			{message.PreferencesPatch{Language: ptr("en"), TimeZone: ptr("")}, message.Preferences{Language: "en"}},
			{message.PreferencesPatch{QuietHours: ptr(night)}, message.Preferences{Language: "en", QuietHours: night}},
			{
				message.PreferencesPatch{Channels: map[message.Kind]*[]message.Channel{message.Request: {message.Email}, message.Reminder: {}}},
				message.Preferences{Language: "en", QuietHours: night, Channels: map[message.Kind][]message.Channel{message.Request: {message.Email}, message.Reminder: {}}},
			},
			{
				message.PreferencesPatch{Channels: map[message.Kind]*[]message.Channel{message.Request: nil}, QuietHours: new(message.QuietHours)},
				message.Preferences{Language: "en", Channels: map[message.Kind][]message.Channel{message.Reminder: {}}},
			},
			{message.PreferencesPatch{ClearChannels: true, StoppedCoaches: &[]string{"c2", "c1", "c2"}}, message.Preferences{Language: "en", StoppedCoaches: []string{"c1", "c2"}}},
			{message.PreferencesPatch{StoppedCoaches: &[]string{"c3", "c2"}}, message.Preferences{Language: "en", StoppedCoaches: []string{"c2", "c3"}}},
			{message.PreferencesPatch{StoppedCoaches: &[]string{}}, message.Preferences{Language: "en"}},
		} {
			saved, err := p.db.Outbox.SavePreferences(bg, number(2), tt.patch)
			ok(p, err)
			if diff := cmp.Diff(tt.want, saved, cmpopts.EquateEmpty()); diff != "" {
				p.Errorf("saved (-want +got):\n%s", diff)
			}
			p.wantPreferences(2, tt.want)
		}
		p.wantPreferences(3, message.Preferences{}) // another number
	})
}

// Concurrent patches of different fields are both saved.
func TestConcurrentPreferences(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		for n := range 10 {
			var wait sync.WaitGroup
			for _, patch := range []message.PreferencesPatch{
				{Language: ptr("hi")},
				{TimeZone: ptr("Asia/Kolkata")},
				{Channels: map[message.Kind]*[]message.Channel{message.Request: {message.Email}}},
				{Channels: map[message.Kind]*[]message.Channel{message.Reminder: {message.SMS}}},
			} {
				wait.Go(func() {
					if _, err := p.db.Outbox.SavePreferences(bg, number(n), patch); err != nil {
						p.Error(err)
					}
				})
			}
			wait.Wait()
			p.wantPreferences(n, message.Preferences{
				Language: "hi", TimeZone: "Asia/Kolkata",
				Channels: map[message.Kind][]message.Channel{message.Request: {message.Email}, message.Reminder: {message.SMS}},
			})
		}
	})
}

// wantPreferences fails the test unless the nth number has these preferences.
func (p *fixture) wantPreferences(n int, want message.Preferences) {
	p.Helper()
	got, err := p.db.Outbox.Preferences(bg, number(n))
	ok(p, err)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		p.Errorf("preferences (-want +got):\n%s", diff)
	}
}

// A coach keeps the preferences with a new number. They are deleted for a number that no
// account has.
func TestPreferencesFollowTheNumber(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		english := message.Preferences{Language: "en"}
		s := p.signIn()
		choose := func(n int, language string) {
			_, err := p.db.Outbox.SavePreferences(bg, number(n), message.PreferencesPatch{Language: &language})
			ok(p, err)
		}
		changeNumber := func(from, to int) actor.Actor {
			by := p.pageLogin(s, actor.Coach, number(from), auth.PageLifetime, 0).Session.Actor()
			p.clock.advance(time.Minute)
			for _, n := range []int{from, to} {
				_, err := s.RequestOTP(bg, auth.OTPRequest{Number: number(n), Role: actor.Coach, Network: network})
				ok(p, err)
			}
			by, _, err := s.ChangeNumber(bg, by, "", testCode, number(to), testCode)
			ok(p, err)
			p.clock.advance(time.Minute)
			return by
		}
		choose(1, "hi")
		_, err := p.db.Outbox.SavePreferences(bg, number(1), message.PreferencesPatch{QuietHours: &night, StoppedCoaches: &[]string{"c1"}})
		ok(p, err)
		by := changeNumber(1, 2)
		p.wantPreferences(1, message.Preferences{})
		p.wantPreferences(2, message.Preferences{Language: "hi", QuietHours: night, StoppedCoaches: []string{"c1"}})

		// The number 3 is a guardian's: its preferences stay, and it keeps them afterwards.
		choose(3, "en")
		p.add(p.coach(9), "Asha Rao", number(3), "")
		reply := message.Reply{From: number(3)}
		ok(p, second(p.db.Outbox.StopCoachByReply(bg, reply, "c1")))
		by = changeNumber(2, 3)
		english.StoppedCoaches = []string{"c1"}
		p.wantPreferences(3, english)
		// The number 2 stopped c1 on the page, which START does not end.
		if coaches, err := p.db.Outbox.AllowCoachesByReply(bg, reply, ""); err != nil || coaches != 0 {
			p.Errorf("START allowed %d coaches, %v; want none", coaches, err)
		}
		p.wantPreferences(2, message.Preferences{})
		_, err = s.RequestOTP(bg, auth.OTPRequest{Number: by.Number, Role: actor.Coach, Network: network})
		ok(p, err)
		ok(p, s.Close(bg, by, "", testCode))
		p.wantPreferences(3, english)

		choose(4, "hi")
		by = p.pageLogin(s, actor.Coach, number(4), auth.PageLifetime, 0).Session.Actor()
		p.clock.advance(time.Minute)
		_, err = s.RequestOTP(bg, auth.OTPRequest{Number: by.Number, Role: actor.Coach, Network: network})
		ok(p, err)
		ok(p, s.Close(bg, by, "", testCode))
		p.wantPreferences(4, message.Preferences{})
	})
}

// A coach chooses the language of a number that has none.
func TestLanguageChosenByCoach(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		english, hindi := message.Preferences{Language: "en"}, message.Preferences{Language: "hi"}
		coach, other := p.coach(1), p.coach(9)
		student, guardian := child("Asha Rao", number(3)), mother(number(2))
		student.Language, guardian.Language = "en", "hi"
		a, err := p.Add(bg, coach, student, guardian)
		ok(p, err)
		saved, err := p.Player(bg, coach, a.ID)
		ok(p, err)
		if saved.Party(actor.Student).Language != "en" || saved.Guardian().Language != "hi" {
			p.Errorf("saved %q and %q, want en and hi", saved.Party(actor.Student).Language, saved.Guardian().Language)
		}
		p.wantPreferences(3, english)
		p.wantPreferences(2, hindi)

		// Another coach changes nothing for a number that has a language.
		guardian.Language = "en"
		_, err = p.Add(bg, other, child("Asha Rao", ""), guardian)
		ok(p, err)
		p.wantPreferences(2, hindi)

		// The guardian clears the language. Other changes of the player do not choose it again,
		// another language does.
		_, err = p.db.Outbox.SavePreferences(bg, number(2), message.PreferencesPatch{Language: ptr("")})
		ok(p, err)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{Medical: ptr("Asthma")}})
		ok(p, err)
		p.wantPreferences(2, message.Preferences{})
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Language: ptr("en")}})
		ok(p, err)
		p.wantPreferences(2, english)
		saved, err = p.Player(bg, coach, a.ID)
		ok(p, err)
		if saved.Party(actor.Guardian).Consent.State != approval.Approved {
			p.Error("a language took the consent back")
		}

		// A corrected number gets the language that was chosen for the party.
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(4))}})
		ok(p, err)
		p.wantPreferences(4, english)

		// Guardian and student share a number: the guardian's language counts.
		shared := child("Bela Rao", number(5))
		guardian.Number, shared.Language, guardian.Language = number(5), "en", "hi"
		_, err = p.Add(bg, coach, shared, guardian)
		ok(p, err)
		p.wantPreferences(5, hindi)
	})
}

// The pending list says that a party stopped the coach, and the worker drops the message. A
// message in quiet hours waits without ending its lifetime.
func TestStoppedCoach(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, other := p.coach(1), p.coach(9)
		p.add(coach, "Asha Rao", number(2), "")
		p.add(other, "Asha Rao", number(2), "")
		ok(p, p.db.Outbox.StopCoach(bg, number(2), coach.AccountID))
		ok(p, p.db.Outbox.StopCoach(bg, number(2), coach.AccountID)) // may be repeated
		for by, want := range map[actor.Actor]string{coach: "stopped", other: ""} {
			if got := p.blockedBy(by); got != want {
				p.Errorf("blocked by %q, want %q", got, want)
			}
		}
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), p.clock.Now().Add(time.Minute), 10)
		if err != nil || len(claimed) != 2 {
			p.Fatalf("claimed %v, %v; want two questions", claimed, err)
		}
		for _, d := range claimed {
			details, to, open, err := p.RequestDetails(bg, d)
			if err != nil || !open || details.StudentName != "Asha Rao" || to.Number != number(2) || to.Stopped != (d.CoachID == coach.AccountID) {
				p.Fatalf("%+v to %+v, open %t, %v", details, to, open, err)
			}
			if to.Stopped {
				ok(p, p.db.Outbox.DeliveryDropped(bg, []message.Delivery{d}, message.ReasonStopped))
				continue
			}
			until := p.clock.Now().Add(9 * time.Hour)
			ok(p, p.db.Outbox.PostponeDelivery(bg, []message.Delivery{d}, until, message.ReasonQuietHours))
			waiting := p.count(`SELECT count(*) FROM deliveries WHERE id = $1 AND state = 'queued' AND reason = 'quiet_hours' AND attempts = 0 AND lease IS NULL
				AND due_at = $2 AND gives_up_at > $2`, d.ID, until.UnixMicro())
			if waiting != 1 {
				p.Error("the message in quiet hours does not wait for their end")
			}
		}
		if failed, err := p.db.Outbox.FailedDeliveries(bg, auditor, message.FailedDeliverySearch{}, 10); err != nil || len(failed) != 0 {
			p.Errorf("operators see %v, %v; want nothing to do", failed, err)
		}
		ok(p, p.db.Outbox.AllowCoach(bg, number(2), coach.AccountID))
		if got := p.blockedBy(coach); got != "" {
			p.Errorf("blocked by %q after the stop ended", got)
		}

		// START ends what replies of the number stopped, and not what it stopped on the page.
		ok(p, p.db.Outbox.StopCoach(bg, number(2), coach.AccountID))
		for _, n := range []int{2, 3} {
			for _, stopped := range []actor.Actor{coach, other} {
				ok(p, second(p.db.Outbox.StopCoachByReply(bg, message.Reply{From: number(n)}, stopped.AccountID)))
			}
		}
		for _, tt := range []struct {
			newest        string
			want          int
			blocks, other string
		}{
			{"", 1, "stopped", ""},
			{other.AccountID, 0, "stopped", ""},
			{coach.AccountID, 1, "", ""}, // the message to which the person replied is of this coach
			{coach.AccountID, 0, "", ""},
		} {
			if got, err := p.db.Outbox.AllowCoachesByReply(bg, message.Reply{From: number(2)}, tt.newest); got != tt.want || err != nil {
				p.Errorf("allowed %d coaches, %v; want %d", got, err, tt.want)
			}
			if a, b := p.blockedBy(coach), p.blockedBy(other); a != tt.blocks || b != tt.other {
				p.Errorf("blocked by %q and %q, want %q and %q", a, b, tt.blocks, tt.other)
			}
		}
		if n := p.count(`SELECT count(*) FROM stopped_coaches`); n != 2 {
			p.Errorf("%d stops are left, want those of the other number", n)
		}
	})
}

// blockedBy returns why the only pending party of a coach gets no message.
func (p *fixture) blockedBy(by actor.Actor) string {
	p.Helper()
	items, err := p.Pending(bg, by, approval.Page{Limit: 5})
	ok(p, err)
	for _, item := range items {
		if item.HasNumber {
			return item.BlockedBy()
		}
	}
	p.Fatal("no pending party with a number")
	return ""
}
