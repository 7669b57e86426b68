package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/store"
)

// place notes what becomes of it.
type place struct {
	sent  []notify.Delivery
	with  []*auth.Challenge
	freed int
}

func (p *place) Lease() (string, time.Duration) { return "ours", time.Minute }
func (p *place) Free()                          { p.freed++ }

func (p *place) Send(d notify.Delivery, c *auth.Challenge) {
	p.sent, p.with = append(p.sent, d), append(p.with, c)
}

func (p *pitch) opening(role actor.Role) auth.Opening {
	now := p.clock.Now()
	slot := auth.Slot{Number: number(60), Role: role}
	return auth.Opening{
		Fresh:    auth.Challenge{Slot: slot, ID: p.db.NewID(), Code: []byte("sealed"), SentAt: now, EndsAt: now.Add(time.Hour)},
		MaxTries: 5, SentBefore: now.Add(-time.Minute),
	}
}

// With a place an OTP is queued as claimed, and handed over after the commit;
// whoever holds it for longer than the lease loses it to the next claim.
func TestPlace(t *testing.T) {
	onPitch(t, func(p *pitch) {
		place := new(place)
		p.db.Reserve = func() store.Place { return place }
		o := p.opening(actor.Coach)
		_, err := p.db.OpenChallenge(bg, o)
		ok(p, err)
		if len(place.sent) != 1 || place.freed != 1 || p.queued.Load() != 0 {
			p.Fatalf("sent %d, freed %d, woken %d", len(place.sent), place.freed, p.queued.Load())
		}
		d, c := place.sent[0], place.with[0]
		if c == nil || c.ID != o.Fresh.ID || string(c.Code) != "sealed" || !c.EndsAt.Equal(o.Fresh.EndsAt) {
			p.Errorf("the challenge came as %+v", c)
		}
		claim := func(lease string) []notify.Delivery {
			all, err := p.db.ClaimDeliveries(bg, notify.OTP, lease, p.clock.Now().Add(time.Minute), 10)
			ok(p, err)
			return all
		}
		p.clock.advance(time.Minute - time.Second)
		if others := claim("theirs"); len(others) > 0 {
			p.Errorf("%v was claimed twice", others)
		}
		p.clock.advance(time.Second)
		others := claim("theirs")
		want := d
		want.Lease, want.Attempts = "theirs", 2
		if len(others) != 1 || others[0] != want {
			p.Fatalf("after the lease %+v were claimed, want %+v", others, want)
		}
		ok(p, p.db.DeliverySent(bg, d))
		if n := p.count(`SELECT count(*) FROM deliveries WHERE state = 'queued'`); n != 1 {
			p.Error("who had lost the lease finished")
		}
		ok(p, p.db.DeliverySent(bg, others[0]))
		if n := p.count(`SELECT count(*) FROM deliveries WHERE state = 'sent'`); n != 1 {
			p.Error("who held the lease did not finish")
		}
	})
}

// A resend hands over the code that lives, not the one that was just drawn.
func TestPlaceOfResend(t *testing.T) {
	onPitch(t, func(p *pitch) {
		place := new(place)
		p.db.Reserve = func() store.Place { return place }
		first := p.opening(actor.Coach)
		_, err := p.db.OpenChallenge(bg, first)
		ok(p, err)
		p.clock.advance(2 * time.Minute)
		again := p.opening(actor.Coach)
		again.Fresh.Code = []byte("another")
		_, err = p.db.OpenChallenge(bg, again)
		ok(p, err)
		if c := place.with[1]; c.ID != first.Fresh.ID || string(c.Code) != "sealed" || place.sent[1].ChallengeID != c.ID {
			p.Errorf("sent again: %+v", c)
		}
	})
}

// Whether a number is a guardian is asked by the worker, after the answer.
func TestPlaceOfGuardian(t *testing.T) {
	onPitch(t, func(p *pitch) {
		place := new(place)
		p.db.Reserve = func() store.Place { return place }
		_, err := p.db.OpenChallenge(bg, p.opening(actor.Guardian))
		ok(p, err)
		if len(place.sent) != 1 || place.with[0] != nil {
			p.Errorf("%d were sent, with %v", len(place.sent), place.with)
		}
	})
}

// Where nothing is queued the place is given back, and where there is none the
// OTP waits to be claimed.
func TestPlaceUnused(t *testing.T) {
	onPitch(t, func(p *pitch) {
		place := new(place)
		p.db.Reserve = func() store.Place { return place }
		o := p.opening(actor.Coach)
		o.Quiet = true
		_, err := p.db.OpenChallenge(bg, o)
		ok(p, err)
		_, err = p.db.OpenChallenge(bg, o)
		if _, soon := errors.AsType[auth.TooSoon](err); !soon {
			p.Errorf("%v, want too soon", err)
		}
		if len(place.sent) != 0 || place.freed != 2 {
			p.Errorf("sent %d, freed %d", len(place.sent), place.freed)
		}
		p.db.Reserve = func() store.Place { return nil }
		p.clock.advance(2 * time.Hour)
		_, err = p.db.OpenChallenge(bg, p.opening(actor.Coach))
		ok(p, err)
		all, err := p.db.ClaimDeliveries(bg, notify.OTP, "theirs", p.clock.Now().Add(time.Minute), 10)
		ok(p, err)
		if len(all) != 1 || all[0].Attempts != 1 || p.queued.Load() != 1 {
			p.Errorf("claimed %+v, woken %d", all, p.queued.Load())
		}
	})
}
