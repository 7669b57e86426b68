package main

import (
	"fmt"
	"time"
)

const hour = time.Hour

// addPlayer adds a child of a new family, or a sibling. Some numbers are shared, some are wrong.
func addPlayer(r *Run) string {
	coach := one(r, r.club.active())
	if coach == nil || len(r.club.present()) >= families && !r.chance(5) {
		return nothing
	}
	c := r.club
	c.names++
	p := &player{coach: coach, name: fmt.Sprintf("Child Kabir Mehta %c%c%c", 'A'+c.names/676, 'A'+c.names/26%26, 'A'+c.names%26)}
	guardian := fmt.Sprintf("+9198200%05d", c.names)
	if sibling := one(r, c.present()); sibling != nil && r.chance(25) {
		guardian = sibling.parties[0].number
	}
	age := 8 + r.random.IntN(10) // some turn 18 during the year
	p.birthday = start.AddDate(-age, 0, r.random.IntN(365)-364).Format(time.DateOnly)
	p.parties = []*party{{player: p, role: "guardian", number: guardian, state: "pending"}, {player: p, role: "student", state: "pending"}}
	student := map[string]any{"full_name": p.name, "date_of_birth": p.birthday}
	switch n := r.random.IntN(100); {
	case n < 30: // the child has no phone
	case n < 60:
		student["contact_number"], p.parties[1].number = guardian, guardian
	default:
		p.parties[1].number = fmt.Sprintf("+9198300%05d", c.names)
		student["contact_number"] = p.parties[1].number
	}
	s := r.as(coach.person, "coach")
	if s == nil {
		return "cannot sign in"
	}
	got := r.want(s, "POST", "/api/players/add", map[string]any{
		"student": student, "guardian": map[string]any{"name": "Meera " + p.name[len(p.name)-3:], "relationship": "mother", "mobile_number": guardian},
	}, 201)
	p.id = text(got.JSON["player_id"])
	p.parties[0].asks(r, text(got.JSON["guardian_request_id"]))
	p.parties[0].id = text(items(got.JSON["guardians"])[0]["guardian_id"])
	if p.parties[1].number != "" {
		p.parties[1].asks(r, text(got.JSON["student_request_id"]))
	}
	c.players = append(c.players, p)
	return fmt.Sprintf("%s adds %s", coach.name, p.name)
}

// asks notes in the model that a party is asked.
func (p *party) asks(r *Run, request string) {
	p.state, p.request, p.asked = "pending", request, r.clock.now
	p.questions++
}

// transitions are those of the specification, section 3.
var transitions = map[string]map[string]bool{
	"pending":  {"approved": true, "rejected": true},
	"approved": {"revoked": true},
}

// answer is a decision of a party, by far most often one that is possible.
func answer(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.number != "" && (p.state == "pending" || r.chance(10)) }))
	if p == nil {
		return nothing
	}
	s := r.as(r.club.person(p.number), p.role)
	if s == nil {
		return "cannot sign in"
	}
	action := one(r, []string{"approved", "approved", "rejected", "revoked"})
	body := map[string]any{"player_id": p.player.id, "action": action}
	path := "/api/approval/" + p.role + "-response"
	what := fmt.Sprintf("%s: %s", p, action)
	switch {
	case action == p.state:
		r.want(s, "PUT", path, body, 200)
		return what + " again"
	case p.state == "pending" && p.request == "" && action != "revoked":
		r.want(s, "PUT", path, body, 409, "no_open_request")
		return what + ", not asked"
	case !transitions[p.state][action]:
		r.want(s, "PUT", path, body, 409, "invalid_transition")
		return what + ", refused"
	}
	r.want(s, "PUT", path, body, 200)
	p.state, p.request = action, ""
	p.history = append(p.history, action)
	return what
}

// askAgain sends the request to a party again: after 48 hours, or after an answer.
func askAgain(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.number != "" && !p.player.coach.gone }))
	if p == nil {
		return nothing
	}
	s := r.as(p.player.coach.person, "coach")
	if s == nil {
		return "cannot sign in"
	}
	body := map[string]any{"player_id": p.player.id}
	path := "/api/approval/send-" + p.role + "-request"
	got := r.call(s, "POST", path, body)
	what := fmt.Sprintf("%s is asked: %d %s", p, got.Status, got.code())
	switch {
	case p.state == "approved":
		r.mustBe(got, what, 409, "already_approved")
	case p.state != "pending" || p.request == "":
		r.mustBe(got, what, 201, "")
		p.asks(r, text(got.JSON["request_id"]))
	case r.clock.now.Sub(p.asked) < 48*hour:
		r.mustBe(got, what, 409, "request_pending")
	case got.Status == 200:
		p.asks(r, text(got.JSON["request_id"]))
	default:
		r.mustBe(got, what, 409, "request_pending") // its message left later
	}
	return what
}

// mustBe is the check of want.
func (r *Run) mustBe(got *response, what string, status int, code string) {
	if got.Status != status || got.code() != code {
		r.fail("an answer is that of the contract", "%s, want %d %s\n%s", what, status, code, got.Body)
	}
}

// remind reminds a party.
func remind(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.number != "" && p.state == "pending" && !p.player.coach.gone }))
	if p == nil {
		return nothing
	}
	s := r.as(p.player.coach.person, "coach")
	if s == nil {
		return "cannot sign in"
	}
	got := r.call(s, "POST", "/api/approval/send-reminder", map[string]any{"player_id": p.player.id, "approver_type": p.role})
	what := fmt.Sprintf("%s is reminded: %d %s", p, got.Status, got.code())
	recent := where(p.reminders, func(at time.Time) bool { return r.clock.now.Sub(at) < 7*24*hour })
	switch {
	case p.request == "":
		r.mustBe(got, what, 409, "no_open_request")
	case len(recent) >= 2:
		r.mustBe(got, what, 429, "reminder_limit")
	default:
		r.mustBe(got, what, 202, "")
		p.reminders = append(p.reminders, r.clock.now)
		p.questions++
	}
	return what
}
