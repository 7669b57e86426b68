package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store/storetest"
)

// calling makes calls that ask questions possible.
func calling(s *settings) {
	s.Rules.Call = message.RouteToNumber(func(n phone.Number) bool { return n[:2] == "+9" || n[:2] == "+1" }, noTestNumber)
}

// lateRequest adds a child, waits until its guardian may be called, and returns the open request.
func (p *fixture) lateRequest(coach actor.Actor, name string, guardian phone.Number) (*approval.Player, *approval.Request) {
	p.Helper()
	a := p.add(coach, name, guardian, "")
	p.clock.advance(approval.CallAfter)
	return a, a.Party(actor.Guardian).Request
}

// call has a party called, as the worker does, and returns the id of the call.
func (p *fixture) call(coach actor.Actor, requestID string) string {
	p.Helper()
	_, err := p.Call(bg, coach, requestID)
	ok(p, err)
	d := p.claimCall()
	if details, _, open, err := p.RequestDetails(bg, d); err != nil || !open || details.Party == "" {
		p.Fatalf("the question of call %+v: open %t, %v", d, open, err)
	}
	ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
	return d.ID
}

func (p *fixture) claimCall() message.Delivery {
	p.Helper()
	all, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: message.Voice, Kind: message.Reminder}, p.db.NewID(), p.clock.Now().Add(time.Minute), 10)
	if ok(p, err); len(all) != 1 {
		p.Fatalf("claimed %+v, want one call", all)
	}
	return all[0]
}

// pressKeys presses keys one after the other, as a transport does, and returns the last prompt.
func (p *fixture) pressKeys(callID string, to phone.Number, keys ...string) message.CallPrompt {
	p.Helper()
	prompt, err := p.AnswerCall(bg, callID, to, "", "")
	ok(p, err)
	for _, key := range keys {
		prompt, err = p.AnswerCall(bg, callID, to, prompt.State, key)
		ok(p, err)
	}
	return prompt
}

func (p *fixture) guardianState(coach actor.Actor, id string) string {
	p.Helper()
	got := p.checkInvariants(coach, id).Party(actor.Guardian)
	if r := got.Request; got.Consent.State == approval.Pending {
		return string(r.State)
	}
	return string(got.Consent.State)
}

// callStatements runs the statements of calls.
func (p *fixture) callStatements() {
	p.Helper()
	p.Rules.Call = message.RouteToNumber(func(phone.Number) bool { return true }, noTestNumber)
	coach := p.coach(383)
	_, r := p.lateRequest(coach, "Asha Rao", number(384))
	id := p.call(coach, r.ID)
	p.pressKeys(id, number(384), "2")
	p.pressKeys(id, number(384)) // says how it stands
}

// says is a part of what a call says, by how things stand.
const (
	saysKeys     = "Press 1 for yes, 2 for no, 3 if this is not you"
	saysCheck    = "Press 1 again to say yes"
	saysYes      = "You said yes for Asha Rao to coach Coach 1."
	saysNo       = "You said no for Asha Rao"
	saysNotMe    = "Thank you for telling us."
	saysNothing  = "Nothing changed."
	saysLate     = "more than 10 minutes ago"
	saysNoKey    = "We heard no key, so nothing changed."
	saysNoPerson = "This question is not for this number."
)

// TestCallKeys: which keys decide, and what the call says.
func TestCallKeys(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keys        []string
		state, says string
	}{
		"answered":         {nil, "pending", saysKeys},
		"one press":        {[]string{"1"}, "pending", saysCheck},
		"yes":              {[]string{"1", "1"}, "approved", saysYes},
		"heard again, yes": {[]string{"9", "1", "9", "1"}, "approved", saysYes},
		"no":               {[]string{"2"}, "rejected", saysNo},
		"check, no":        {[]string{"1", "2"}, "rejected", saysNo},
		"not me":           {[]string{"3"}, "disputed", saysNotMe},
		"check, not me":    {[]string{"1", "3"}, "pending", saysKeys},
		"another key":      {[]string{"1", "5", "1"}, "pending", saysCheck},
		"two digits":       {[]string{"1", "11"}, "pending", saysKeys},
		"silence":          {[]string{"1", ""}, "pending", saysNoKey},
		"silence at once":  {[]string{""}, "pending", saysNoKey},
		"star and hash":    {[]string{"*", "#", "0", "+", "１"}, "pending", saysKeys},
		"after the yes":    {[]string{"1", "1", "2"}, "approved", saysNothing},
		"after the no":     {[]string{"2", "1", "1"}, "rejected", saysNothing},
		"after not me":     {[]string{"3", "1", "1"}, "disputed", saysNothing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(p *fixture) {
				coach := p.coach(1)
				a, r := p.lateRequest(coach, "Asha Rao", number(2))
				id := p.call(coach, r.ID)
				prompt := p.pressKeys(id, number(2), tt.keys...)
				if got := p.guardianState(coach, a.ID); got != tt.state || !strings.Contains(strings.Join(prompt.Lines, " "), tt.says) {
					p.Errorf("%s, the call says %q; want %s, %q", got, prompt.Lines, tt.state, tt.says)
				}
				history, err := p.Player(bg, coach, a.ID)
				if ok(p, err); tt.state != "pending" && history.Party(actor.Guardian).Request.Via != actor.ViaVoice {
					p.Errorf("via %q, want voice", history.Party(actor.Guardian).Request.Via)
				}
			}, calling)
		})
	}
}

