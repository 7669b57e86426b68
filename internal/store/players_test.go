package store_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

func TestAddPlayer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		student := child("Asha Rao", number(3))
		student.Medical = "Asthma"
		guardian := approval.Person{Name: "Meera", Relationship: "mother", Number: number(2), Email: "meera@example.org"}
		added, err := p.Add(bg, coach, student, &guardian)
		ok(p, err)
		added.CoachNumber, added.Student.Medical = "", "" // known while it is written
		for _, by := range []actor.Actor{coach, p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))} {
			got, err := p.Player(bg, by, added.ID)
			ok(p, err)
			if diff := cmp.Diff(added, got); diff != "" {
				p.Errorf("as %s, added and read differ:\n%s", by.Role, diff)
			}
		}
		if got := p.tray(p.as(actor.Guardian, number(2)).AccountID); !slices.Equal(got, []string{"guardian_request"}) {
			p.Errorf("guardian's tray: %v", got)
		}
		if got := p.tray(p.as(actor.Student, number(3)).AccountID); !slices.Equal(got, []string{"student_request"}) {
			p.Errorf("student's tray: %v", got)
		}
		for side, want := range map[*approval.Party][]string{
			added.Party(actor.Guardian): {"in_app delivered", "sms queued", "email queued"},
			added.Party(actor.Student):  {"in_app delivered", "sms queued"},
		} {
			if got := p.deliveries(coach, side.Request.ID); !slices.Equal(got, want) {
				p.Errorf("deliveries = %q, want %q", got, want)
			}
		}
		if p.queued.Load() == 0 || len(p.notified) != 2 {
			p.Errorf("woken %d times, notified %v", p.queued.Load(), p.notified)
		}
		if due := p.count(`SELECT due_at FROM digests WHERE coach_id = $1`, coach.AccountID); int64(due) <= p.clock.Now().Add(3*day).UnixMicro() {
			p.Errorf("digest due at %d", due)
		}
	})
}

func TestAddPlayerTwice(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, other := p.coach(1), p.coach(9)
		first := p.add(coach, "Zoë  Rao", number(2), "")
		for _, same := range []string{"zoë rao", " ZOË RAO ", "Zoe\u0308 Rao", "Zoë\u200b Rao", "\u2060Zo\u00adë\u200d Rao\u202c"} {
			_, err := p.Add(bg, coach, child(same, ""), mother(number(4)))
			if f := p.refused(err, "player_exists"); f.Extra["player_id"] != first.ID {
				p.Errorf("%q: extra = %v", same, f.Extra)
			}
		}
		if n := p.count(`SELECT count(*) FROM accounts WHERE mobile_number = $1`, string(number(4))); n != 0 {
			p.Error("a refused player left an account")
		}
		p.add(coach, "Zora Rao", number(2), "")
		p.add(other, "Zoë Rao", number(2), "")
		ok(p, p.Remove(bg, coach, first.ID))
		p.add(coach, "Zoë Rao", number(2), "")
		adult, err := p.Add(bg, coach, adult("Zoë Rao", ""), nil)
		ok(p, err)
		if adult.Guardian() != nil || adult.Party(actor.Student).Request != nil {
			p.Errorf("an adult alone: %+v", adult)
		}
	})
}

func TestRename(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		b := p.add(coach, "Bela Rao", number(2), "")
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		ok(p, p.decide(student, a.ID, approval.Reject))
		old := a.Party(actor.Guardian).Request.ID

		_, err := p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("bela  RAO")}})
		if f := p.refused(err, "player_exists"); f.Extra["player_id"] != b.ID {
			p.Errorf("extra = %v", f.Extra)
		}
		same, err := p.Player(bg, coach, a.ID)
		ok(p, err)
		if same.Student.FullName != "Asha Rao" || same.Party(actor.Guardian).Consent.State != approval.Approved {
			p.Errorf("a refused rename changed %+v", same)
		}

		p.clock.advance(time.Hour)
		renamed, err := p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha K. Rao")}})
		ok(p, err)
		got, err := p.Player(bg, coach, a.ID)
		ok(p, err)
		renamed.CoachNumber, renamed.Disputes = "", nil
		if diff := cmp.Diff(renamed, got); diff != "" {
			p.Errorf("saved and read differ:\n%s", diff)
		}
		for _, party := range approval.Parties {
			side := got.Party(party)
			if side.Consent.State != approval.Pending || !side.Consent.PendingSince.Equal(p.clock.Now()) || side.OpenRequest() == nil {
				p.Errorf("%s after a rename: %+v", party, side)
			}
		}
		_, _, err = p.Decide(bg, guardian, a.ID, approval.Decision{Action: approval.Approve, RequestID: old})
		p.refused(err, "request_superseded")
		want := []string{"guardian_request", "guardian_request", "guardian_approval_confirmed", "player_changed", "guardian_request"}
		if got := p.tray(guardian.AccountID); !slices.Equal(got, want) {
			p.Errorf("guardian's tray = %q, want %q", got, want)
		}
		if n := p.count(`SELECT count(*) FROM approval_history WHERE player_id = $1`, a.ID); n != 2 {
			p.Errorf("%d records, want both kept and none added", n)
		}
	})
}

