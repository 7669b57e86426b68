package api

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
)

// Wire gives the tests what one caller reads.
type Wire struct{ view }

// NewWire returns what by reads at now.
func NewWire(by actor.Actor, rules approval.Rules, now time.Time) Wire {
	return Wire{view{by, rules, now}}
}

func (w Wire) Player(p *approval.Player) any                      { return w.player(p) }
func (w Wire) MyPlayer(p *approval.Player) any                    { return w.myPlayer(p) }
func (w Wire) Request(r *approval.Request) any                    { return w.request(r) }
func (w Wire) Reminder(r *approval.Request, left int) any         { return reminderAnswer{w.request(r), left} }
func (w Wire) Status(p *approval.Player, h []approval.Record) any { return w.status(p, h) }
func (w Wire) Pending(i approval.PendingItem) any                 { return w.pending(i) }
func AvailabilityJSON(a approval.Availability) []byte             { return availabilityJSON(a) }
