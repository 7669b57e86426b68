package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store/storetest"
)

// household is a minor with three guardians, whose parties and coach act at the same time.
type household struct {
	*fixture
	dice    *rand.Rand
	coach   actor.Actor
	id      string
	student actor.Actor
	// numbers are those of guardians, former ones too.
	numbers []phone.Number
	done    []string
}

// TestRivalsOverFourParties: in each round 32 calls run at the same time: answers of three guardians and the student, also of former
// guardians, and the coach who asks, corrects, orders, adds and removes. Each party follows the machine of the specification.
func TestRivalsOverFourParties(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	eachEngine(t, func(p *fixture) {
		h := &household{fixture: p, dice: newRand(seed, 1), coach: p.coach(1), numbers: []phone.Number{number(11), number(12), number(13), number(14), number(15)}}
		var guardians []approval.Person
		for i, n := range h.numbers[:3] {
			guardians = append(guardians, approval.Person{Name: fmt.Sprint("Guardian ", i), Relationship: "parent", Number: n})
		}
		added, err := p.AddWith(bg, h.coach, child("Asha Rao", number(21)), guardians)
		ok(p, err)
		h.id, h.student = added.ID, p.as(actor.Student, number(21))
		answered := 0
		for round := range storetest.Rounds(12, 1000) {
			p.clock.advance(time.Duration(1+h.dice.IntN(40)) * time.Hour)
			player, err := p.Player(bg, h.coach, h.id)
			ok(p, err)
			calls := make([]func() error, 32)
			h.done = nil
			for i := range calls {
				calls[i] = h.rival(player)
			}
			p.countCodes(concurrently(len(calls), func(i int) error { return calls[i]() }))
			if answered = h.check(); p.Failed() {
				p.Fatalf("round %d:\n%s", round, strings.Join(h.done, "\n"))
			}
		}
		if answered < 12 {
			p.Errorf("%d answers are too few for the checks to mean something", answered)
		}
	}, func(s *settings) { s.Rules.GuardianBelow = 18 })
}

// rival returns a random call of a party or the coach about the player as it was read.
func (h *household) rival(player *approval.Player) func() error {
	guardians := player.Guardians()
	g := guardians[h.dice.IntN(len(guardians))]
	what, n := h.dice.IntN(32), h.numbers[h.dice.IntN(len(h.numbers))]
	note := func(format string, values ...any) { h.done = append(h.done, fmt.Sprintf(format, values...)) }
	action := []approval.Trigger{approval.Approve, approval.Approve, approval.Reject, approval.Revoke}[h.dice.IntN(4)]
	switch {
	case what < 14:
		note("%s answers %s", n, action)
		var by actor.Actor
		if h.db.QueryRow(bg, `SELECT id FROM accounts WHERE mobile_number = $1 AND role = 'guardian'`, string(n)).Scan(&by.AccountID) != nil {
			return func() error { return nil } // has never been a guardian
		}
		by.Role, by.Number = actor.Guardian, n
		return func() error { return h.DecideOnly(bg, by, h.id, approval.Decision{Action: action}) } // the history has thousands of answers
	case what < 18:
		note("the student answers %s", action)
		return func() error { return h.DecideOnly(bg, h.student, h.id, approval.Decision{Action: action}) }
	case what < 22:
		note("ask %s", g.Number)
		return func() error {
			_, _, err := h.Send(bg, h.coach, h.id, actor.Guardian, approval.Patch{GuardianID: g.GuardianID}, nil)
			return err
		}
	case what < 23:
		return func() error { _, _, err := h.Send(bg, h.coach, h.id, actor.Student, approval.Patch{}, nil); return err }
	case what < 24:
		return func() error { _, _, err := h.RemindParty(bg, h.coach, h.id, actor.Guardian, g.GuardianID); return err }
	case what < 26:
		to := 1 + h.dice.IntN(len(guardians))
		note("move %s to %d", g.Number, to)
		return func() error {
			_, err := h.Edit(bg, h.coach, h.id, approval.Patch{GuardianID: g.GuardianID, Position: &to})
			return err
		}
	case what < 28:
		note("correct %s to %s", g.Number, n)
		return func() error {
			_, err := h.Edit(bg, h.coach, h.id, approval.Patch{GuardianID: g.GuardianID, Guardian: &approval.GuardianPatch{Number: &n}})
			return err
		}
	case what < 29:
		next := guardians[h.dice.IntN(len(guardians))].GuardianID
		note("remove %s", g.Number)
		return func() error { return h.RemoveGuardian(bg, h.coach, h.id, g.GuardianID, next) }
	case what < 31:
		note("add %s", n)
		return func() error {
			_, _, err := h.AddGuardian(bg, h.coach, h.id, approval.Person{Name: "Guardian", Relationship: "parent", Number: n})
			return err
		}
	}
	rule := []approval.GuardianRule{approval.AnyGuardian, approval.AllGuardians}[h.dice.IntN(2)]
	note("rule %s", rule)
	return func() error { _, err := h.Edit(bg, h.coach, h.id, approval.Patch{Rule: &rule}); return err }
}

