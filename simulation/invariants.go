package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
)

// rule is something that always holds. Its name is a sentence of the specification or of the contract.
type rule struct {
	name  string
	when  frequency
	check func(r *Run, broken func(format string, values ...any))
}

type frequency int

const (
	cheap  frequency = iota // after each step
	daily                   // at midnight
	weekly                  // each Sunday
)

// rules are the specification and the contract, as far as a run can see them. A rule looks at what the service answers and at what the
// providers got, and compares it with the model (club.go). It knows nothing of the code.
var rules = []rule{
	// Specification, sections 2 and 3.
	{"each party has the status of its decisions; each decision is in the history once, in order", daily, consents},
	{"app services work for a party exactly while it has approved; chat and SMS always", daily, availability},
	{"pending approvals list each pending party once", daily, pendingApprovals},

	// Section 8 and contract, section 2a: what may be sent to whom, and when.
	{"each question leaves by SMS at most once for each time that it was asked or reminded", cheap, questions},
	{"a message leaves once, or the service does not know that it left", cheap, once},
	{"one number gets at most 6 SMS about approvals from a coach in 24 h, and 20 from all", daily, perNumber},
	{"SMS cost at most the budget of a day; messages that are no codes stop at 80 %", daily, budget},
	{"no message arrives in a person's quiet hours", cheap, quiet},
	{"a number that stopped a coach gets nothing more from that coach", cheap, stops},
	{"an address that stopped mail gets no more", cheap, mails},
	{"a call with a question rings from 9 to 20 o'clock", cheap, calls},
	{"a party that never approved gets at most 2 messages of a coach in a week", daily, strangers},
	{"app services send nothing to a party that has not approved", cheap, pushes},
	{"the coach is reminded of pending requests at most every 3 days", weekly, digests},

	// Contract, sections 5, 8, 9 and 12.
	{"the sum of a fee is what is paid and what is left; a fee of each month is made once", daily, money},
	{"the feed has every change once, without a gap, in the order of each player", daily, feed},
	{"a webhook gets every change", daily, hooks},
	{"each answer has one record", weekly, receipts},
	{"nothing of an erased number is left in the database", weekly, erased},
}

// check checks the rules of a frequency.
func (r *Run) check(when frequency) {
	for _, rule := range rules {
		if rule.when == when {
			rule.check(r, func(format string, values ...any) { r.fail(rule.name, format, values...) })
		}
	}
}

func consents(r *Run, broken func(string, ...any)) {
	r.eachPlayer(func(p *player, s *session) {
		got := r.want(s, "GET", "/api/players/approval-status/"+p.id, nil, 200)
		for _, party := range p.parties {
			is := party.in(got)
			if text(is["status"]) != party.status() || text(is["state"]) != party.state || text(is["request_id"]) != party.request {
				broken("%s is %s, %s, request %q; want %s, %s, %q", party, is["status"], is["state"], text(is["request_id"]), party.status(), party.state, party.request)
			}
			var actions []string
			for _, h := range items(got.JSON["history"]) {
				if text(h["approver_type"]) == party.role && text(h["guardian_id"]) == party.id {
					actions = append(actions, text(h["action"]))
				}
			}
			if !slices.Equal(actions, party.history) {
				broken("%s: the history is %v, want %v", party, actions, party.history)
			}
		}
	})
}

func availability(r *Run, broken func(string, ...any)) {
	r.eachPlayer(func(p *player, s *session) {
		got := r.want(s, "GET", "/api/services/availability/"+p.id, nil, 200)
		want := map[string]bool{"chat_enabled": true, "sms_enabled": true, "guardian_app_enabled": false}
		want["student_app_enabled"] = p.student().state == "approved"
		if p.parties[0].first {
			want["guardian_app_enabled"] = p.parties[0].state == "approved"
		}
		for field, on := range want {
			if got.JSON[field] != on {
				broken("%s: %s is %v, want %v: %s", p.name, field, got.JSON[field], on, got.Body)
			}
		}
		for _, g := range items(got.JSON["guardians"]) {
			for _, party := range p.parties {
				if party.id == text(g["guardian_id"]) && g["app_enabled"] != (party.state == "approved") {
					broken("%s: app_enabled is %v, but the state is %s", party, g["app_enabled"], party.state)
				}
			}
		}
	})
}

