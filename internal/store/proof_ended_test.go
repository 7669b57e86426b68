package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/batch"
	"github.com/touchline/touchline/internal/identity"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store/storetest"
)

// endedYes adds a player whose guardian said yes and took the proof back. Since then the guardian has proved it again, and can answer
// without a new question. shown is the version that a page shows now.
func (p *fixture) endedYes(s *identity.Service, by actor.Actor, name string, n phone.Number) (a *approval.Player, guardian actor.Actor, shown int64) {
	p.Helper()
	a = p.add(by, name, n, "")
	guardian = p.as(actor.Guardian, n)
	p.prove(s, guardian, a.ID, "adult")
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	ok(p, s.Withdraw(bg, guardian))
	p.prove(s, guardian, a.ID, "adult")
	return a, guardian, p.shown(guardian, a.ID)
}

// shown returns the version of the newest request to a guardian.
func (p *fixture) shown(guardian actor.Actor, id string) int64 {
	p.Helper()
	got, err := p.Player(bg, guardian, id)
	ok(p, err)
	return got.Party(actor.Guardian).Request.Version
}

// TestAnswerAfterProofEnded: a yes to the question of a former yes counts only for what the guardian was shown since the proof ended, and
// its record has the name and the request. A no by a page, a chat or a call counts whatever was shown.
func TestAnswerAfterProofEnded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, c, n := p.adultProofs(), p.coach(1), 10
		for _, via := range []actor.Via{actor.ViaAPI, actor.ViaPage, actor.ViaChat, actor.ViaVoice} {
			ended := func() (*approval.Player, actor.Actor, int64) {
				n++
				a, by, shown := p.endedYes(s, c, fmt.Sprint("Child ", n), number(n))
				by.Via = via
				return a, by, shown
			}
			answer := func(by actor.Actor, a *approval.Player, what approval.Trigger, request string, version int64) error {
				_, _, err := p.Decide(bg, by, a.ID, approval.Decision{Action: what, RequestID: request, Wording: approval.Wording{Version: version}})
				return err
			}
			newest := func(by actor.Actor, a *approval.Player) approval.Record {
				p.Helper()
				_, history, err := p.Status(bg, by, a.ID)
				ok(p, err)
				return history[len(history)-1]
			}

			a, by, shown := ended()
			request := a.Party(actor.Guardian).Request.ID
			p.refused(answer(by, a, approval.Approve, request, 1), "request_superseded") // a page from before the yes
			after := fmt.Sprint("Quickloan ", via)
			p.rename(c, after)
			for _, version := range []int64{0, 1, shown, shown + 2} {
				for _, id := range []string{"", request} {
					f := p.refused(answer(by, a, approval.Approve, id, version), "request_superseded")
					if f.Extra["request_id"] != request || f.Extra["version"] != shown+1 {
						p.Errorf("%s, version %d: %+v", via, version, f.Extra)
					}
				}
			}
			ok(p, answer(by, a, approval.Approve, request, shown+1))
			if got := newest(by, a); got.Wording.CoachName != after || got.Wording.Version != shown+1 || got.RequestID != request {
				p.Errorf("%s: the record has %+v", via, got)
			}
			ok(p, answer(by, a, approval.Approve, request, shown)) // the same decision again, by a late retry
			p.checkInvariants(c, a.ID)

			a, by, _ = ended()
			ok(p, answer(by, a, approval.Approve, "", 0)) // nothing has changed
			if got := newest(by, a); got.Wording.CoachName != after || got.RequestID == "" {
				p.Errorf("%s: the record has %+v", via, got)
			}

			a, by, shown = ended()
			p.rename(c, "Another "+string(via))
			err := answer(by, a, approval.Reject, "", shown)
			if via == actor.ViaAPI {
				p.refused(err, "request_superseded")
				err = answer(by, a, approval.Reject, "", shown+1)
			} else if got := newest(by, a).Wording; err == nil && got.CoachName != "" {
				p.Errorf("%s: a no to the former name shows %+v", via, got)
			}
			if ok(p, err); p.guardianState(c, a.ID) != "rejected" {
				p.Errorf("%s: after a no: %s", via, p.guardianState(c, a.ID))
			}
		}
		if report, err := p.consentLog().Audit(bg); err != nil || len(report.Findings) > 0 {
			p.Errorf("audit: %+v, %v", report, err)
		}
	}, proofRequired)
}

// TestCoachRenamedAfterProofEnded: a guardian whose proof ended has no yes to take back, so another name of the coach tells it no more than
// a party that has not answered. Both questions have a new version.
func TestCoachRenamedAfterProofEnded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, c := p.adultProofs(), p.coach(1)
		asked := p.add(c, "Asha Rao", number(2), "")
		ended, guardian, _ := p.endedYes(s, c, "Bela Rao", number(3))
		for id, by := range map[string]actor.Actor{asked.ID: p.as(actor.Guardian, number(2)), ended.ID: guardian} {
			told, shown := p.tray(by.AccountID), p.shown(by, id)
			p.rename(c, "Delhi Public School "+id)
			if got := p.tray(by.AccountID); !slices.Equal(got, told) {
				p.Errorf("after another name of the coach the guardian was told %q, before %q", got, told)
			}
			if got := p.shown(by, id); got != shown+1 {
				p.Errorf("version %d, want %d", got, shown+1)
			}
		}
	}, proofRequired)
}