// TestCallAfterChange: a key after a change decides nothing, and the call says how things stand.
func TestCallAfterChange(t *testing.T) {
	t.Parallel()
	other := number(3)
	for name, tt := range map[string]struct {
		change      func(p *fixture, coach actor.Actor, a *approval.Player)
		state, says string
	}{
		"page says no": {func(p *fixture, _ actor.Actor, a *approval.Player) {
			ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
		}, "rejected", "You said no for Asha Rao to coach Coach 1 before."},
		"page says yes": {func(p *fixture, _ actor.Actor, a *approval.Player) {
			ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		}, "approved", "You said yes for Asha Rao to coach Coach 1 before."},
		"not me on a page": {func(p *fixture, _ actor.Actor, a *approval.Player) {
			_, err := p.Dispute(bg, p.as(actor.Guardian, number(2)), a.Party(actor.Guardian).Request.ID, approval.Wording{})
			ok(p, err)
		}, "disputed", "You said that this is not you."},
		"the coach takes the question back": {func(p *fixture, coach actor.Actor, a *approval.Player) {
			_, err := p.Cancel(bg, coach, a.Party(actor.Guardian).Request.ID)
			ok(p, err)
		}, "cancelled", "is closed."},
		"the coach asks again": {func(p *fixture, coach actor.Actor, a *approval.Player) {
			ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
			_, _, err := p.send(coach, a.ID, actor.Guardian)
			ok(p, err)
		}, "pending", "This call is over."},
		"the coach corrects the number": {func(p *fixture, coach actor.Actor, a *approval.Player) {
			_, err := p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: &other}})
			ok(p, err)
		}, "pending", saysNoPerson},
		"the account is suspended": {func(p *fixture, _ actor.Actor, _ *approval.Player) {
			ok(p, run(p.db, `UPDATE accounts SET suspended_at = 1 WHERE mobile_number = $1`, string(number(2))))
		}, "pending", "is closed."},
		"the account has another number": {func(p *fixture, _ actor.Actor, _ *approval.Player) {
			ok(p, run(p.db, `UPDATE accounts SET mobile_number = $2 WHERE mobile_number = $1`, string(number(2)), string(number(9))))
		}, "pending", saysNoPerson},
		"the person stopped the coach": {func(p *fixture, coach actor.Actor, _ *approval.Player) {
			ok(p, p.db.Outbox.StopCoach(bg, number(2), coach.AccountID))
		}, "pending", "You want no messages from this coach."},
		"the call ended an hour ago": {func(p *fixture, _ actor.Actor, _ *approval.Player) { p.clock.advance(time.Hour) }, "pending", "This call is over."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(p *fixture) {
				coach := p.coach(1)
				a, r := p.lateRequest(coach, "Asha Rao", number(2))
				id := p.call(coach, r.ID)
				check := p.pressKeys(id, number(2), "1")
				tt.change(p, coach, a)
				for _, step := range [][2]string{{check.State, "1"}, {check.State, "2"}, {message.CallAsks, "1"}, {message.CallAsks, "2"}, {message.CallAsks, "3"}, {"", ""}} {
					prompt, err := p.AnswerCall(bg, id, number(2), step[0], step[1])
					if ok(p, err); !strings.Contains(strings.Join(prompt.Lines, " "), tt.says) || prompt.Keys != "" {
						p.Errorf("%q: the call says %+v, want %q", step, prompt, tt.says)
					}
				}
				for _, key := range []string{"1", "2", "3"} { // the call was not to this number
					prompt, err := p.AnswerCall(bg, id, number(9), message.CallAsks, key)
					if ok(p, err); prompt.Lines[0] != message.NotAsked().Lines[0] {
						p.Errorf("%s of another number: the call says %+v", key, prompt)
					}
				}
				if got := p.guardianState(coach, a.ID); got != tt.state {
					p.Errorf("%s, want %s", got, tt.state)
				}
			}, calling)
		})
	}
	t.Run("the coach removes the player", func(t *testing.T) {
		t.Parallel()
		eachEngine(t, func(p *fixture) {
			coach := p.coach(1)
			a, r := p.lateRequest(coach, "Asha Rao", number(2))
			id := p.call(coach, r.ID)
			check := p.pressKeys(id, number(2), "1")
			ok(p, p.Remove(bg, coach, a.ID))
			prompt, err := p.AnswerCall(bg, id, number(2), check.State, "1")
			if ok(p, err); !strings.Contains(prompt.Lines[0], saysNoPerson) {
				p.Errorf("the call says %q", prompt.Lines)
			}
			if history, err := p.history(a.ID); err != nil || len(history) != 0 {
				p.Errorf("history %+v, %v", history, err)
			}
		}, calling)
	})
}

