package main

import (
	"fmt"
	"slices"
	"time"
)

// fee is a fee in the model. Only the service knows those of a repetition; the coach reads them.
type fee struct {
	id       string
	player   *player
	title    string
	amount   int
	payments []*payment
	closed   string // waived or void
	repeats  bool
	due      time.Time
}

type payment struct {
	id       string
	amount   int
	reversed bool
}

func (f *fee) paid() (n int) {
	for _, p := range f.payments {
		if !p.reversed {
			n += p.amount
		}
	}
	return n
}

// aCoach takes a coach with a session.
func aCoach(r *Run) (*coach, *session) {
	c := one(r, r.club.coaches)
	return c, r.as(c.person, "coach")
}

// addFee adds a fee, some each month.
func addFee(r *Run) string {
	c, s := aCoach(r)
	p := one(r, r.club.of(c))
	if s == nil || p == nil {
		return nothing
	}
	f := &fee{player: p, title: fmt.Sprintf("Fee %d", len(c.fees)+1), amount: 100 * (1 + r.random.IntN(50)), repeats: r.chance(20), due: r.clock.now.AddDate(0, 0, r.random.IntN(20))}
	body := object{"player_id": p.id, "title": f.title, "amount": f.amount, "currency": "INR", "due_on": f.due.Format(time.DateOnly)}
	if f.repeats {
		body["repeat"] = object{"every": "month"}
	}
	f.id = text(r.want(s, "POST", "/api/fees", body, 201).JSON["fee_id"])
	c.fees = append(c.fees, f)
	return fmt.Sprintf("%s of %s: %d, repeats: %v", f.title, p.name, f.amount, f.repeats)
}

// aFee takes a fee of a present player.
func aFee(r *Run, keep func(*fee) bool) (*fee, *session) {
	c, s := aCoach(r)
	f := one(r, where(c.fees, func(f *fee) bool { return !f.player.removed && keep(f) }))
	return f, s
}

// pay notes a payment, also one that is too much.
func pay(r *Run) string {
	f, s := aFee(r, func(f *fee) bool { return true })
	if s == nil || f == nil {
		return nothing
	}
	amount := 1 + r.random.IntN(f.amount)
	got := r.call(s, "POST", "/api/fees/"+f.id+"/payments", object{"amount": amount, "method": "cash", "paid_on": r.clock.now.Add(-48 * hour).Format(time.DateOnly)})
	what := fmt.Sprintf("%d for %s: %d %s", amount, f.title, got.Status, got.code())
	switch balance := f.amount - f.paid(); {
	case f.closed != "" || balance == 0:
		if got.Status != 409 {
			r.fail("a payment is never above the balance", "%s: %s", what, got.Body)
		}
	case amount > balance:
		r.mustBe(got, what, 409, "payment_exceeds_balance")
	default:
		r.mustBe(got, what, 201, "")
		f.payments = append(f.payments, &payment{id: text(got.JSON["payment_id"]), amount: amount})
	}
	return what
}

// reverse takes a payment back.
func reverse(r *Run) string {
	f, s := aFee(r, func(f *fee) bool { return f.closed == "" && f.paid() > 0 })
	if s == nil || f == nil {
		return nothing
	}
	p := one(r, where(f.payments, func(p *payment) bool { return !p.reversed }))
	r.want(s, "POST", "/api/fees/"+f.id+"/payments/"+p.id+"/reverse", object{"reason": "Noted for the wrong child."}, 200)
	p.reversed = true
	return fmt.Sprintf("%d of %s", p.amount, f.title)
}

// waive waives a fee.
func waive(r *Run) string {
	f, s := aFee(r, func(f *fee) bool { return f.closed == "" && f.paid() < f.amount })
	if s == nil || f == nil {
		return nothing
	}
	r.want(s, "POST", "/api/fees/"+f.id+"/waive", object{"reason": "The sister pays already."}, 200)
	f.closed = "waived"
	return f.title
}

// writeToAll writes to all families of a coach.
func writeToAll(r *Run) string {
	c, s := aCoach(r)
	if s == nil || len(r.club.of(c)) == 0 {
		return nothing
	}
	got := r.call(s, "POST", "/api/messages", object{"to": object{"all": true}, "audience": one(r, []string{"guardian", "student", "both"}), "text": "No training on Friday: the ground is closed.", "channels": one(r, [][]string{{"sms", "in_app"}, {"sms", "in_app"}, {"chat", "sms"}, {"chat"}})})
	if got.Status != 201 && got.Status != 429 && got.Status != 422 {
		r.mustBe(got, "write to all", 201, "")
	}
	return fmt.Sprintf("%s: %d %s", c.name, got.Status, got.code())
}

// noteProgress adds a measurement. Those who approved are told.
func noteProgress(r *Run) string {
	c, s := aCoach(r)
	p := one(r, r.club.of(c))
	if s == nil || p == nil {
		return nothing
	}
	r.want(s, "POST", "/api/players/"+p.id+"/progress", object{"metric": "80 m sprint", "value": 12.4, "unit": "s", "on": r.clock.now.Add(-48 * hour).Format(time.DateOnly)}, 201)
	return p.name
}

// changeNumber gives a coach another number: the sessions of the old one end, links and history stay.
func changeNumber(r *Run) string {
	c, s := aCoach(r)
	if s == nil {
		return nothing
	}
	r.club.numbers++
	number := fmt.Sprintf("+9198100%05d", r.club.numbers)
	otp := r.code(c.number, "coach")
	next := r.code(number, "coach")
	if otp == "" || next == "" {
		return noSession
	}
	got, retried := r.service.call("POST", "/auth/change-number", s.access, object{"otp": otp, "new_mobile_number": number, "new_otp": next})
	if got.Status != 200 {
		if r.clock.now.After(s.ends) || retried {
			return "too late"
		}
		r.mustBe(got, "change the number", 200, "")
	}
	old := c.person
	c.person = r.club.person(number)
	c.person.sessions = old.sessions
	for _, s := range c.person.sessions {
		s.person = c.person
	}
	old.sessions = map[string]*session{}
	return c.name
}

// coachLeaves closes the account of a coach, who registers again later with the same number, as another account.
func coachLeaves(r *Run) string {
	c, s := aCoach(r)
	if s == nil || !r.chance(30) {
		return nothing
	}
	otp := r.code(c.number, "coach")
	if otp == "" {
		return noSession
	}
	got, retried := r.service.call("DELETE", "/api/me", s.access, object{"otp": otp})
	if !retried || got.Status != 401 {
		r.mustBe(got, "close the account of a coach", 204, "")
	}
	if r.night != nil {
		r.night.left = append(r.night.left, leaving{c.name, "coach"})
	}
	r.coachLeft(slices.Index(r.club.coaches, c))
	return c.name
}

// coachLeft notes that a coach closed the account, and registers the same number again.
func (r *Run) coachLeft(i int) {
	c := r.club.coaches[i]
	for _, p := range r.club.of(c) {
		p.removed = true
	}
	c.person.sessions = map[string]*session{}
	r.club.coaches[i] = &coach{person: c.person, name: coachName(r), known: map[string]bool{}}
	r.clock.advance(61 * time.Second)
	r.club.coaches[i].register(r)
}
