package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

const (
	notYours = "Nothing changed. This question is not for this number."
	isClosed = "Nothing changed. This question about Asha Rao from coach Coach 1 is closed."
)

// staleQuestion is a question that left by WhatsApp and by a call, both with buttons or keys that still work.
type staleQuestion struct {
	*fixture
	coach    actor.Actor
	a        *approval.Player
	to       phone.Number
	question string
	call     string
	said     *said
	presses  int
}

func (q *staleQuestion) guardian() actor.Actor { return q.as(actor.Guardian, number(2)) }

// press presses a button of the question and returns the answer.
func (q *staleQuestion) press(button string) message.ChatAnswer {
	q.Helper()
	in := q.inbox(q.said)
	q.presses++
	r := q.chatFrom(q.to, fmt.Sprint("stale", q.presses))
	r.Button = button
	before := len(q.said.answers)
	ok(q, in.Receive(bg, r))
	if len(q.said.answers) != before+1 {
		q.Fatalf("%s was answered %+v, want one answer", button, q.said.answers[before:])
	}
	return q.said.answers[before]
}

func (q *staleQuestion) edit(patch approval.Patch) {
	q.Helper()
	_, err := q.Edit(bg, q.coach, q.a.ID, patch)
	ok(q, err)
}

func (q *staleQuestion) decideAs(what approval.Trigger) {
	q.Helper()
	ok(q, q.decide(q.guardian(), q.a.ID, what))
}

func (q *staleQuestion) ask() {
	q.Helper()
	_, _, err := q.send(q.coach, q.a.ID, actor.Guardian)
	ok(q, err)
}

// renameAll gives the child and the coach names that only those may read who are asked now.
func (q *staleQuestion) renameAll() {
	q.Helper()
	q.edit(approval.Patch{Student: approval.StudentPatch{FullName: ptr("Secret Child")}})
	q.rename(q.coach, "Secret Coach")
}