// TestLanguageAfterProofEnded: another language of the question gives it a new version, by the person or by the coach. An answer that
// names no version counts as before.
func TestLanguageAfterProofEnded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, c := p.adultProofs(), p.coach(1)
		asha, first, shown := p.endedYes(s, c, "Asha Rao", number(2))
		bela, second, _ := p.endedYes(s, c, "Bela Rao", number(3))
		_, err := p.db.Outbox.SavePreferences(bg, number(2), message.PreferencesPatch{Language: ptr("hi")})
		ok(p, err)
		_, err = p.Edit(bg, c, bela.ID, approval.Patch{Guardian: &approval.GuardianPatch{Language: ptr("hi")}})
		ok(p, err)
		for id, by := range map[string]actor.Actor{asha.ID: first, bela.ID: second} {
			if got := p.shown(by, id); got != shown+1 {
				p.Errorf("version %d, want %d", got, shown+1)
			}
			_, _, err := p.Decide(bg, by, id, approval.Decision{Action: approval.Approve, Wording: approval.Wording{Version: shown}})
			p.refused(err, "request_superseded")
			_, _, err = p.Decide(bg, by, id, approval.Decision{Action: approval.Approve})
			ok(p, err)
		}
	}, proofRequired)
}

// TestStudentChangedAfterProofEnded: another name or birth date asks a guardian who could answer. One whose new question the coach
// cancelled is not asked again, nor is one whose approval ended otherwise.
func TestStudentChangedAfterProofEnded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, c := p.adultProofs(), p.coach(1)
		for i, patch := range []approval.StudentPatch{{FullName: ptr("Secret Child")}, {DateOfBirth: &approval.Date{Year: 2013, Month: 1, Day: 1}}} {
			a, guardian, shown := p.endedYes(s, c, "Asha Rao", number(2+i))
			before := a.Party(actor.Guardian).Request.ID
			edited, err := p.Edit(bg, c, a.ID, approval.Patch{Student: patch})
			ok(p, err)
			r := edited.Party(actor.Guardian).OpenRequest()
			if r == nil || r.ID == before || edited.PendingReason(actor.Guardian) != approval.PendingStudent {
				p.Fatalf("change %d: request %+v, %s", i, r, edited.PendingReason(actor.Guardian))
			}
			if got := p.tray(guardian.AccountID); got[len(got)-1] != "guardian_request" {
				p.Errorf("change %d: the guardian was told %q", i, got)
			}
			_, _, err = p.Decide(bg, guardian, a.ID, approval.Decision{Action: approval.Approve, RequestID: before, Wording: approval.Wording{Version: shown}})
			p.refused(err, "request_superseded")
			ok(p, p.decide(guardian, a.ID, approval.Approve))
			p.checkInvariants(c, a.ID)
		}
		a, guardian, _ := p.endedYes(s, c, "Bela Rao", number(8))
		r, _, err := p.Send(bg, c, a.ID, actor.Guardian, approval.Patch{}, nil)
		ok(p, err)
		_, err = p.Cancel(bg, c, r.ID)
		ok(p, err)
		p.refused(p.decide(guardian, a.ID, approval.Approve), "no_open_request")
		edited, err := p.Edit(bg, c, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Bela Bai")}})
		if ok(p, err); edited.Party(actor.Guardian).OpenRequest() != nil {
			p.Error("a cancelled question was asked again")
		}
		if report, err := p.consentLog().Audit(bg); err != nil || len(report.Findings) > 0 {
			p.Errorf("audit: %+v, %v", report, err)
		}
	}, proofRequired)
}

// TestBatchRenamedWhileYesAfterProofEnded: of guardians who answer the question of a former yes while the coach renames the batch, each
// yes has a record with the batch that its version showed.
func TestBatchRenamedWhileYesAfterProofEnded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s, c := p.adultProofs(), p.coach(1)
		const guardians = 4
		team := p.batch(c, "Morning")
		for round := range storetest.Rounds(4, 50) {
			ids, by := make([]string, guardians), make([]actor.Actor, guardians)
			for i := range guardians {
				n := 100 + round*guardians + i
				a, guardian, _ := p.endedYes(s, c, fmt.Sprint("Child ", n), number(n))
				ok(p, p.batches().Join(bg, c, team.ID, a.ID))
				ids[i], by[i] = a.ID, guardian
			}
			saw := make([]string, guardians)
			errs := concurrently(guardians+1, func(i int) error {
				if i == guardians {
					_, err := p.batches().Edit(bg, c, team.ID, batch.Patch{Name: ptr(fmt.Sprint("Batch ", round))})
					return err
				}
				seen, err := p.Player(bg, by[i], ids[i])
				if err != nil {
					return err
				}
				saw[i] = seen.Batches[0].Name
				_, _, err = p.Decide(bg, by[i], ids[i], approval.Decision{Action: approval.Approve, Wording: approval.Wording{Version: seen.Party(actor.Guardian).Request.Version}})
				return err
			})
			for i := range guardians {
				_, history, err := p.Status(bg, by[i], ids[i])
				ok(p, err)
				switch code := fault.CodeOf(errs[i]); {
				case errs[i] == nil && history[len(history)-1].Wording.Batch != saw[i]:
					p.Errorf("round %d: the guardian saw %q, the record has %q", round, saw[i], history[len(history)-1].Wording.Batch)
				case errs[i] != nil && (code != "request_superseded" || len(history) != 1):
					p.Errorf("round %d: %v, history %+v", round, errs[i], history)
				}
			}
		}
	}, proofRequired)
}