// TestForgedKeys: a key of another number, of a delivery that is no call, of a call that was not made or with
// an invented state decides nothing.
func TestForgedKeys(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a, r := p.lateRequest(coach, "Asha Rao", number(2))
		_, second := p.lateRequest(coach, "Bela Rao", number(3))
		_, third := p.lateRequest(coach, "Chetan Rao", number(4))
		sms := p.questionOf(number(2))
		ok(p, run(p.db, `UPDATE deliveries SET state = 'sent', total_attempts = 1, updated_at = $2 WHERE id = $1`, sms, p.clock.Now().UnixMicro()))
		id := p.call(coach, r.ID)
		sure := p.pressKeys(id, number(2), "1").State
		otherID := p.call(coach, third.ID)
		sureOfOther := p.pressKeys(otherID, number(4), "1").State
		token := sure[strings.LastIndex(sure, ":"):]
		_, err := p.Call(bg, coach, second.ID)
		ok(p, err)
		queued := p.claimCall()
		ok(p, p.db.Outbox.PostponeDelivery(bg, []message.Delivery{queued}, p.clock.Now(), message.ReasonQuietHours))
		now := p.clock.Now().Unix()
		for _, tt := range []struct {
			id    string
			to    phone.Number
			state string
			key   string
		}{
			{id, number(3), sure, "1"},
			{id, "", sure, "1"},
			{id, number(3), "ask", "2"},
			{id, number(3), "ask", "3"},
			{sms, number(2), sure, "1"},
			{sms, number(2), "ask", "2"},
			{queued.ID, number(3), sure, "1"},
			{queued.ID, number(3), "ask", "2"},
			{queued.ID, number(3), "ask", "3"},
			{"", number(2), sure, "1"},
			{r.ID, number(2), sure, "1"},
			{"'", number(2), sure, "1"},
			{id, number(2), "", "1"},
			{id, number(2), "", "2"},
			{id, number(2), "", "3"},
			{id, number(2), "ASK", "2"},
			{id, number(2), "ask:", "2"},
			{id, number(2), "ask ", "3"},
			{id, number(2), "sure", "1"},
			{id, number(2), "sure:", "1"},
			{id, number(2), fmt.Sprint("sure:", now), "1"},
			{id, number(2), fmt.Sprint("sure:", now, ":"), "1"},
			{id, number(2), fmt.Sprint("sure:0", now, token), "1"},
			{id, number(2), fmt.Sprint("sure:+", now, token), "1"},
			{id, number(2), fmt.Sprint("sure:-", now, token), "1"},
			{id, number(2), sure + " ", "1"},
			{id, number(2), sure + ":", "1"},
			{id, number(2), fmt.Sprint("sure: ", now, token), "1"},
			{id, number(2), sure[:len(sure)-1], "1"},
			{id, number(2), fmt.Sprint("sure:", now-60, token), "1"},
			{id, number(2), fmt.Sprint("sure:", now+60, token), "1"},
			{id, number(2), "sure:9223372036854775807" + token, "1"},
			{id, number(2), sureOfOther, "1"},
			{otherID, number(4), sure, "1"},
			{id, number(2), "sure:1e9", "1"},
			{id, number(2), "sure:" + strings.Repeat("9", 100_000), "1"},
			{id, number(2), "ask", "1\x00"},
			{id, number(2), sure, "1 "},
			{id, number(2), sure, " 1"},
			{id, number(2), sure, "1#"},
			{id, number(2), sure, strings.Repeat("1", 3_000_000)},
		} {
			if _, err := p.AnswerCall(bg, tt.id, tt.to, tt.state, tt.key); err != nil {
				p.Errorf("%.40q %.20q: %v", tt.state, tt.key, err)
			}
		}
		if got := p.guardianState(coach, a.ID); got != "pending" {
			p.Errorf("after forged keys: %s", got)
		}
		if n := p.count(`SELECT count(*) FROM approval_history`); n != 0 {
			p.Errorf("%d decisions", n)
		}
	}, calling)
}

