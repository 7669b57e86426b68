package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// AddPlayer returns a new player and what opens its first requests.
func AddPlayer(by actor.Actor, student Student, guardian *Person, rules Rules, op Operation) (*Player, func(Roster) (Change, error), error) {
	var guardians []Person
	if guardian != nil {
		guardians = []Person{*guardian}
	}
	p, err := NewPlayer(by, student, guardians, rules, op)
	return p, func(roster Roster) (Change, error) { return p.OpenFirstRequests(rules, op, roster) }, err
}

// AdultStepAt returns when a step of a person born on d is due.
func (d Date) AdultStepAt(step AdultStep, zone *time.Location) time.Time {
	return d.adultStepAt(step, zone)
}
