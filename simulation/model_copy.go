package main

import (
	"maps"
	"slices"
)

// copy returns a copy of the model in which no person is signed in. What only grows is shared.
func (c *club) copy() *club {
	n := *c
	n.persons, n.erased, n.noMail, n.feed = map[string]*person{}, maps.Clone(c.erased), maps.Clone(c.noMail), map[string][]map[string]any{}
	for number, p := range c.persons {
		n.persons[number] = &person{number: number, sessions: map[string]*session{}, quiet: p.quiet, since: p.since, wrong: slices.Clip(p.wrong), roles: maps.Clone(p.roles), minor: p.minor, utc: p.utc}
	}
	for id, changes := range c.feed {
		n.feed[id] = slices.Clip(changes)
	}
	coaches, players := map[*coach]*coach{}, map[*player]*player{}
	copyOf := func(c *coach) *coach {
		if coaches[c] == nil {
			coaches[c] = &coach{person: n.person(c.number), name: c.name, registered: c.registered, known: maps.Clone(c.known)}
		}
		return coaches[c]
	}
	n.coaches, n.players, n.stopped = nil, nil, nil
	for _, old := range c.coaches {
		n.coaches = append(n.coaches, copyOf(old))
	}
	for _, old := range c.players {
		p := *old
		p.coach, p.parties = copyOf(old.coach), nil
		for _, o := range old.parties {
			party := *o
			party.player, party.history, party.reminded = &p, slices.Clip(o.history), slices.Clip(o.reminded)
			p.parties = append(p.parties, &party)
		}
		players[old] = &p
		n.players = append(n.players, &p)
	}
	for _, old := range c.coaches {
		for _, f := range old.fees {
			fee := *f
			fee.player, fee.payments = players[f.player], nil
			for _, p := range f.payments {
				payment := *p
				fee.payments = append(fee.payments, &payment)
			}
			coaches[old].fees = append(coaches[old].fees, &fee)
		}
	}
	for _, s := range c.stopped {
		n.stopped = append(n.stopped, stop{s.number, copyOf(s.coach), s.at})
	}
	return &n
}