// TestCallRaces: of a yes by call, repeated by its provider, and a no on the page one counts.
func TestCallRaces(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		for round := range 8 {
			n := number(10 + round)
			a, r := p.lateRequest(coach, fmt.Sprint("Child ", round), n)
			id := p.call(coach, r.ID)
			sure := p.pressKeys(id, n, "1").State
			guardian := p.as(actor.Guardian, n)
			errs := concurrently(12, func(i int) error {
				if i%3 == 2 {
					return p.decide(guardian, a.ID, approval.Reject)
				}
				prompt, err := p.AnswerCall(bg, id, n, sure, []string{"1", "2"}[i%3])
				if err == nil && prompt.Keys != "" {
					return fmt.Errorf("the call asks again: %+v", prompt)
				}
				return err
			})
			for i, err := range errs {
				if err != nil && (i%3 != 2 || fault.KindOf(err) != fault.Conflict) {
					p.Errorf("call %d: %v", i, err)
				}
			}
			got := p.checkInvariants(coach, a.ID).Party(actor.Guardian)
			if history, err := p.history(a.ID); err != nil || len(history) != 1 || string(got.Request.State) != string(history[0].Action) {
				p.Errorf("history %+v, %v; request %+v", history, err, got.Request)
			}
		}
	}, calling)
}

// TestOneCall: of 20 presses of the coach at once one makes a call.
func TestOneCall(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		_, r := p.lateRequest(coach, "Asha Rao", number(2))
		codes := p.countCodes(concurrently(20, func(int) error {
			_, err := p.Call(bg, coach, r.ID)
			return err
		}))
		if n := p.count(`SELECT count(*) FROM deliveries WHERE channel = 'voice'`); n != 1 || codes[""] != 1 || codes["call_limit"] != 19 {
			p.Errorf("%d calls, codes %v", n, codes)
		}
	}, calling)
}

// TestMayCall: when a coach may have a party called.
func TestMayCall(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		try := func(what, requestID, code, retryAt string) {
			p.Helper()
			before := p.count(`SELECT count(*) FROM deliveries WHERE channel = 'voice'`)
			_, err := p.Call(bg, coach, requestID)
			if code == "" {
				ok(p, err)
				return
			}
			f := p.refused(err, code)
			if at, _ := f.Extra["retry_at"].(time.Time); retryAt != "" && (at.Format(time.RFC3339) != retryAt || f.RetryAfter != at.Sub(p.clock.Now())) {
				p.Errorf("%s: retry at %s after %s, want %s", what, at, f.RetryAfter, retryAt)
			}
			if n := p.count(`SELECT count(*) FROM deliveries WHERE channel = 'voice'`); n != before {
				p.Errorf("%s: there is a call", what)
			}
		}
		a := p.add(coach, "Asha Rao", number(2), "")
		r := a.Party(actor.Guardian).Request.ID
		try("at once", r, "call_too_early", "2026-03-04T09:00:00Z")
		p.clock.advance(48*time.Hour - time.Microsecond)
		try("a moment before 48 h", r, "call_too_early", "2026-03-04T09:00:00Z")
		p.clock.advance(time.Microsecond)
		p.refused(func() error { _, err := p.with().Call(bg, coach, r); return err }(), "voice_not_configured")
		_, err := p.Call(bg, p.coach(7), r)
		p.refused(err, "not_found")
		ok(p, p.db.Outbox.StopCoach(bg, number(2), coach.AccountID))
		try("the person stopped the coach", r, "messages_stopped", "")
		ok(p, p.db.Outbox.AllowCoach(bg, number(2), coach.AccountID))
		p.clock.advance(5*time.Hour + 30*time.Minute) // 20:00 in India
		try("in the evening", r, "call_hours", "2026-03-05T03:30:00Z")
		p.clock.advance(13*time.Hour - time.Second)
		try("early in the morning", r, "call_hours", "2026-03-05T03:30:00Z")
		p.clock.advance(time.Second)
		zone := "America/New_York"
		_, err = p.db.Outbox.SavePreferences(bg, number(2), message.PreferencesPatch{TimeZone: &zone})
		ok(p, err)
		try("at night in New York", r, "call_hours", "2026-03-05T14:00:00Z")
		p.clock.advance(10*time.Hour + 30*time.Minute)
		id := p.call(coach, r)
		try("at once again", r, "call_limit", "2026-03-12T14:00:00Z")
		p.clock.advance(7*day - time.Microsecond)
		try("a moment before 7 days", r, "call_limit", "")
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
		try("answered", r, "no_open_request", "")
		if prompt := p.pressKeys(id, number(2)); prompt.Keys != "" {
			p.Errorf("an answered question asks %+v", prompt)
		}
	}, calling)
}

