package store_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
)

// concurrently runs n calls at the same time and returns their errors.
func concurrently(n int, run func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			errs[i] = run(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// countCodes counts errors by their code, "" for nil. Internal errors fail the test.
func (p *fixture) countCodes(errs []error) map[string]int {
	p.Helper()
	n := map[string]int{}
	for _, err := range errs {
		if err != nil && fault.KindOf(err) == fault.Internal {
			p.Errorf("concurrent call: %v", err)
		}
		n[fault.CodeOf(err)]++
	}
	return n
}

// checkInvariants checks the invariants of a player.
func (p *fixture) checkInvariants(coach actor.Actor, id string) *approval.Player {
	p.Helper()
	got, err := p.Player(bg, coach, id)
	ok(p, err)
	history, err := p.history(id)
	ok(p, err)
	for _, party := range approval.Parties {
		open := p.count(`SELECT count(*) FROM requests WHERE player_id = $1 AND approver_type = $2 AND state = 'pending'`, id, string(party))
		if r := got.Party(party).OpenRequest(); open > 1 || (open == 1) != (r != nil) {
			p.Errorf("%s: %d open requests, newest %v", party, open, got.Party(party).Request)
		}
		last := ""
		for _, r := range history {
			if r.Party == party {
				last = string(r.Action)
			}
		}
		if s := got.Party(party).Consent.State; s != approval.Pending && string(s) != last {
			p.Errorf("%s: state %s after %q", party, s, last)
		}
	}
	for _, account := range []string{got.Party(actor.Guardian).AccountID, got.Party(actor.Student).AccountID, got.CoachID} {
		if account == "" {
			continue
		}
		p.tray(account)
	}
	return got
}

func TestConcurrentDecisions(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		decisions := []approval.Trigger{approval.Approve, approval.Reject}
		errs := concurrently(50, func(i int) error { return p.decide(guardian, a.ID, decisions[i%2]) })
		p.countCodes(errs)
		final := p.checkInvariants(coach, a.ID).Party(actor.Guardian).Consent.State
		history, err := p.history(a.ID)
		ok(p, err)
		if len(history) != 1 || string(history[0].Action) != string(final) {
			p.Fatalf("state %s, history %+v", final, history)
		}
		for i, err := range errs {
			want := "invalid_transition"
			if string(decisions[i%2]) == string(final) {
				want = ""
			}
			if fault.CodeOf(err) != want {
				p.Errorf("%s after %s: err = %v", decisions[i%2], final, err)
			}
		}
		if got := p.tray(coach.AccountID); len(got) != 1 {
			p.Errorf("notifications of the coach: %q", got)
		}
	})
}

// Concurrent decisions of both parties both succeed.
func TestConcurrentDecisionsOfBothParties(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		for round := range 10 {
			n := number(100 + round)
			a := p.add(coach, fmt.Sprint("Child ", round), n, n)
			by := []actor.Actor{p.as(actor.Guardian, n), p.as(actor.Student, n)}
			for _, err := range concurrently(2, func(i int) error { return p.decide(by[i], a.ID, approval.Approve) }) {
				ok(p, err)
			}
			got := p.checkInvariants(coach, a.ID)
			if got.Party(actor.Guardian).Consent.State != approval.Approved || got.Party(actor.Student).Consent.State != approval.Approved {
				p.Errorf("after both approved: %+v", got)
			}
		}
		if got := p.tray(coach.AccountID); len(got) != 20 {
			p.Errorf("%d notifications of the coach, want 20", len(got))
		}
	})
}

// A decision applies to the child of the request, or fails.
func TestConcurrentApproveAndRename(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		for round := range 10 {
			a := p.add(coach, fmt.Sprint("Child ", round), number(2), "")
			guardian := p.as(actor.Guardian, number(2))
			seen := a.Party(actor.Guardian).Request.ID
			errs := concurrently(2, func(i int) error {
				if i == 0 {
					_, _, err := p.Decide(bg, guardian, a.ID, approval.Decision{Action: approval.Approve, RequestID: seen})
					return err
				}
				_, err := p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr(fmt.Sprint("Other ", round))}})
				return err
			})
			ok(p, errs[1])
			got := p.checkInvariants(coach, a.ID)
			if got.Party(actor.Guardian).Consent.State != approval.Pending || got.Party(actor.Guardian).OpenRequest() == nil || got.Party(actor.Guardian).Request.ID == seen {
				p.Errorf("after the rename: %+v", got.Party(actor.Guardian))
			}
			if code := fault.CodeOf(errs[0]); code != "" && code != "request_superseded" {
				p.Errorf("Approve: err = %v", errs[0])
			}
		}
	})
}

func TestConcurrentApproveAndContactChange(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		for round := range 10 {
			a := p.add(coach, fmt.Sprint("Child ", round), number(2), "")
			guardian := p.as(actor.Guardian, number(2))
			errs := concurrently(2, func(i int) error {
				if i == 0 {
					return p.decide(guardian, a.ID, approval.Approve)
				}
				_, err := p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(50 + round))}})
				return err
			})
			ok(p, errs[1])
			got := p.checkInvariants(coach, a.ID)
			if got.Party(actor.Guardian).Consent.State != approval.Pending || got.Party(actor.Guardian).AccountID == guardian.AccountID {
				p.Errorf("after the change: %+v", got.Party(actor.Guardian))
			}
			if code := fault.CodeOf(errs[0]); code != "" && code != "not_found" {
				p.Errorf("Approve: err = %v", errs[0])
			}
			if n := p.count(`SELECT count(*) FROM notifications WHERE account_id = $1 AND player_id = $2`, guardian.AccountID, a.ID); n != 0 {
				p.Errorf("the old guardian has %d notifications of the player, want 0", n)
			}
		}
	})
}

