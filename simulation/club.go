package main

import (
	"fmt"
	"time"
)

// club is the people, and the model: what the service must know and show.
type club struct {
	coaches []*coach
	players []*player
	persons map[string]*person // by number
	names   int                // of students so far
}

// person is a mobile number with its sessions. Families share phones, so one person can have several roles.
type person struct {
	number   string
	sessions map[string]*session // by role
}

type coach struct {
	*person
	name  string
	index int
	gone  bool // has closed the account
}

// player is a player of a coach. Its parties are the guardians, and then the student.
type player struct {
	id       string
	coach    *coach
	name     string
	birthday string
	parties  []*party
	removed  bool
	fees     []*fee
}

// party is a guardian or a student of a player, with the state of its consent.
type party struct {
	player *player
	role   string // guardian or student
	id     string // of a guardian
	number string // "" is none
	state  string // pending, approved, rejected, revoked
	// request is the open one, or "".
	request string
	history []string
	// asked is when its request was sent last, reminders when it was reminded, questions how many messages it may have got.
	asked     time.Time
	reminders []time.Time
	questions int
}

func (p *party) status() string {
	if p.state == "revoked" {
		return "rejected"
	}
	return p.state
}

func (p *party) String() string { return p.role + " of " + p.player.name }

type fee struct {
	id       string
	amount   int
	paid     int
	state    string
	payments []payment
}

type payment struct {
	id     string
	amount int
}

// families is how many families the club gets at the beginning.
const families = 40

func newClub(r *Run) *club {
	c := &club{persons: map[string]*person{}}
	r.club = c
	for i := range 3 {
		p := c.person(fmt.Sprintf("+9198100%05d", i+1))
		coach := &coach{person: p, name: fmt.Sprintf("Coach Asha Rao %c", 'A'+i), index: i}
		c.coaches = append(c.coaches, coach)
		r.want(r.as(p, "coach"), "POST", "/auth/complete-profile", map[string]any{"name": coach.name, "bio": "Hockey for every child.", "experience_years": 7, "sports": []string{"hockey"}}, 200)
	}
	return c
}

func (c *club) person(number string) *person {
	if number == "" {
		return nil
	}
	if c.persons[number] == nil {
		c.persons[number] = &person{number: number, sessions: map[string]*session{}}
	}
	return c.persons[number]
}

// parties returns the parties of all players for which keep is true.
func (c *club) parties(keep func(*party) bool) (all []*party) {
	for _, p := range c.players {
		if !p.removed {
			all = append(all, where(p.parties, keep)...)
		}
	}
	return all
}

// active returns the coaches who have not left.
func (c *club) active() []*coach {
	return where(c.coaches, func(c *coach) bool { return !c.gone })
}

// present returns the players who were not removed.
func (c *club) present() []*player {
	return where(c.players, func(p *player) bool { return !p.removed && !p.coach.gone })
}