// TestNewChildSameCall: a coach who removes and adds a child again has its guardian called once in 7 days. A
// call that never left does not count.
func TestNewChildSameCall(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a, r := p.lateRequest(coach, "Asha Rao", number(2))
		_, err := p.Call(bg, coach, r.ID)
		ok(p, err)
		ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{p.claimCall()}, message.ReasonRefused, ""))
		if got := p.checkInvariants(coach, a.ID).Party(actor.Guardian).Request; got.DeliveryFailed || len(got.FailedChannels) != 0 {
			p.Errorf("a call that failed marks the request: %+v", got)
		}
		p.call(coach, r.ID)
		ok(p, p.Remove(bg, coach, a.ID))
		_, again := p.lateRequest(coach, "Asha Rao", number(2))
		_, err = p.Call(bg, coach, again.ID)
		p.refused(err, "call_limit")
	}, calling)
}

// TestNoYesWithoutTwoKeys runs random keys, states, waits and answers on the page: a yes by call always
// has a 1 at the question and a 1 at the check question, at most 10 minutes later.
func TestNoYesWithoutTwoKeys(t *testing.T) {
	t.Parallel()
	p := newFixture(t, storetest.SQLite(t), calling)
	coach, next := p.coach(1), 100
	rapid.Check(t, func(t *rapid.T) {
		next++
		n := number(next)
		added, err := p.Add(bg, coach, child(fmt.Sprint("Child ", next), ""), mother(n))
		if err != nil {
			t.Fatal(err)
		}
		p.clock.advance(approval.CallAfter)
		_, err = p.Call(bg, coach, added.Party(actor.Guardian).Request.ID)
		if fault.CodeOf(err) == "call_hours" {
			p.clock.advance(13 * time.Hour)
			_, err = p.Call(bg, coach, added.Party(actor.Guardian).Request.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		call := p.claimCall()
		if err := p.db.Outbox.DeliverySent(bg, []message.Delivery{call}); err != nil {
			t.Fatal(err)
		}
		asked := map[string]time.Time{} // when 1 was pressed, by the state of the check question that followed
		states := []string{"", message.CallAsks, "sure:1", fmt.Sprint("sure:", p.clock.Now().Unix()+300)}
		open := true
		t.Repeat(map[string]func(*rapid.T){
			"key": func(t *rapid.T) {
				state := rapid.SampledFrom(states).Draw(t, "state")
				key := rapid.SampledFrom([]string{"", "1", "1", "1", "2", "3", "9", "0", "*", "11"}).Draw(t, "key")
				to := rapid.SampledFrom([]phone.Number{n, n, n, number(99)}).Draw(t, "to")
				prompt, err := p.AnswerCall(bg, call.ID, to, state, key)
				if err != nil {
					t.Fatal(err)
				}
				at, pressed := asked[state]
				mayApprove := pressed && key == "1" && to == n && open && p.clock.Now().Sub(at) <= 10*time.Minute
				if state == message.CallAsks && key == "1" && strings.HasPrefix(prompt.State, "sure:") {
					asked[prompt.State] = p.clock.Now()
				}
				if !slices.Contains(states, prompt.State) {
					states = append(states, prompt.State)
				}
				got, err := p.Player(bg, coach, added.ID)
				if err != nil {
					t.Fatal(err)
				}
				if approved := got.Party(actor.Guardian).Consent.State == approval.Approved; open && approved && !mayApprove {
					t.Fatalf("state %q, key %q approved", state, key)
				}
				open = got.Party(actor.Guardian).OpenRequest() != nil
			},
			"wait": func(t *rapid.T) {
				p.clock.advance(rapid.SampledFrom([]time.Duration{time.Second, 4 * time.Minute, 10 * time.Minute}).Draw(t, "wait"))
			},
			"page": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "page") == 0 {
					_, _, _ = p.Decide(bg, actor.Actor{AccountID: added.Party(actor.Guardian).AccountID, Role: actor.Guardian, Number: n, Via: actor.ViaPage}, added.ID, approval.Decision{Action: approval.Reject})
					open = false
				}
			},
		})
	})
}