// TestStaleQuestions: an old button or key changes nothing and says how things stand for the number now. A number that
// is not asked any more learns nothing.
func TestStaleQuestions(t *testing.T) {
	t.Parallel()
	correct := func(q *staleQuestion) {
		q.edit(approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(5))}})
		q.renameAll()
	}
	for name, tt := range map[string]struct {
		change func(q *staleQuestion)
		// chat is the answer to each button.
		chat string
		// asks: the answer has the buttons of the newest question.
		asks bool
		call string
	}{
		"the number was corrected":          {correct, notYours, false, saysNoPerson},
		"yes, and the number was corrected": {func(q *staleQuestion) { q.decideAs(approval.Approve); correct(q) }, notYours, false, saysNoPerson},
		"the coach removed the player":      {func(q *staleQuestion) { q.renameAll(); ok(q, q.Remove(bg, q.coach, q.a.ID)) }, notYours, false, saysNoPerson},
		"the coach closed the account":      {func(q *staleQuestion) { q.renameAll(); q.closeAccount(q.coach) }, notYours, false, saysNoPerson},
		"the number of the student, corrected": {func(q *staleQuestion) {
			q.to = number(3)
			q.question = q.questionOf(q.to)
			q.call = ""
			q.edit(approval.Patch{Student: approval.StudentPatch{Number: ptr(number(6))}})
			q.renameAll()
		}, notYours, false, ""},
		"yes, and the guardian was removed": {func(q *staleQuestion) {
			q.decideAs(approval.Approve)
			_, next, err := q.AddGuardian(bg, q.coach, q.a.ID, approval.Person{Name: "Ravi Rao", Relationship: "father", Number: number(7)})
			ok(q, err)
			ok(q, q.RemoveGuardian(bg, q.coach, q.a.ID, q.a.Party(actor.Guardian).GuardianID, next))
			q.renameAll()
		}, notYours, false, saysNoPerson},
		"not me, and the number was corrected": {func(q *staleQuestion) {
			_, err := q.Dispute(bg, q.guardian(), q.a.Party(actor.Guardian).Request.ID, approval.Wording{})
			ok(q, err)
			correct(q)
		}, "Nothing changed. You said that this is not you. You can change this here: https://t.example/me", false, "You said that this is not you."},
		"yes, and taken back": {func(q *staleQuestion) { q.decideAs(approval.Approve); q.decideAs(approval.Revoke) }, isClosed, false, "is closed."},
		"no, and yes to the next question": {
			func(q *staleQuestion) { q.decideAs(approval.Reject); q.ask(); q.decideAs(approval.Approve) },
			"Nothing changed. You said yes for Asha Rao to coach Coach 1 before. You can change this here: https://t.example/me", false, "You said yes for Asha Rao to coach Coach 1 before.",
		},
		"yes, and the coach got another name": {
			func(q *staleQuestion) { q.decideAs(approval.Approve); q.rename(q.coach, "Quick Loans") },
			"Nothing changed. You said yes for Asha Rao to coach Coach 1 before. You can change this here: https://t.example/me", false, "You said yes for Asha Rao to coach Coach 1 before.",
		},
		"no, and the coach got another name": {
			func(q *staleQuestion) { q.decideAs(approval.Reject); q.rename(q.coach, "Quick Loans") },
			"Nothing changed. You said no for Asha Rao to coach Coach 1 before. You can change this here: https://t.example/me", false, "You said no for Asha Rao to coach Coach 1 before.",
		},
		"no, and asked again": {
			func(q *staleQuestion) { q.decideAs(approval.Reject); q.ask() },
			isClosed + " May this sports app send you news about Asha Rao? Coach: Coach 1.", true, "This call is over.",
		},
		"yes, and the child got another name": {func(q *staleQuestion) {
			q.decideAs(approval.Approve)
			q.edit(approval.Patch{Student: approval.StudentPatch{FullName: ptr("Second Name")}})
		}, "Nothing changed. This question about Second Name from coach Coach 1 is closed. May this sports app send you news about Second Name? Coach: Coach 1.", true, "This call is over."},
		"taken back by the coach": {func(q *staleQuestion) {
			_, err := q.Cancel(bg, q.coach, q.a.Party(actor.Guardian).Request.ID)
			ok(q, err)
		}, isClosed, false, "is closed."},
		"suspended, and asked again": {func(q *staleQuestion) {
			q.decideAs(approval.Reject)
			q.ask()
			q.change(`UPDATE accounts SET suspended_at = 1 WHERE mobile_number = $1`, string(q.to))
		}, isClosed, false, "is closed."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(p *fixture) {
				q := p.staleQuestion()
				q.call = p.call(q.coach, q.a.Party(actor.Guardian).Request.ID)
				check := p.pressKeys(q.call, number(2), "1")
				tt.change(q)
				p.clock.advance(time.Minute)
				before := p.count(`SELECT count(*) FROM approval_history`) + p.count(`SELECT count(*) FROM disputes`)
				sure := message.ChatPress{Action: message.ChatSure, ID: q.question, AskedAt: p.clock.Now().Truncate(time.Second), Version: 1}
				for _, button := range []string{"yes:" + q.question, sure.String(), "no:" + q.question, "not_me:" + q.question, "ask:" + q.question} {
					got := q.press(button)
					want := tt.chat
					if tt.asks && strings.HasPrefix(button, "ask") { // asks it at once
						_, want, _ = strings.Cut(want, "is closed. ")
					}
					if got.Text != want || (len(got.Buttons) == 3) != tt.asks {
						p.Errorf("%.6s was answered %+v, want %q", button, got, want)
					}
					if tt.asks && len(got.Buttons) == 3 && got.Buttons[1].ID != "no:"+p.questionOf(q.to) {
						p.Errorf("%.6s: the buttons are %+v, want those of the newest question", button, got.Buttons)
					}
				}
				for _, step := range [][2]string{{check.State, "1"}, {check.State, "9"}, {message.CallAsks, "1"}, {message.CallAsks, "2"}, {message.CallAsks, "3"}, {message.CallAsks, "9"}, {"", ""}} {
					if q.call == "" {
						break
					}
					prompt, err := p.AnswerCall(bg, q.call, number(2), step[0], step[1])
					if said := strings.Join(prompt.Lines, " "); err != nil || !strings.Contains(said, tt.call) || strings.Contains(said, "Secret") || prompt.Keys != "" {
						p.Errorf("%q: the call says %q, %v; want %q", step, said, err, tt.call)
					}
				}
				if after := p.count(`SELECT count(*) FROM approval_history`) + p.count(`SELECT count(*) FROM disputes`); after != before {
					p.Errorf("%d decisions and disputes, want %d", after, before)
				}
			}, calling)
		})
	}
}

// staleQuestion asks the guardian with number 2 and the student with number 3, long enough ago for a call.
func (p *fixture) staleQuestion() *staleQuestion {
	p.Helper()
	q := &staleQuestion{fixture: p, coach: p.coach(1), to: number(2), said: &said{}}
	q.a = p.add(q.coach, "Asha Rao", q.to, number(3))
	q.question = p.questionOf(q.to)
	p.clock.advance(approval.CallAfter)
	return q
}