func pendingApprovals(r *Run, broken func(string, ...any)) {
	for _, c := range r.club.coaches {
		s := r.as(c.person, "coach")
		if s == nil {
			continue
		}
		var want, listed []string
		names := map[string]string{}
		for _, p := range r.club.of(c) {
			if turns := p.birthday.AddDate(18, 0, 0); turns.Sub(r.clock.now).Abs() <= maxSkew {
				return // the process may not know yet
			}
			for _, party := range p.parties {
				names[p.id+party.role+party.id] = fmt.Sprintf("%s, born %s, request %q", party, p.birthday.Format(time.DateOnly), party.request)
				if party.state == "pending" && (party.role == "student" || party.request != "" || !p.adult(r.clock.now)) {
					want = append(want, p.id+party.role+party.id)
				}
			}
		}
		r.pages(s, "/api/coach/pending-approvals?limit=200", func(i object) {
			listed = append(listed, text(i["player_id"])+text(i["approver_type"])+text(i["guardian_id"]))
		})
		slices.Sort(want)
		slices.Sort(listed)
		if !slices.Equal(want, listed) {
			for key, name := range names {
				if slices.Contains(want, key) != slices.Contains(listed, key) {
					broken("%s: listed %v, pending %v", name, slices.Contains(listed, key), slices.Contains(want, key))
				}
			}
			broken("%s has %d, want %d", c.name, len(listed), len(want))
		}
	}
}

// question reports whether an SMS asks for an approval: it has a link.
func (m *message) question() bool { return m.Channel == "sms" && strings.Contains(m.Text, "/a/") }

// by reports whether a message is of a coach: each has another name.
func (m *message) by(c *coach) bool { return m.Kind != "otp" && strings.Contains(m.Text, c.name) }

func questions(r *Run, broken func(string, ...any)) {
	for _, m := range r.fresh() {
		if m.question() && m.Earlier == nil {
			if r.questions[m.To]++; r.questions[m.To] > r.asks[m.To] {
				broken("%s got %d, and was asked %d times: %s", m.To, r.questions[m.To], r.asks[m.To], m.Text)
			}
		}
	}
}

func once(r *Run, broken func(string, ...any)) {
	for _, m := range r.fresh() {
		if m.Again {
			broken("%s got %q by %s at %s and by %s at %s", m.To, m.Text, m.Earlier.Channel, m.Earlier.At, m.Channel, m.At)
		}
	}
}

func perNumber(r *Run, broken func(string, ...any)) {
	for _, m := range r.today() {
		if !m.question() {
			continue
		}
		for _, c := range r.club.coaches {
			n := r.counted(m, func(o *message) int { return toInt(o.To == m.To && o.question() && o.by(c)) * o.segments() })
			if m.by(c) && n > max(6, m.segments()) {
				broken("%s got %d from %s", m.To, n, c.name)
			}
		}
		if n := r.counted(m, func(o *message) int { return toInt(o.To == m.To && o.question()) * o.segments() }); n > 20 {
			broken("%s got %d", m.To, n)
		}
	}
}

func budget(r *Run, broken func(string, ...any)) {
	if r.clock.now.Sub(r.network.smsFailed) < 72*hour {
		return // what waits for a gateway was counted before, and leaves with what is counted now
	}
	for _, m := range r.today() {
		spent := pricePaise * r.counted(m, (*message).segments)
		if limit := budgetPaise; spent > limit {
			broken("%d paise at %s, want at most %d", spent, m.At, limit)
		}
		if m.Kind == "otp" || m.Channel != "sms" {
			continue
		}
		// A process may end after it counted the message and before it sent it: codes since do not count.
		spent = pricePaise * r.counted(m, func(o *message) int {
			return toInt(o.Kind != "otp" || o.Tried.Before(m.created())) * o.segments()
		})
		if limit := budgetPaise * 8 / 10; spent > limit {
			broken("%d paise with a message that is no code, at %s; want at most %d: %q", spent, m.At, limit, m.Text)
		}
	}
}

