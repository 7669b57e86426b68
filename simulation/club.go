package main

import (
	"fmt"
	"slices"
	"time"
)

// club is the people, and the model: what the service must know and show.
type club struct {
	coaches []*coach
	players []*player
	persons map[string]*person   // by number
	names   int                  // of students so far
	numbers int                  // of coaches so far
	erased  map[string]time.Time // when the last account of a number was erased
	token   string               // of a service that reads the feed
	cursor  string               // how far it has read
	feed    map[string][]map[string]any
	stopped []stop
	noMail  map[string]time.Time // addresses that want no mail
}

// stop is a number that wants no messages of a coach.
type stop struct {
	number string
	coach  *coach
	at     time.Time
}

// person is a mobile number with its sessions. Families share phones, so one person can have several roles.
type person struct {
	number   string
	sessions map[string]*session // by role
	quiet    bool                // no messages from 21:00 to 08:00: one choice for all roles of a number
	since    int                 // the number of messages when quiet changed
	wrong    []time.Time         // wrong codes
	roles    map[string]bool     // in which it was ever asked
	utc      bool                // its time zone is UTC, not India
	minor    time.Time           // when the provider of proofs said that it is a minor
}

type coach struct {
	*person
	name string
	fees []*fee
	// registered says that the profile is complete: no code may have arrived.
	registered bool
	known      map[string]bool // the numbers from which a party approved
}

// player is a player of a coach. Its parties are the guardians, and then the student.
type player struct {
	id       string
	coach    *coach
	name     string
	birthday time.Time
	parties  []*party
	removed  bool
	// vacated is when the only guardian left. Its place stays, empty and pending, until the coach gives it to another one.
	vacated time.Time
	// fewer is when a guardian left last. If no other party has answered, the coach is warned from then on.
	fewer time.Time
	// turned is when the worker saw that the student is an adult; grown says that the 30 days after it are over.
	turned time.Time
	grown  bool
	// touched says that something happened to it today.
	touched bool
}

func (p *player) adult(now time.Time) bool { return !now.Before(p.birthday.AddDate(18, 0, 0)) }

func (p *player) student() *party { return p.parties[len(p.parties)-1] }

// unanswered returns since when no party has answered, or zero.
func (p *player) unanswered() time.Time {
	since := p.vacated
	for _, party := range p.parties {
		if party.state != "pending" {
			return time.Time{}
		}
		if party.since.After(since) {
			since = party.since
		}
	}
	return since
}

// party is a guardian or a student of a player, with the state of its consent.
type party struct {
	player   *player
	role     string // guardian or student
	id       string // of a guardian
	first    bool   // a guardian whom the fields without a guardian_id name; if it leaves, the next one is the first
	number   string // "" is none
	state    string // pending, approved, rejected, revoked
	request  string // the open one, or ""
	disputed string // the request that its holder disputed, or ""
	refused  bool   // the newest answer was a no
	history  []string
	changed  time.Time // when the state changed
	asked    time.Time // when the request was sent last
	opened   time.Time // when the request was opened
	since    time.Time // when it became pending
	calls    time.Time // when the coach had it called last
	called   time.Time // and when last the phone rang
	address  string    // for mail, or ""
	reminded []time.Time
	moved    bool // the number has changed: the records of the old one are not its own
}

func (p *party) status() string {
	if p.state == "revoked" {
		return "rejected"
	}
	return p.state
}

func (p *party) String() string { return p.role + " of " + p.player.name }

// becomes notes a state.
func (p *party) becomes(r *Run, state string) {
	if state == "pending" && p.state != state || p.since.IsZero() {
		p.since = r.clock.now
	}
	p.state, p.request, p.changed, p.player.touched = state, "", r.clock.now, true
}

// asks notes that a party is asked. Its messages are counted for its number.
func (p *party) asks(r *Run, request string) {
	if p.request != request {
		p.opened = r.clock.now
	}
	p.becomes(r, "pending")
	p.request, p.asked = request, r.clock.now
	r.club.person(p.number).roles[p.role] = true
	delete(r.club.erased, p.number)
	r.asks[p.number]++
}

// families is how many families the club has at most.
const families = 40

func newClub(r *Run) *club {
	c := &club{persons: map[string]*person{}, feed: map[string][]map[string]any{}, erased: map[string]time.Time{}, noMail: map[string]time.Time{}}
	r.club = c
	for range 3 {
		c.coaches = append(c.coaches, newCoach(r))
	}
	return c
}

// newCoach registers a coach.
func newCoach(r *Run) *coach {
	name := coachName(r)
	c := &coach{person: r.club.person(fmt.Sprintf("+9198100%05d", r.club.numbers)), name: name, known: map[string]bool{}}
	c.register(r)
	return c
}

// coachName returns a name that no coach had before: it tells in a message whose it is.
func coachName(r *Run) string {
	r.club.numbers++
	n := r.club.numbers
	return fmt.Sprintf("Asha Rao %c%c", 'A'+n/26%26, 'A'+n%26)
}

func (c *coach) register(r *Run) {
	if s := r.as(c.person, "coach"); s != nil {
		r.want(s, "POST", "/auth/complete-profile", map[string]any{"name": c.name, "bio": "Hockey for every child.", "experience_years": 7, "sports": []string{"hockey"}}, 200)
		c.registered = true
	}
}

func (c *club) person(number string) *person {
	if c.persons[number] == nil {
		c.persons[number] = &person{number: number, sessions: map[string]*session{}, roles: map[string]bool{}}
	}
	return c.persons[number]
}

// parties returns the parties with a number for which keep is true.
func (c *club) parties(keep func(*party) bool) (all []*party) {
	for _, p := range c.present() {
		all = append(all, where(p.parties, func(p *party) bool { return p.number != "" && keep(p) })...)
	}
	return all
}

// anyone keeps each party.
func anyone(*party) bool { return true }

// present returns the players who were not removed.
func (c *club) present() []*player {
	return where(c.players, func(p *player) bool { return !p.removed })
}

// of returns the players of a coach.
func (c *club) of(coach *coach) []*player {
	return where(c.present(), func(p *player) bool { return p.coach == coach })
}

// keeps reports whether a player has a number who was removed: it stays until the retention ends.
func (c *club) keeps(number string) bool {
	return slices.ContainsFunc(c.players, func(p *player) bool {
		return p.removed && slices.ContainsFunc(p.parties, func(p *party) bool { return p.number == number })
	})
}

// uses reports whether any party has a number.
func (c *club) uses(number string) bool {
	return len(c.parties(func(p *party) bool { return p.number == number })) > 0 ||
		slices.ContainsFunc(c.coaches, func(c *coach) bool { return c.number == number })
}
