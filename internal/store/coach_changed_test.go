package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/document"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/store/storetest"
)

// rename gives a coach another name.
func (p *fixture) rename(by actor.Actor, name string) {
	p.Helper()
	ok(p, p.coaches().UpdateProfile(bg, by.AccountID, func(v coach.Profile) (coach.Profile, error) { v.Name = name; return v, nil }))
}

// TestAuditAfterRename: the record of another name of the coach contradicts nothing.
func TestAuditAfterRename(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		a := p.add(by, "Asha Rao", number(2), number(3))
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		p.rename(by, "Delhi Public School")
		log := p.consentLog()
		ok(p, log.Work(bg))
		if r, err := log.Audit(bg); err != nil || len(r.Findings) > 0 || r.Records != 4 {
			p.Errorf("%+v, %v; want 4 records and no finding", r, err)
		}
	})
}

// TestCoachRenamed: another name gives each open request a new version, and each approved party a record and a
// notification in the app. A party that has not approved has neither. The same name again changes nothing.
func TestCoachRenamed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c, other := p.coach(1), p.coach(9)
		asha, bela := p.add(c, "Asha Rao", number(2), number(3)), p.add(c, "Bela Rao", number(4), "")
		elsewhere := p.add(other, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, asha.ID, approval.Approve))
		for range 2 {
			p.rename(c, "Delhi Public School")
		}
		versions := func(player string) int {
			return p.count(`SELECT coalesce(sum(version), 0) FROM requests WHERE player_id = $1`, player)
		}
		if got := []int{versions(asha.ID), versions(bela.ID), versions(elsewhere.ID)}; !slices.Equal(got, []int{1 + 2, 2, 1}) {
			p.Errorf("sums of the versions of requests: %d, want 1 for the answered and 2 for the open one, 2, 1", got)
		}
		if got := p.tray(guardian.AccountID); got[len(got)-1] != "coach_renamed" || len(got) != 4 {
			p.Errorf("guardian who approved: %q", got)
		}
		for _, party := range []actor.Actor{p.as(actor.Student, number(3)), p.as(actor.Guardian, number(4))} {
			if got := p.tray(party.AccountID); len(got) != 1 {
				p.Errorf("party that has not approved: %q", got)
			}
		}
		if got := p.count(`SELECT count(*) FROM record_keys k JOIN consent_records r ON r.id = k.record_id
			WHERE k.player_id = $1 AND k.party = 'guardian' AND k.version = (SELECT version FROM players WHERE id = $1)`, asha.ID); got != 1 {
			p.Errorf("%d records with the newest version of the player, want 1", got)
		}
		if got := p.count(`SELECT count(*) FROM record_keys WHERE player_id = $1`, bela.ID); got != 2 {
			p.Errorf("%d records of a player without an approval, want those of the two parties from its start", got)
		}
	})
}

// TestCoachRenamedWithManyPlayers: the change of a coach with many players is one transaction, in which each of those
// that have approved is told. With 1,000 players, of whom half have, it takes less than a second.
func TestCoachRenamedWithManyPlayers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		players := storetest.Rounds(100, 1000)
		for i := range players {
			a := p.add(c, fmt.Sprint("Child ", i), number(1000+i), "")
			if i%2 == 0 {
				ok(p, p.decide(p.as(actor.Guardian, number(1000+i)), a.ID, approval.Approve))
			}
		}
		began := time.Now()
		p.rename(c, "Delhi Public School")
		p.Logf("renamed in %s", time.Since(began))
		if got := p.count(`SELECT count(*) FROM notifications WHERE type = 'coach_renamed'`); got != players/2 {
			p.Errorf("%d notifications", got)
		}
		if got := p.count(`SELECT count(*) FROM requests WHERE version = 2`); got != players/2 {
			p.Errorf("%d requests with a new version", got)
		}
	})
}

