package main

import (
	"fmt"
	"slices"
)

// rule is something that always holds. Its name is a sentence of the specification or the contract.
type rule struct {
	name  string
	when  frequency
	check func(r *Run, broken func(format string, values ...any))
}

type frequency int

const (
	cheap frequency = iota // after each step
	daily                  // at midnight
)

var rules = []rule{
	{"each party has the status of its own decisions", daily, statuses},
	{"every approval, rejection and revocation is recorded in the history, once and in order", daily, histories},
	{"app services work for a party exactly while it has approved; chat and SMS always", daily, availability},
}

// check checks the rules of a frequency.
func (r *Run) check(when frequency) {
	for _, rule := range rules {
		if rule.when == when {
			rule.check(r, func(format string, values ...any) { r.fail(rule.name, format, values...) })
		}
	}
}

func statuses(r *Run, broken func(string, ...any)) {
	r.eachPlayer(func(p *player, s *session) {
		got := r.want(s, "GET", "/api/players/approval-status/"+p.id, nil, 200)
		for _, party := range p.parties {
			if status, state := text(got.JSON[party.role+"_status"]), text(got.JSON[party.role+"_state"]); status != party.status() || state != party.state {
				broken("%s is %s, %s; want %s, %s", party, status, state, party.status(), party.state)
			}
		}
	})
}

func histories(r *Run, broken func(string, ...any)) {
	r.eachPlayer(func(p *player, s *session) {
		got := r.want(s, "GET", "/api/players/approval-status/"+p.id, nil, 200)
		for _, party := range p.parties {
			var actions []string
			for _, h := range items(got.JSON["history"]) {
				if text(h["approver_type"]) == party.role {
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
		want := map[string]bool{"chat_enabled": true, "sms_enabled": true}
		for _, party := range p.parties {
			want[party.role+"_app_enabled"] = party.state == "approved"
		}
		for field, on := range want {
			if got.JSON[field] != on {
				broken("%s: %s is %v, want %v", p.name, field, got.JSON[field], on)
			}
		}
	})
}

// eachPlayer calls fn with each player and its coach's session.
func (r *Run) eachPlayer(fn func(p *player, s *session)) {
	for _, p := range r.club.present() {
		if s := r.as(p.coach.person, "coach"); s != nil {
			fn(p, s)
		}
	}
}

var _ = fmt.Sprint