// Consent belongs to the person who gave it, not to the number that follows.
func TestContactChange(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		b := p.add(coach, "Bela Rao", number(2), "")
		old := p.as(actor.Guardian, number(2))
		ok(p, p.decide(old, a.ID, approval.Approve))

		changed, err := p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(5))}})
		ok(p, err)
		newGuardian := p.as(actor.Guardian, number(5))
		if s := changed.Party(actor.Guardian); s.AccountID != newGuardian.AccountID || s.Consent.State != approval.Pending || s.OpenRequest() == nil {
			p.Errorf("after the change: %+v", s)
		}
		for name, err := range map[string]error{
			"player":  second(p.Player(bg, old, a.ID)),
			"request": second(p.Request(bg, old, a.Party(actor.Guardian).Request.ID)),
			"decide":  p.decide(old, a.ID, approval.Revoke),
			"status":  third(p.Status(bg, old, a.ID)),
		} {
			if fault.KindOf(err) != fault.NotFound {
				p.Errorf("old guardian, %s: %v", name, err)
			}
		}
		links, err := p.Links(bg, old, false, approval.Page{Limit: 10})
		ok(p, err)
		if len(links) != 1 || links[0].ID != b.ID {
			p.Errorf("old guardian's links: %v", links)
		}
		// What is left is about the other player, and that this link has ended.
		if got := p.tray(old.AccountID); !slices.Equal(got, []string{"guardian_request", "player_removed"}) {
			p.Errorf("old guardian's tray: %q", got)
		}
		if n := p.count(`SELECT count(*) FROM notifications WHERE account_id = $1 AND player_id = $2`, old.AccountID, a.ID); n != 0 {
			p.Errorf("%d notifications still name the player", n)
		}
		if got := p.tray(newGuardian.AccountID); !slices.Equal(got, []string{"guardian_request"}) {
			p.Errorf("new guardian's tray: %q", got)
		}
		r, err := p.Request(bg, newGuardian, changed.Party(actor.Guardian).Request.ID)
		ok(p, err)
		if r.PartyID != newGuardian.AccountID {
			p.Errorf("request asks %s", r.PartyID)
		}
		ok(p, p.decide(newGuardian, a.ID, approval.Reject))
		history, err := p.history(a.ID)
		ok(p, err)
		if len(history) != 2 || history[0].ApproverID != old.AccountID || history[1].ApproverID != newGuardian.AccountID {
			p.Errorf("history = %+v", history)
		}
	})
}

func TestRemovePlayer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		ok(p, p.Remove(bg, coach, a.ID))
		for _, by := range []actor.Actor{coach, guardian, student} {
			_, err := p.Player(bg, by, a.ID)
			p.refused(err, "not_found")
			_, err = p.OwnRequest(bg, by, a.Party(actor.Student).Request.ID)
			p.refused(err, "not_found")
		}
		p.refused(p.Remove(bg, coach, a.ID), "not_found")
		if got := p.tray(guardian.AccountID); !slices.Equal(got, []string{"player_removed"}) {
			p.Errorf("guardian's tray: %q", got)
		}
		if got := p.tray(student.AccountID); len(got) != 0 {
			p.Errorf("student's tray: %q", got)
		}
		if n := p.count(`SELECT count(*) FROM requests WHERE state = 'pending'`); n != 0 {
			p.Errorf("%d requests are open still", n)
		}
		history, err := p.history(a.ID)
		ok(p, err)
		if len(history) != 1 {
			p.Errorf("history = %v", history)
		}
		roles, err := p.accounts().Roles(bg, number(2))
		ok(p, err)
		if len(roles) != 0 {
			p.Errorf("roles = %v", roles)
		}
	})
}