// TestAnswerToFormerName: a yes counts only for the name that the party saw, and its record has that name. A no by a page, a
// chat or a call counts whatever the name, but names no coach if the party saw another one. A revocation and "this isn't me"
// need no version.
func TestAnswerToFormerName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		n := 10
		ask := func() (actor.Actor, *approval.Player) {
			n++
			a := p.add(c, fmt.Sprint("Child ", n), number(n), "")
			return p.as(actor.Guardian, number(n)), a
		}
		answer := func(by actor.Actor, id string, what approval.Trigger, version int64) (*approval.Record, error) {
			_, history, err := p.Decide(bg, by, id, approval.Decision{Action: what, Wording: approval.Wording{Version: version}})
			if err != nil {
				return nil, err
			}
			_, read, err := p.Status(bg, by, id)
			ok(p, err)
			last := read[len(read)-1]
			if w := history[len(history)-1].Wording; w != last.Wording && by.Via != actor.ViaAPI {
				p.Errorf("%s: shown %+v, but the record says %+v", what, w, last.Wording)
			}
			return &last, nil
		}
		for _, via := range []actor.Via{actor.ViaAPI, actor.ViaPage, actor.ViaChat, actor.ViaVoice} {
			before := fmt.Sprint("Meera ", via)
			p.rename(c, before)
			by, a := ask()
			by.Via = via
			p.rename(c, "Delhi "+string(via))
			for _, version := range []int64{0, 1, 3} {
				_, err := answer(by, a.ID, approval.Approve, version)
				if f := p.refused(err, "request_superseded"); f.Extra["request_id"] != a.Party(actor.Guardian).Request.ID || f.Extra["version"] != int64(2) {
					p.Errorf("%s, version %d: %+v", via, version, f.Extra)
				}
			}
			got, err := answer(by, a.ID, approval.Approve, 2)
			if ok(p, err); got.Wording.CoachName != "Delhi "+string(via) || got.Wording.StudentName != a.Student.FullName || got.Wording.Version != 2 {
				p.Errorf("%s: shown %+v", via, got.Wording)
			}
			p.rename(c, "Other "+string(via))
			_, err = answer(by, a.ID, approval.Approve, 1) // the same decision again, by a late retry
			ok(p, err)
			got, err = answer(by, a.ID, approval.Revoke, 1)
			if ok(p, err); got.Action != approval.Revoke || got.Wording.CoachName != "Other "+string(via) {
				p.Errorf("%s: revoked %+v", via, got)
			}

			by, a = ask() // a no
			by.Via = via
			p.rename(c, "Third "+string(via))
			got, err = answer(by, a.ID, approval.Reject, 1)
			if via == actor.ViaAPI {
				p.refused(err, "request_superseded")
			} else if ok(p, err); got.Wording.CoachName != "" || got.Wording.StudentName != "" {
				p.Errorf("%s: a no to the former name shows %+v", via, got.Wording)
			}

			by, a = ask() // not me
			by.Via = via
			p.rename(c, "Fourth "+string(via))
			_, err = p.Dispute(bg, by, a.Party(actor.Guardian).Request.ID, approval.Wording{Version: 1})
			ok(p, err)
			p.rename(c, "Fifth "+string(via)) // and it is open again, with another name
			ok(p, p.Lift(bg, by, a.Party(actor.Guardian).Request.ID))
			_, err = answer(by, a.ID, approval.Approve, 2)
			if f := p.refused(err, "request_superseded"); f.Extra["version"] != int64(3) {
				p.Errorf("%s: reopened %+v", via, f.Extra)
			}

			by, a = ask() // a reminder shows the new name: an answer without a version is one to that
			by.Via = via
			p.rename(c, "Sixth "+string(via))
			_, _, err = p.Remind(bg, c, a.ID, actor.Guardian)
			ok(p, err)
			_, err = answer(by, a.ID, approval.Approve, 1)
			p.refused(err, "request_superseded")
			_, err = answer(by, a.ID, approval.Approve, 0)
			ok(p, err)
		}
	})
}

// TestConcurrentRenameAndYes: of guardians who press yes while the coach changes the name, each yes that stands has a record
// with the name that its version showed.
func TestConcurrentRenameAndYes(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		const guardians = 30
		c := p.coach(1)
		yes, late := 0, 0
		for round := range storetest.Rounds(3, 30) {
			p.rename(c, fmt.Sprint("Round ", round))
			ids := make([]string, guardians)
			by := make([]actor.Actor, guardians)
			for i := range guardians {
				ids[i] = p.add(c, fmt.Sprintf("Child %d %d", round, i), number(1000+i), "").ID
				by[i] = p.as(actor.Guardian, number(1000+i))
				by[i].Via = actor.ViaPage
			}
			saw := make([]string, guardians)
			errs := concurrently(guardians+2, func(i int) error {
				if i >= guardians {
					p.rename(c, fmt.Sprintf("Round %d, name %d", round, i))
					return nil
				}
				seen, err := p.Player(bg, by[i], ids[i])
				if err != nil {
					return err
				}
				saw[i] = seen.CoachName
				_, _, err = p.Decide(bg, by[i], ids[i], approval.Decision{
					Action: approval.Approve, RequestID: seen.Party(actor.Guardian).Request.ID, Wording: approval.Wording{Version: seen.Party(actor.Guardian).Request.Version},
				})
				return err
			})
			for i := range guardians {
				_, history, err := p.Status(bg, by[i], ids[i])
				ok(p, err)
				switch code := fault.CodeOf(errs[i]); {
				case errs[i] == nil && (len(history) != 1 || history[0].Wording.CoachName != saw[i]):
					p.Errorf("round %d: the guardian saw %q, history %+v", round, saw[i], history)
				case errs[i] == nil:
					yes++
				case code != "request_superseded" || len(history) != 0:
					p.Errorf("round %d: %v, history %+v", round, errs[i], history)
				default:
					late++
				}
			}
		}
		p.Logf("%d yes, %d came too late", yes, late)
	})
}