func quiet(r *Run, broken func(string, ...any)) {
	for i, m := range r.fresh() {
		night := func(at time.Time) bool { return at.Hour() >= 21 || at.Hour() < 8 }
		if m.question() && night(m.At.Add(-maxSkew)) && night(m.At.Add(maxSkew)) && r.club.person(m.To).quiet && r.club.uses(m.To) && r.stepFrom+i >= r.club.person(m.To).since {
			broken("%s got %q at %s", m.To, m.Text, m.At.Format(time.TimeOnly))
		}
	}
}

func stops(r *Run, broken func(string, ...any)) {
	for _, m := range r.fresh() {
		for _, s := range r.club.stopped {
			if s.number == m.To && m.by(s.coach) && m.At.After(s.at) && slices.Contains(r.club.coaches, s.coach) {
				broken("%s stopped %s at %s and got %q at %s", m.To, s.coach.name, s.at, m.Text, m.At)
			}
		}
	}
}

func mails(r *Run, broken func(string, ...any)) {
	for _, m := range r.fresh() {
		if at := r.club.noMail[m.To]; m.Channel == "mail" && !at.IsZero() && m.At.After(at) {
			broken("%s stopped mail at %s and got one at %s: %s", m.To, at, m.At, m.Text)
		}
	}
}

func calls(r *Run, broken func(string, ...any)) {
	for _, m := range r.fresh() {
		at := m.At
		if !r.club.person(m.To).utc {
			at = at.Add(5*hour + 30*time.Minute) // India
		}
		early, late := at.Add(maxSkew).Hour() < 9, at.Add(-maxSkew).Hour() >= 20
		if m.Channel == "voice" && (early || late) {
			broken("%s was called at %s of its day", m.To, at.Format(time.TimeOnly))
		}
	}
}

func strangers(r *Run, broken func(string, ...any)) {
	for _, m := range r.today() {
		for _, c := range r.club.coaches {
			if !m.by(c) || !strings.Contains(m.Text, "No training on Friday") {
				continue
			}
			// The service counts from when the coach wrote. A message can wait for a limit or a gateway for days; an SMS in place of
			// a chat is made up to a day later.
			n := r.within(m, 10*24*hour, func(o *message) int {
				return toInt(m.created().Sub(o.created()).Abs() < 6*24*hour && o.To == m.To && o.by(c) && strings.Contains(o.Text, "No training on Friday"))
			})
			if !c.known[m.To] && n > 2 {
				broken("%s got %d from %s", m.To, n, c.name)
			}
		}
	}
}

func pushes(r *Run, broken func(string, ...any)) {
	all := r.network.loopback.pushes
	for _, m := range all[r.pushes:] {
		service := strings.HasPrefix(m.title, "New progress") || strings.HasPrefix(m.title, "A fee to pay")
		approved := slices.ContainsFunc(r.club.parties(anyone), func(p *party) bool {
			return p.number == m.number && p.role == m.role && p.state == "approved" && strings.Contains(m.title, p.player.name)
		})
		if service && !approved {
			broken("%s of %s got %q", m.role, m.number, m.title)
		}
	}
	r.pushes = len(all)
}

func digests(r *Run, broken func(string, ...any)) {
	for _, c := range r.club.coaches {
		s := r.as(c.person, "coach")
		if s == nil {
			continue
		}
		var last time.Time
		r.pages(s, "/api/notifications?limit=200", func(n object) {
			at, _ := time.Parse(time.RFC3339, text(n["created_at"]))
			if text(n["type"]) != "pending_reminder" {
				return
			}
			if !last.IsZero() && last.Sub(at) < 72*hour {
				broken("%s was reminded at %s and at %s", c.name, at, last)
			}
			last = at
		})
	}
}