func TestMedicalIsSealed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		student := child("Asha Rao", "")
		student.Medical = "Severe peanut allergy"
		a, err := p.Add(bg, coach, student, mother(number(2)))
		ok(p, err)
		sealed := func() (b []byte) {
			ok(p, p.db.QueryRow(bg, `SELECT medical FROM players WHERE id = $1`, a.ID).Scan(&b))
			return b
		}
		first := sealed()
		if len(first) == 0 || bytes.Contains(first, []byte("peanut")) {
			p.Errorf("at rest: %q", first)
		}
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		if !bytes.Equal(first, sealed()) {
			p.Error("a decision changed the encrypted medical information")
		}
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{Medical: ptr("None")}})
		ok(p, err)
		got, err := p.Medical(bg, coach, a.ID, approval.ReadToShow)
		ok(p, err)
		if got.Student.Medical != "None" || bytes.Equal(first, sealed()) {
			p.Errorf("after the edit: %q", got.Student.Medical)
		}
		second := sealed()
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{Medical: ptr("None"), Language: ptr("hi")}})
		ok(p, err)
		if !bytes.Equal(second, sealed()) {
			p.Error("an edit with the same text changed the encrypted medical information")
		}
		b := p.add(coach, "Bela Rao", number(2), "")
		ok(p, run(p.db, `UPDATE players SET medical = $2 WHERE id = $1`, b.ID, first))
		readings := p.count(`SELECT count(*) FROM medical_readings`)
		if _, err := p.Medical(bg, coach, b.ID, approval.ReadToShow); err == nil || fault.KindOf(err) != fault.Internal {
			p.Errorf("another player's seal: %v", err)
		}
		if n := p.count(`SELECT count(*) FROM medical_readings`); readings != 1 || n != 1 {
			p.Errorf("readings: got %d, and %d after one that failed, want 1", readings, n)
		}
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{Medical: ptr("")}})
		ok(p, err)
		if sealed() != nil {
			p.Error("cleared, but kept")
		}
		p.DB = store.New(p.sql, store.Options{})
		if _, err := p.Add(bg, coach, student, mother(number(2))); err == nil || fault.KindOf(err) != fault.Internal {
			p.Errorf("without a vault: %v", err)
		}
	})
}

func TestAdultsAndTheirGuardians(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a, err := p.Add(bg, coach, adult("Asha Rao", number(3)), nil)
		ok(p, err)
		_, _, err = p.Send(bg, coach, a.ID, actor.Guardian, approval.Patch{}, nil)
		p.refused(err, "no_contact_number")
		r, created, err := p.Send(bg, coach, a.ID, actor.Guardian, approval.Patch{Guardian: &approval.GuardianPatch{
			Name: ptr("Meera"), Relationship: ptr("mother"), Number: ptr(number(2)),
		}}, []message.Channel{"in_app"})
		ok(p, err)
		if !created || len(r.Deliveries) != 1 {
			p.Errorf("request = %+v, created %t", r, created)
		}
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		gone, err := p.Edit(bg, coach, a.ID, approval.Patch{RemoveGuardian: true})
		ok(p, err)
		if gone.Guardian() != nil || gone.Party(actor.Guardian).AccountID != "" || gone.Party(actor.Guardian).Consent.State != approval.Pending {
			p.Errorf("without a guardian: %+v", gone)
		}
		p.refused(p.decide(guardian, a.ID, approval.Revoke), "not_found")
		if got := p.tray(guardian.AccountID); !slices.Equal(got, []string{"player_removed"}) {
			p.Errorf("guardian's tray: %q", got)
		}
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{DateOfBirth: &approval.Date{Year: 2014, Month: 1, Day: 1}}})
		p.refused(err, "validation_failed")

		student := p.as(actor.Student, number(3))
		p.refused(p.CheckAppAccess(bg, student), "approval_pending")
		ok(p, p.decide(student, a.ID, approval.Approve))
		ok(p, p.CheckAppAccess(bg, student))
	})
}

// A decision about a missing player is not_found.
func TestDecideMissingPlayer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.add(p.coach(1), "Asha Rao", number(2), "")
		err := p.decide(p.as(actor.Guardian, number(2)), p.db.NewID(), approval.Approve)
		if fault.KindOf(err) != fault.NotFound {
			p.Errorf("err = %v, want not_found", err)
		}
	})
}