// TestCallAfterRename: a yes by a key counts only for the coach whom the call named. After a change the call asks again.
func TestCallAfterRename(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c := p.coach(1)
		a, r := p.lateRequest(c, "Asha Rao", number(2))
		id := p.call(c, r.ID)
		asked, sure := p.pressKeys(id, number(2)), p.pressKeys(id, number(2), "1")
		p.rename(c, "Delhi Public School")
		for _, old := range []message.CallPrompt{asked, sure} {
			got, err := p.AnswerCall(bg, id, number(2), old.State, "1")
			if ok(p, err); !strings.Contains(strings.Join(got.Lines, " "), "The question has changed") || !strings.Contains(strings.Join(got.Lines, " "), "Delhi Public School") || got.Keys == "" {
				p.Errorf("the call says %+v", got)
			}
		}
		if got := p.guardianState(c, a.ID); got != "pending" {
			p.Errorf("after keys to the former name: %s", got)
		}
		p.pressKeys(id, number(2), "1", "1")
		_, history, err := p.Status(bg, c, a.ID)
		if ok(p, err); len(history) != 1 || history[0].Wording.CoachName != "Delhi Public School" {
			p.Errorf("history %+v", history)
		}
	}, calling)
}

// TestRequestVersion: the version grows with everything that the question shows, also that of a former yes whose proof ended. A yes that
// stands keeps its version.
func TestRequestVersion(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, c := p.adultProofs(), p.coach(1)
		a := p.add(c, "Asha Rao", number(2), "")
		ended, _, shown := p.endedYes(s, c, "Bela Rao", number(3))
		stands, guardian, _ := p.endedYes(s, c, "Chitra Rao", number(4))
		ok(p, p.decide(guardian, stands.ID, approval.Approve))
		team := p.addBatch(c)
		batches := &batch.Service{DB: p.db, Consent: p.Access(), CheckFeature: anyTier}
		versions := func() (of [3]int64) {
			for i, id := range []string{a.ID, ended.ID, stands.ID} {
				of[i] = int64(p.count(`SELECT version FROM requests WHERE player_id = $1`, id))
			}
			return of
		}
		want := [3]int64{1, shown, shown}
		changed := func(what string, change func() error, by int64) {
			p.Helper()
			ok(p, change())
			want[0], want[1] = want[0]+by, want[1]+by
			if got := versions(); got != want {
				p.Fatalf("%s: versions %d, want %d", what, got, want)
			}
		}
		each := func(change func(id string) error) func() error {
			return func() error { return errors.Join(change(a.ID), change(ended.ID), change(stands.ID)) }
		}
		join := each(func(id string) error { return batches.Join(bg, c, team, id) })
		leave := each(func(id string) error { return batches.Leave(bg, c, team, id) })
		edit := func(name string) func() error {
			return func() error {
				_, err := batches.Edit(bg, c, team, batch.Patch{Name: &name})
				return err
			}
		}
		changed("join", join, 1)
		changed("join again", join, 0)
		changed("rename the batch", edit("U14 Morning"), 1)
		changed("the same name", edit("U14 Morning"), 0)
		changed("leave", leave, 1)
		changed("leave again", leave, 0)
		changed("join", join, 1)
		changed("archive", func() error { return batches.Archive(bg, c, team) }, 1)
		keep := func(text string) func() error {
			return func() error {
				_, err := privacy.Keep(bg, p.db, []privacy.Notice{{Language: "en", Text: text, Hash: text}})
				return err
			}
		}
		changed("the first notice", keep("one"), 0)
		changed("another notice", keep("two"), 1)
		changed("the same notice", keep("two"), 0)
		changed("a picture", func() error {
			_, err := p.newDocuments(&fakeFiles{sizes: map[string]int64{}}).Add(bg, c, document.Upload{Kind: coach.ProfilePicture, FileName: "me.jpg", File: newFakeFile(31)})
			return err
		}, 1)
		changed("another name", func() error { p.rename(c, "Delhi Public School"); return nil }, 1)
		changed("app services", func() error { p.chooseTier(c, "bare", ""); return nil }, 1)
	}, proofRequired, tierServices)
}
