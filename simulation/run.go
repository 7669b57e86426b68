package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"
)

// stepsPerDay is how many actions a day has.
const stepsPerDay = 8

// Config says what a run does. The same Config makes the same run.
type Config struct {
	Seed uint64
	Days int
	// Database is the URL of PostgreSQL; empty is SQLite in memory.
	Database string
	// Calm leaves out the faults.
	Calm bool
	// Skip has the steps without an action, for shrink.
	Skip  map[int]bool
	Trace io.Writer
}

// Result is what a run ends with.
type Result struct {
	Steps     int
	Hash      string // of the trace
	Violation *Violation
}

// Violation is a rule that the service broke.
type Violation struct {
	Rule string // the name in invariants.go
	Step int
	Text string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("step %d breaks %q: %s", v.Step, v.Rule, v.Text)
}

// Run is one run of the simulation.
type Run struct {
	Config
	// random decides what the current step does. Each step has its own numbers, so that shrink can leave out others.
	random  *rand.Rand
	step    int
	clock   *clock
	network *network
	service *service
	club    *club
	hash    hash.Hash
	sunday  bool

	// What the rules have seen: messages before the step and the day, pushes, questions and what allowed them by number.
	stepFrom, dayFrom, pushes int
	questions, asks           map[string]int
	// failed has the numbers to which a message failed for good; everHeld says that messages may have left later than they were asked for.
	failed     map[string]bool
	everHeld   bool
	hookFailed bool
	// night is the last night of which there is a backup, or nil.
	night *night
}

// start is a Monday. The seed does not choose it: birthdays and months are always at the same distance.
var start = time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC)

// Simulate runs the club for c.Days.
func Simulate(c Config) (result Result) {
	debug.SetGCPercent(400) // memory is not scarce here
	r := &Run{Config: c, clock: &clock{now: start}, hash: sha256.New(), asks: map[string]int{}, questions: map[string]int{}, failed: map[string]bool{}}
	r.seed(-1)
	killer.reset()
	r.network = newNetwork(r)
	defer r.network.close()
	r.service = newService(r)
	defer r.service.remove()
	defer func() {
		result.Steps, result.Hash = r.step, hex.EncodeToString(r.hash.Sum(nil))[:16]
		switch v := recover().(type) {
		case nil:
		case *Violation:
			result.Violation = v
		default:
			panic(v)
		}
	}()
	r.service.start(0)
	newClub(r)
	r.service.connectOthers()
	for day := range c.Days {
		r.day(day)
	}
	return result
}

// seed makes the random numbers of a step.
func (r *Run) seed(step int) { r.random = rand.New(rand.NewPCG(r.Seed, uint64(step+1))) }

// day runs the steps of a day at random minutes, and then the checks of the day.
func (r *Run) day(day int) {
	midnight := start.AddDate(0, 0, day)
	r.seed(-2 - day)
	var minutes []int
	for range stepsPerDay {
		minutes = append(minutes, r.random.IntN(24*60-1))
	}
	slices.Sort(minutes)
	for _, minute := range minutes {
		r.clock.moveTo(midnight.Add(time.Duration(minute) * time.Minute))
		r.seed(r.step)
		if !r.Skip[r.step] {
			r.act()
		}
		r.step++
	}
	r.clock.moveTo(midnight.AddDate(0, 0, 1))
	r.sunday = day%7 == 6
	r.stepFrom = len(r.network.sent)
	if r.sunday {
		r.work(24 * hour)
	} else {
		r.work(hour / 2) // without the comparison of each approval with its records
	}
	r.network.settle(false)
	r.endUnanswered()
	r.check(cheap)
	r.check(daily)
	if r.sunday {
		r.check(weekly)
	}
	for _, p := range r.club.players {
		p.touched = false
	}
	r.tracef("day %d: %s", day+1, r.network.take())
	r.dayFrom = len(r.network.sent)
	r.keepNight(day)
}

// act does one action, lets the worker work, and checks what is cheap.
func (r *Run) act() {
	r.stepFrom = len(r.network.sent)
	r.service.arm()
	a := r.choose()
	what := a.do(r)
	r.work(time.Minute)
	r.chatStatuses()
	r.service.disarm()
	r.tracef("%s %d %s: %s; %s", r.clock.now.Format(time.DateTime), r.step, a.name, what, r.network.take())
	r.check(cheap)
}

// work lets the worker do what is due, and the model what follows from the time alone: 30 days after the 18th birthday a guardian's approval
// from before that day ends, unless the student has approved.
func (r *Run) work(longest time.Duration) {
	r.service.work(longest)
	if longest < time.Minute {
		return // it turned no student into an adult
	}
	for _, p := range r.club.present() {
		morning := p.birthday.AddDate(18, 0, 0).Add(3*hour + 30*time.Minute) // 9:00 in India
		switch now := r.clock.now; {
		case p.grown || now.Before(morning):
		case p.turned.IsZero():
			p.turned, p.touched = now, true
		case now.Sub(p.turned) >= 30*24*hour:
			p.grown = true
			for _, g := range p.parties {
				if g.role == "guardian" && g.state == "approved" && g.changed.Before(p.birthday.AddDate(18, 0, 0)) && p.student().state != "approved" {
					g.becomes(r, "pending")
				}
			}
		}
	}
}

// unansweredFor is how long a family may not answer before the player is removed, with a warning before.
const unansweredFor = 180 * 24 * hour

// endUnanswered notes the players whom the service removed because no party answered.
func (r *Run) endUnanswered() {
	for _, p := range r.club.present() {
		since := p.unanswered()
		open := r.clock.now.Sub(since)
		if since.IsZero() || open < unansweredFor-2*maxSkew {
			continue
		}
		s := r.as(p.coach.person, "coach")
		if s == nil {
			continue
		}
		got := r.call(s, "GET", "/api/players/"+p.id, nil)
		if p.removed = got.Status == 404; !p.removed && open > unansweredFor+20*24*hour && r.clock.now.Sub(p.fewer) > 20*24*hour {
			r.fail("a player whose family has not answered for 180 days is removed", "%s, since %s", p.name, since)
		}
	}
}

// choose takes an action, by weight.
func (r *Run) choose() action {
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	n := r.random.IntN(total)
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			return a
		}
	}
	panic("unreachable")
}

// tracef adds a line to the trace. It must not contain ids, codes and tokens, which are random.
func (r *Run) tracef(format string, values ...any) {
	line := fmt.Sprintf(format, values...) + "\n"
	_, _ = io.WriteString(r.hash, line) // never fails
	if r.Trace != nil {
		_, _ = io.WriteString(r.Trace, line)
	}
}

// fail ends the run.
func (r *Run) fail(rule, format string, values ...any) {
	panic(&Violation{Rule: rule, Step: r.step, Text: fmt.Sprintf(format, values...)})
}

// chance is true n times in 100.
func (r *Run) chance(n int) bool { return r.random.IntN(100) < n }

// one takes an element, or the zero value of none.
func one[T any](r *Run, all []T) (v T) {
	if len(all) > 0 {
		v = all[r.random.IntN(len(all))]
	}
	return v
}

// where returns the elements for which keep is true.
func where[T any](all []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !keep(v) })
}