// check compares the stored player with the specification, and returns how many answers there are.
func (h *household) check() int {
	h.Helper()
	got, err := h.Player(bg, h.coach, h.id)
	ok(h, err)
	guardians := got.Guardians()
	if n := len(guardians); n < 1 || n > approval.MaxGuardians {
		h.Errorf("%d guardians", n)
	}
	yes, no := 0, 0
	for i := range got.Parties {
		a := &got.Parties[i]
		name := fmt.Sprint(a.Role, " ", a.Number)
		for _, b := range got.Parties[:i] {
			if a.Role == b.Role && (a.GuardianID == b.GuardianID || a.Number == b.Number || a.AccountID == b.AccountID) {
				h.Errorf("%s is twice a guardian", name)
			}
		}
		open := h.count(`SELECT count(*) FROM requests WHERE player_id = $1 AND approver_type = $2 AND guardian_id = $3 AND state = 'pending'`, h.id, string(a.Role), a.GuardianID)
		if r := a.OpenRequest(); open > 1 || (open == 1) != (r != nil) || r != nil && (a.Consent.State != approval.Pending || r.PartyID != a.AccountID) {
			h.Errorf("%s is %s, with %d open requests, the newest %+v", name, a.Consent.State, open, r)
		}
		last := ""
		err := h.db.QueryRow(bg, `
			SELECT action FROM approval_history WHERE player_id = $1 AND approver_type = $2 AND guardian_id = $3 AND approver_id = $4
			ORDER BY decided_at DESC, id DESC LIMIT 1`, h.id, string(a.Role), a.GuardianID, a.AccountID).Scan(&last)
		if err != nil && !database.IsNoRows(err) {
			h.Fatal(err)
		}
		if a.Consent.State != approval.Pending && string(a.Consent.State) != last {
			h.Errorf("%s is %s after %q", name, a.Consent.State, last)
		}
		if a.Role != actor.Guardian {
			continue
		}
		// The newest answer of the place and that of the account count, also while a new question is open.
		refused := h.count(`
			SELECT count(*) FROM approval_history h WHERE h.player_id = $1 AND h.approver_type = 'guardian' AND h.action <> 'approved' AND (
				h.guardian_id = $2 AND NOT EXISTS (SELECT 1 FROM approval_history n WHERE n.player_id = $1 AND n.guardian_id = $2 AND (n.decided_at, n.id) > (h.decided_at, h.id))
				OR h.approver_id = $3 AND NOT EXISTS (SELECT 1 FROM approval_history n WHERE n.player_id = $1 AND n.approver_id = $3 AND (n.decided_at, n.id) > (h.decided_at, h.id)))`,
			h.id, a.GuardianID, a.AccountID) > 0
		switch {
		case a.Consent.State == approval.Approved:
			yes++
			refused = false
		case a.Consent.Refused:
			no++
		}
		if refused && !a.Consent.Refused || a.Consent.State == approval.Approved && a.Consent.Refused {
			h.Errorf("%s is %s, refused %t", name, a.Consent.State, a.Consent.Refused)
		}
	}
	for query, want := range map[string]int{
		`SELECT count(*) - max(position) FROM parties WHERE player_id = $1 AND role = 'guardian'`: 0,
		// Each yes or no closed one request of that party, and each request was closed by at most one.
		`SELECT count(*) FROM approval_history h LEFT JOIN requests r ON r.id = h.request_id AND r.player_id = h.player_id AND r.approver_type = h.approver_type
			AND r.approver_id = h.approver_id AND r.guardian_id = h.guardian_id WHERE h.player_id = $1 AND r.id IS NULL`: 0,
		`SELECT count(*) FROM (SELECT request_id FROM approval_history WHERE player_id = $1 AND action <> 'revoked' GROUP BY request_id HAVING count(*) > 1) AS twice`: 0,
		`SELECT count(*) - max(sequence) FROM changes WHERE player_id = $1`:                                                                                            0,
	} {
		if n := h.count(query, h.id); n != want {
			h.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	h.checkRevocations()
	want := approval.GuardiansWaiting
	switch {
	case yes > 0 && no > 0:
		want = approval.GuardiansDisagree
	case no > 0:
		want = approval.GuardiansRefuse
	case yes == len(guardians), yes > 0 && got.Rule == approval.AnyGuardian:
		want = approval.GuardiansAgree
	}
	if got.GuardianApproval() != want {
		h.Errorf("%d yes, %d no of %d with the rule %s: %s", yes, no, len(guardians), got.Rule, got.GuardianApproval())
	}
	on, err := h.Availability(bg, h.coach, h.id)
	ok(h, err)
	for i, g := range guardians {
		if on.Guardians[i] != (approval.GuardianApp{GuardianID: g.GuardianID, Enabled: g.Consent.State == approval.Approved}) {
			h.Errorf("guardian %s is %s and has the app: %+v", g.Number, g.Consent.State, on.Guardians[i])
		}
	}
	if student := got.Party(actor.Student).Consent.State; on.StudentApp != (student == approval.Approved && want == approval.GuardiansAgree) || on.GuardianApp != on.Guardians[0].Enabled {
		h.Errorf("the student is %s, the guardians %s: %+v", student, want, on)
	}
	return h.count(`SELECT count(*) FROM approval_history WHERE player_id = $1`, h.id)
}

// checkRevocations fails unless each revocation directly follows an approval of the same party and account.
func (h *household) checkRevocations() {
	h.Helper()
	rs, err := h.db.Query(bg, `SELECT approver_type, guardian_id, approver_id, action FROM approval_history WHERE player_id = $1 ORDER BY decided_at, id`, h.id)
	last := map[[3]string]string{}
	ok(h, database.Each(rs, err, func(row database.Scanner) error {
		var party [3]string
		var action string
		err := row.Scan(&party[0], &party[1], &party[2], &action)
		if action == "revoked" && last[party] != "approved" {
			h.Errorf("%v revoked after %q", party, last[party])
		}
		last[party] = action
		return err
	}))
}

// TestTurning18WithTwoGuardians: the approvals of both guardians from before the 18th birthday end 30 days after it, while one of them
// answers at the same time. Their disagreement means nothing from that day on, and the student ends the view of one of them.
func TestTurning18WithTwoGuardians(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a, err := p.AddWith(bg, coach, approval.Student{FullName: "Asha Rao", DateOfBirth: born, Number: number(4)}, []approval.Person{
			{Name: "Ravi Rao", Relationship: "father", Number: number(2)}, {Name: "Anita Iyer", Relationship: "mother", Number: number(3)},
		})
		ok(p, err)
		ravi, anita, student := p.as(actor.Guardian, number(2)), p.as(actor.Guardian, number(3)), p.as(actor.Student, number(4))
		ok(p, p.decide(ravi, a.ID, approval.Approve))
		ok(p, p.decide(anita, a.ID, approval.Approve))
		app := func(by actor.Actor) bool {
			on, err := p.Availability(bg, by, a.ID)
			ok(p, err)
			if by.Role == actor.Student {
				return on.StudentApp
			}
			return on.GuardianApp
		}
		for _, day := range []string{"2026-03-21T14:00:00Z", "2026-04-20T14:00:00Z"} {
			p.at(day)
			p.turnAdults(2)
		}
		for _, by := range []actor.Actor{ravi, anita} {
			if types, _ := p.told(by); len(types) != 2 || !app(by) {
				p.Errorf("%s is told %v, and has the app: %t", by.Number, types, app(by))
			}
		}
		// On the day on which the approvals end Anita takes hers back, and the coach makes her the first.
		p.at("2026-05-21T09:00:00Z")
		first := 1
		errs := concurrently(4, func(i int) error {
			switch i {
			case 0:
				return p.decide(anita, a.ID, approval.Revoke)
			case 1:
				_, err := p.Edit(bg, coach, a.ID, approval.Patch{GuardianID: a.Guardians()[1].GuardianID, Position: &first})
				return err
			}
			_, err := p.TurnAdults(bg, 100)
			return err
		})
		p.countCodes(errs)
		p.turnAdults(2)
		got, err := p.Player(bg, coach, a.ID)
		ok(p, err)
		for _, g := range got.Guardians() {
			if s := g.Consent.State; s == approval.Approved || g.Number == number(2) && s != approval.Pending {
				p.Errorf("%s is %s", g.Name, s)
			}
		}
		if app(ravi) || app(anita) {
			p.Error("a guardian keeps the app after the grace")
		}
		// The student alone counts now, and ends the view of one guardian.
		ok(p, p.decide(student, a.ID, approval.Approve))
		if !app(student) {
			p.Error("an adult who said yes waits for guardians")
		}
		_, err = p.EndGuardianView(bg, student, a.ID, got.Guardians()[0].GuardianID)
		ok(p, err)
		if _, err := p.Player(bg, anita, a.ID); err == nil {
			p.Error("the guardian whose view ended sees the player")
		}
		if _, err := p.Player(bg, ravi, a.ID); err != nil {
			p.Errorf("the other guardian: %v", err)
		}
	}, func(s *settings) { s.Rules.GuardianBelow = 18 })
}