// TestAnswersAfterProofEnded: after a proof of an adult ended, the buttons and keys of the question of the former yes
// still say no. A yes needs another proof and the version that the question has since the proof ended. It was the right person, so the question
// has no button "not me".
func TestAnswersAfterProofEnded(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		again bool // another proof
		press func(q *staleQuestion) string
		says  string
		state approval.State
	}{
		"no by a button": {false, func(q *staleQuestion) string { return q.press("no:" + q.question + ":v2").Text }, "You said no for Asha Rao to coach Coach 1. ", approval.Rejected},
		"no by a key": {false, func(q *staleQuestion) string {
			prompt, err := q.AnswerCall(bg, q.call, q.to, message.CallAsks, message.CallNo)
			ok(q, err)
			return strings.Join(prompt.Lines, " ")
		}, saysNo, approval.Rejected},
		"not me": {false, func(q *staleQuestion) string {
			a := q.press("not_me:" + q.question + ":v2")
			if len(a.Buttons) != 2 || a.Buttons[1].ID != "no:"+q.question+":v2" {
				q.Errorf("buttons %+v, want yes and no", a.Buttons)
			}
			return a.Text
		}, "Please press a button. Nothing is answered yet. May this sports app send you news about Asha Rao?", approval.Pending},
		"not me by a key": {false, func(q *staleQuestion) string {
			prompt, err := q.AnswerCall(bg, q.call, q.to, message.CallAsks, message.CallNotMe)
			ok(q, err)
			return strings.Join(prompt.Lines, " ")
		}, "a sports app, send you news about it?", approval.Pending},
		"yes without a proof":  {false, (*staleQuestion).sayYes, "Your yes does not count yet. First prove that you are an adult", approval.Pending},
		"yes after a proof":    {true, (*staleQuestion).sayYes, "Thank you. You said yes for Asha Rao to coach Coach 1.", approval.Approved},
		"yes without, by keys": {false, (*staleQuestion).sayYesByKeys, "Your yes does not count yet", approval.Pending},
		"yes after, by keys":   {true, (*staleQuestion).sayYesByKeys, saysYes, approval.Approved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(p *fixture) {
				q, s := p.staleQuestion(), p.adultProofs()
				q.call = p.call(q.coach, q.a.Party(actor.Guardian).Request.ID)
				p.prove(s, q.guardian(), q.a.ID, "adult")
				q.decideAs(approval.Approve)
				p.clock.advance(time.Minute)
				ok(p, s.Withdraw(bg, q.guardian()))
				if tt.again {
					p.prove(s, q.guardian(), q.a.ID, "adult")
				}
				if got := tt.press(q); !strings.Contains(got, tt.says) {
					p.Errorf("got %q, want %q", got, tt.says)
				}
				got := p.checkInvariants(q.coach, q.a.ID).Party(actor.Guardian).Consent
				// A no counts whatever text was shown. The call began before the proof ended.
				records := p.count(`SELECT count(*) FROM approval_history WHERE action = $1 AND (text_hash IS NOT NULL OR action = 'rejected')`, string(tt.state))
				if got.State != tt.state || (records == 1) != (tt.state != approval.Pending) {
					p.Errorf("%s, %d records of it; want %s", got.State, records, tt.state)
				}
				log := p.consentLog()
				ok(p, log.Work(bg))
				if report, err := log.Audit(bg); err != nil || len(report.Findings) > 0 {
					p.Errorf("audit: %+v, %v", report, err)
				}
			}, calling, proofRequired)
		})
	}
}

func (q *staleQuestion) sayYes() string {
	q.Helper()
	check := q.press("yes:" + q.question + ":v2")
	if len(check.Buttons) != 2 || !strings.HasPrefix(check.Buttons[0].ID, "sure:") {
		q.Fatalf("yes was answered %+v, want the check question", check)
	}
	return q.press(check.Buttons[0].ID).Text
}

func (q *staleQuestion) sayYesByKeys() string {
	q.Helper()
	return strings.Join(q.pressKeys(q.call, q.to, "1", "1").Lines, " ")
}

// TestStaleQuestionsTogether: a message of several children asks those again that are still asked, each once, and names
// no other one.
func TestStaleQuestionsTogether(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := &said{}
		in, coach := p.inbox(s), p.coach(1)
		gone, renamed, answered := p.add(coach, "Asha Rao", number(2), ""), p.add(coach, "Bela Rao", number(2), ""), p.add(coach, "Chitra Rao", number(2), "")
		p.change(`UPDATE deliveries SET gathered_by = (SELECT min(id) FROM deliveries WHERE recipient = $1) WHERE recipient = $1`, string(number(2)))
		var first string
		ok(p, p.db.QueryRow(bg, `SELECT min(id) FROM deliveries WHERE recipient = $1`, string(number(2))).Scan(&first))
		_, err := p.Edit(bg, coach, gone.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(5))}, Student: approval.StudentPatch{FullName: ptr("Secret Child")}})
		ok(p, err)
		_, err = p.Edit(bg, coach, renamed.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Bela Kumari")}})
		ok(p, err)
		press := func(want ...string) {
			p.Helper()
			before := len(s.answers)
			r := p.chatFrom(number(2), fmt.Sprint("together", before))
			r.Button = "ask:" + first
			ok(p, in.Receive(bg, r))
			var got []string
			for _, a := range s.answers[before:] {
				got = append(got, a.Text)
			}
			if strings.Join(got, " | ") != strings.Join(want, " | ") {
				p.Errorf("the message asks %q, want %q", got, want)
			}
		}
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, answered.ID, approval.Reject))
		press("May this sports app send you news about Bela Kumari? Coach: Coach 1.")
		ok(p, p.decide(guardian, renamed.ID, approval.Reject))
		press("Nothing changed. You said no for Bela Kumari to coach Coach 1 before. You can change this here: https://t.example/me")
		ok(p, p.Remove(bg, coach, renamed.ID))
		ok(p, p.Remove(bg, coach, answered.ID))
		press(notYours)
	})
}