func money(r *Run, broken func(string, ...any)) {
	for _, c := range r.club.coaches {
		s := r.as(c.person, "coach")
		if s == nil {
			continue
		}
		fees, months := map[string]object{}, map[string]int{}
		r.pages(s, "/api/fees?limit=200", func(f object) {
			fees[text(f["fee_id"])] = f
			if series := text(f["series_id"]); series != "" {
				if months[series+text(f["due_on"])]++; months[series+text(f["due_on"])] > 1 {
					broken("%s has two fees %s of %s", f["student_name"], f["title"], f["due_on"])
				}
			}
		})
		for _, f := range c.fees {
			got := fees[f.id]
			if f.player.removed || got == nil && f.closed != "" {
				continue
			}
			balance := f.amount - f.paid()
			if f.closed != "" {
				balance = 0
			}
			if got["paid"] != float64(f.paid()) || got["balance"] != float64(balance) {
				broken("%s of %s: paid %v, balance %v; want %d, %d", f.title, f.player.name, got["paid"], got["balance"], f.paid(), balance)
			}
		}
	}
}

// feed reads the changes since the last time.
func feed(r *Run, broken func(string, ...any)) {
	for {
		got, _ := r.service.send(admin, "GET", "/api/services/changes?limit=200&cursor="+r.club.cursor, r.club.token, nil)
		if got == nil || r.clock.now.Sub(start) > operator.MaxDays*24*hour { // its token has ended
			return
		}
		if got.Status != 200 {
			broken("%d %s", got.Status, got.Body)
		}
		changes := items(got.JSON["items"])
		for _, change := range changes {
			id := text(change["player_id"])
			if want := float64(len(r.club.feed[id]) + 1); change["sequence"] != want {
				broken("a change of %s has the sequence %v, want %v", id, change["sequence"], want)
			}
			r.club.feed[id] = append(r.club.feed[id], change)
		}
		r.club.cursor = text(got.JSON["next_cursor"])
		if len(changes) == 0 {
			break
		}
	}
	for _, p := range r.club.present() {
		counts, last := map[string]int{}, object{}
		for _, change := range r.club.feed[p.id] {
			counts[text(change["type"])+text(change["party"])+text(change["guardian_id"])]++
			last = change
		}
		for _, party := range p.parties {
			for _, action := range []string{"approved", "rejected", "revoked"} {
				want := len(where(party.history, func(a string) bool { return a == action }))
				if n := counts[action+party.role+party.id]; n != want {
					broken("%s: %s %d times, want %d", party, action, n, want)
				}
			}
		}
		if s := p.student(); text(last["student_status"]) != s.status() {
			broken("%s is %s in the newest change, want %s", s, last["student_status"], s.status())
		}
	}
}

func hooks(r *Run, broken func(string, ...any)) {
	if r.network.loopback.failing || r.hookFailed {
		return
	}
	for id, changes := range r.club.feed {
		for i := range changes {
			if !r.network.loopback.hook[id][i+1] {
				broken("change %d of %s did not arrive", i+1, id)
			}
		}
	}
}

func receipts(r *Run, broken func(string, ...any)) {
	for _, party := range r.club.parties(func(p *party) bool { return !p.moved && len(p.history) > 0 && r.random.IntN(4) == 0 }) {
		s := r.club.person(party.number).sessions[party.role]
		if s == nil || !r.clock.now.Before(s.ends) {
			continue
		}
		var answers []string
		r.pages(s, "/api/me/receipts?limit=200", func(o object) {
			if text(o["player_id"]) == party.player.id && slices.Contains([]string{"approved", "rejected", "revoked"}, text(o["event"])) {
				answers = append(answers, text(o["event"]))
			}
		})
		slices.Reverse(answers)
		if !slices.Equal(answers, party.history) {
			broken("%s: records %v, want %v", party, answers, party.history)
		}
	}
}

func erased(r *Run, broken func(string, ...any)) {
	if r.service.databaseFile() == "" {
		return
	}
	file, _ := os.ReadFile(r.service.databaseFile())
	log, _ := os.ReadFile(r.service.databaseFile() + "-wal") // there may be none
	var left []string                                        // also in unused space of a page, after SQLite moved rows
	for number, at := range r.club.erased {
		if r.clock.now.Sub(at) >= 26*hour && (bytes.Contains(file, []byte(number)) || bytes.Contains(log, []byte(number))) { // the limits on codes keep it for 26 hours
			left = append(left, number)
		}
	}
	if len(left) == 0 {
		return
	}
	for number, tables := range r.service.tablesWith(left) {
		broken("%s, erased at %s, is in %v", number, r.club.erased[number], tables)
	}
}
