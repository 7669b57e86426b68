package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// signed returns a JSON body and the header with its signature by a provider.
func signed(value any, name, secret string) (body []byte, header string) {
	body, err := json.Marshal(value)
	orPanic(err)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return body, name + ": sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// callParty has a party called that has not answered for 48 hours. If the phone rings, the person presses keys.
func callParty(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.request != "" && (r.clock.now.Sub(p.opened) > 47*hour || r.chance(10)) }))
	if p == nil {
		return nothing
	}
	s := r.as(p.player.coach.person, "coach")
	if s == nil {
		return noSession
	}
	got := r.call(s, "POST", "/api/approval/requests/"+p.request+"/call", nil)
	what := fmt.Sprintf("%s is called: %d %s", p, got.Status, got.code())
	open := r.clock.now.Sub(p.opened)
	within := func(at time.Time, margin time.Duration) bool { return r.clock.now.Sub(at) < 7*24*hour+margin }
	switch code := got.code(); {
	case code == "call_too_early" && open < 48*hour+2*maxSkew, code == "call_hours", code == "messages_stopped":
		return what
	case code == "call_limit" && within(p.calls, 2*maxSkew):
		return what
	case got.Status != 200 || open < 48*hour-2*maxSkew || within(p.called, -2*maxSkew):
		r.fail("a party is called once in 7 days, 48 hours after the question", "%s, open for %s, called at %s: %s", what, open, p.called, got.Body)
	}
	p.calls = r.clock.now
	r.work(time.Second)
	m := r.network.newest(p.number, "call")
	if m == nil || r.clock.now.Sub(m.At) > time.Minute || m.Unsure {
		return what + ", the phone does not ring"
	}
	p.called = p.calls
	return what + ", " + p.pickUp(r, m)
}

// pickUp answers a call: the keys are those of the person.
func (p *party) pickUp(r *Run, m *message) string {
	step := func(state, key string) *response {
		body, header := signed(object{"id": m.ID, "state": state, "key": key}, "X-Signature-256", callSecret)
		got, _ := r.service.call("POST", m.Step, "", body, header)
		r.mustBe(got, "a step of a call", 200, "")
		return got
	}
	got := step("", "")
	if lines := fmt.Sprint(got.JSON["lines"]); text(got.JSON["keys"]) != "1239" || !strings.Contains(lines, p.player.name) {
		r.fail("a call asks the question", "%s: %s", p, got.Body)
	}
	keys := one(r, []string{"11", "2", "3", "912", "1", ""})
	for _, key := range keys {
		got = step(text(got.JSON["state"]), string(key))
	}
	switch keys {
	case "11":
		p.decided(r, "approved")
	case "2", "912":
		p.decided(r, "rejected")
	case "3":
		p.disputed, p.request, p.player.touched = p.request, "", true
	}
	for range 1 + r.random.IntN(2) {
		body, header := signed(object{"id": m.ID, "status": one(r, []string{"completed", "completed", "busy"})}, "X-Signature-256", callSecret)
		if got, _ := r.service.call("POST", m.Receipt, "", body, header); got.Status >= 300 {
			r.fail("a report about a message is taken", "%d %s", got.Status, got.Body)
		}
	}
	return "keys " + keys
}

// chatStatuses brings the statuses of the messages by WhatsApp of this step, repeated and in any order. WhatsApp says nothing about some.
func (r *Run) chatStatuses() {
	for _, m := range slices.Clone(r.fresh()) {
		if m.Channel != "chat" || m.Ref == "" || m.told {
			continue
		}
		m.told = true
		statuses := one(r, [][]string{{"sent"}, {"sent", "delivered"}, {"delivered", "sent", "delivered", "read"}, {"failed"}, nil})
		// The service may have gone on by SMS before: a clock is ahead.
		m.Unsure = len(statuses) == 0 || statuses[0] == "failed" || r.network.triedAgain(m)
		for _, status := range statuses {
			report := object{"id": "wamid." + m.ID, "status": status, "timestamp": "1800000000", "recipient_id": m.To[1:], "biz_opaque_callback_data": m.Ref}
			if status == "failed" {
				report["errors"] = []object{{"code": 131026}}
				r.failed[m.To] = true
			}
			r.fromChat(object{"statuses": []object{report}})
		}
	}
}

// fromChat calls the service as WhatsApp does, until it answers 200. The service cannot answer a person while WhatsApp itself takes no
// messages; WhatsApp repeats its call for days, so it works again by then.
func (r *Run) fromChat(value object) {
	body, header := signed(object{"object": "whatsapp_business_account", "entry": []object{{"id": "1", "changes": []object{{"field": "messages", "value": value}}}}}, "X-Hub-Signature-256", chatSecret)
	if r.network.behaviour(chatHost) != accepts {
		got, ok := r.service.send(public, "POST", "/receipts/whatsapp", "", body, header)
		if ok && got.Status == 200 {
			return
		}
		r.network.behave(chatHost, accepts)
	}
	if got, _ := r.service.call("POST", "/receipts/whatsapp", "", body, header); got.Status != 200 {
		r.fail("a report about a message is taken", "%d %s", got.Status, got.Body)
	}
}

// stopMail ends mail to an address, with the link of a mail to it.
func stopMail(r *Run) string {
	mails := where(r.network.sent, func(m *message) bool { return m.Stop != "" && !m.Forgotten })
	if len(mails) == 0 || !r.chance(30) {
		return nothing
	}
	m := one(r, mails)
	got, _ := r.service.call("POST", m.Stop, "", url.Values{"List-Unsubscribe": {"One-Click"}})
	r.mustBe(got, "stop mail", 200, "")
	r.club.noMail[m.To] = r.clock.now
	r.failed[m.To] = true
	return m.To
}