func TestConcurrentSends(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
		codes := p.countCodes(concurrently(10, func(int) error {
			_, _, err := p.send(coach, a.ID, actor.Guardian)
			return err
		}))
		if codes[""] != 1 || codes["request_pending"] != 9 {
			p.Errorf("error codes: %v", codes)
		}
		p.checkInvariants(coach, a.ID)
		if n := p.count(`SELECT count(*) FROM deliveries WHERE channel = 'sms' AND kind = 'request'`); n != 2 {
			p.Errorf("%d SMS, want 2", n)
		}
	})
}

func TestConcurrentReminders(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		codes := p.countCodes(concurrently(20, func(int) error {
			_, _, err := p.Remind(bg, coach, a.ID, actor.Guardian)
			return err
		}))
		if codes[""] != 2 || codes["reminder_limit"] != 18 {
			p.Errorf("error codes: %v", codes)
		}
		if n := p.count(`SELECT count(*) FROM reminders`); n != 2 {
			p.Errorf("%d reminders", n)
		}
	})
}

func TestConcurrentAdds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		errs := concurrently(20, func(int) error {
			_, err := p.Add(bg, coach, child("Asha Rao", number(3)), mother(number(2)))
			return err
		})
		if codes := p.countCodes(errs); codes[""] != 1 || codes["player_exists"] != 19 {
			p.Errorf("error codes: %v", codes)
		}
		all, err := p.Players(bg, coach, approval.Filter{}, approval.Page{Limit: 50})
		ok(p, err)
		if len(all) != 1 {
			p.Fatalf("%d players", len(all))
		}
		for _, err := range errs {
			if f, is := err.(*fault.Error); is && f.Extra["player_id"] != all[0].ID {
				p.Errorf("the player is %s, want %v", all[0].ID, f.Extra)
			}
		}
		p.checkInvariants(coach, all[0].ID)
	})
}

// Of several concurrent renames of players to the same name, one succeeds.
func TestConcurrentRenames(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		ids := make([]string, 10)
		for i := range ids {
			ids[i] = p.add(coach, fmt.Sprint("Child ", i), number(2), "").ID
		}
		codes := p.countCodes(concurrently(len(ids), func(i int) error {
			_, err := p.Edit(bg, coach, ids[i], approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha Rao")}})
			return err
		}))
		if codes[""] != 1 || codes["player_exists"] != 9 {
			p.Errorf("error codes: %v", codes)
		}
	})
}

// When the last players of a number are removed concurrently, the sessions of the number
// end.
func TestConcurrentRemovals(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		for round := range 10 {
			n := number(100 + round)
			ids, coaches := make([]string, 5), make([]actor.Actor, 5)
			for i := range ids {
				coaches[i] = p.coach(10*round + i)
				ids[i] = p.add(coaches[i], "Asha Rao", n, "").ID
			}
			guardian := p.as(actor.Guardian, n)
			ok(p, run(p.db, `
				INSERT INTO sessions (id, account_id, role, mobile_number, device_id, generation, refresh_hash, created_at, last_used_at, idle_at, ends_at)
				VALUES ($1, $1, 'guardian', $2, 'phone', 1, $3, 1, 1, $4, $4)`, guardian.AccountID, string(n), []byte(n), p.clock.Now().Add(day).UnixMicro()))
			p.countCodes(concurrently(len(ids), func(i int) error { return p.Remove(bg, coaches[i], ids[i]) }))
			if n := p.count(`SELECT count(*) FROM sessions WHERE account_id = $1 AND idle_at > 0`, guardian.AccountID); n != 0 {
				p.Error("the session is active after the last player was removed")
			}
		}
	})
}

// Concurrent changes of families and siblings do not deadlock, and the Seqs of notifications
// have no gaps.
func TestConcurrentChangesOfFamilies(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coaches := []actor.Actor{p.coach(1), p.coach(2), p.coach(3)}
		family := []phone.Number{number(50), number(51), number(52)}
		p.countCodes(concurrently(30, func(i int) error {
			coach := coaches[i%3]
			a, err := p.Add(bg, coach, child(fmt.Sprint("Child ", i), family[i/3%3]), mother(family[(i/3+i)%3]))
			if err != nil {
				return err
			}
			guardian := actor.Actor{AccountID: a.Party(actor.Guardian).AccountID, Role: actor.Guardian}
			student := actor.Actor{AccountID: a.Party(actor.Student).AccountID, Role: actor.Student}
			for _, step := range []func() error{
				func() error { return p.decide(guardian, a.ID, approval.Approve) },
				func() error { return p.decide(student, a.ID, approval.Reject) },
				func() error { _, _, err := p.send(coach, a.ID, actor.Student); return err },
				func() error { return p.decide(student, a.ID, approval.Approve) },
				func() error { return p.decide(guardian, a.ID, approval.Revoke) },
			} {
				if err := step(); err != nil {
					return err
				}
			}
			return nil
		}))
		var accounts int
		ok(p, p.db.QueryRow(bg, `
			SELECT count(*) FROM accounts a WHERE a.tray_seq <> (SELECT count(*) FROM notifications n WHERE n.account_id = a.id)`).Scan(&accounts))
		if accounts != 0 {
			p.Errorf("%d accounts have gaps in their Seqs, want 0", accounts)
		}
		if n := p.count(`SELECT count(*) FROM approval_history`); n != 120 {
			p.Errorf("%d records, want 120", n)
		}
	}, limited(message.Limits{PerNumberFromCoach: 6, PerNumber: 20, PerCoach: 200}))
}
