package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// NewPlayer returns a new player, as Service.Add makes it, and what opens its first requests.
func NewPlayer(by actor.Actor, student Student, guardian *Person, rules Rules, op Operation) (*Player, func(Roster) (Change, error), error) {
	var guardians []Person
	if guardian != nil {
		guardians = []Person{*guardian}
	}
	p, err := newPlayer(by, student, guardians, rules, op)
	return p, func(roster Roster) (Change, error) { return p.openFirstRequests(rules, op, roster) }, err
}

// EndGuardianAlone is what Service.TurnAdults does last.
func (p *Player) EndGuardianAlone(op Operation) Change { return p.endGuardianAlone(op) }

// AdultStepAt returns when a step of a person born on d is due.
func (d Date) AdultStepAt(step AdultStep, zone *time.Location) time.Time {
	return d.adultStepAt(step, zone)
}

// FirstAdultStep returns the first step of a person born on d after now.
func (d Date) FirstAdultStep(now time.Time) (AdultStep, time.Time) { return d.firstAdultStep(now) }
