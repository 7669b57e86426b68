package approval

import "github.com/touchline/touchline/internal/platform/actor"

// NewPlayer returns a new player, as Service.Add makes it, and what opens its first requests.
func NewPlayer(by actor.Actor, student Student, guardian *Guardian, rules Rules, op Operation) (*Player, func(Roster) (Change, error), error) {
	p, err := newPlayer(by, student, guardian, rules, op)
	return p, func(roster Roster) (Change, error) { return p.openFirstRequests(rules, op, roster) }, err
}
