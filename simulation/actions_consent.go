package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const hour = time.Hour

type object = map[string]any

// addPlayer adds a child of a new family, a sibling or an adult. Some numbers are shared.
func addPlayer(r *Run) string {
	c, coach := r.club, one(r, r.club.coaches)
	if len(c.present()) >= families && !r.chance(5) {
		return nothing
	}
	c.names++
	letters := fmt.Sprintf("%c%c%c", 'A'+c.names/676, 'A'+c.names/26%26, 'A'+c.names%26)
	p := &player{coach: coach, name: "Kabir Mehta " + letters, touched: true}
	guardian := fmt.Sprintf("+9198200%05d", c.names)
	if sibling := one(r, c.parties(anyone)); sibling != nil && r.chance(25) {
		guardian = sibling.number
	}
	age := 8 + r.random.IntN(11)
	born := start.AddDate(-age, 0, r.random.IntN(365)-364)
	p.birthday = born
	student := object{"full_name": p.name, "date_of_birth": born.Format(time.DateOnly)}
	body := object{"student": student}
	if !p.adult(r.clock.now) || r.chance(50) {
		p.parties = append(p.parties, &party{player: p, role: "guardian", first: true, number: guardian, state: "pending"})
		entry := object{"name": "Meera Mehta " + letters, "relationship": "mother", "mobile_number": guardian}
		if r.chance(30) {
			p.parties[0].address = strings.ToLower(letters) + "@families.example"
			entry["email"] = p.parties[0].address
		}
		body["guardian"] = entry
	}
	p.parties = append(p.parties, &party{player: p, role: "student", state: "pending"})
	switch n := r.random.IntN(100); {
	case n < 30: // the child has no phone
	case n < 60:
		p.student().number = guardian
	default:
		p.student().number = fmt.Sprintf("+9198300%05d", c.names)
	}
	if p.student().number != "" {
		student["contact_number"] = p.student().number
	}
	s := r.as(coach.person, "coach")
	if s == nil {
		return noSession
	}
	if !coach.registered {
		coach.register(r)
	}
	got := r.call(s, "POST", "/api/players/add", body)
	r.mustBe(got, "add "+p.name, 201, "")
	p.id = text(got.JSON["player_id"])
	if g := p.parties[0]; g.role == "guardian" {
		g.id = text(items(got.JSON["guardians"])[0]["guardian_id"])
		g.asks(r, text(got.JSON["guardian_request_id"]))
	}
	if p.student().number != "" {
		p.student().asks(r, text(got.JSON["student_request_id"]))
	}
	p.grown = p.adult(r.clock.now)
	p.student().since = r.clock.now
	c.players = append(c.players, p)
	return fmt.Sprintf("%s adds %s", coach.name, p.name)
}

// transitions are those of the specification, section 3.
var transitions = map[string][]string{"pending": {"approved", "rejected"}, "approved": {"revoked"}}

// answer is a decision of a party, most often one that is possible.
func answer(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.state == "pending" || r.chance(10) }))
	if p == nil {
		return nothing
	}
	s := r.as(r.club.person(p.number), p.role)
	if s == nil {
		return noSession
	}
	action := one(r, []string{"approved", "approved", "rejected", "revoked"})
	return fmt.Sprintf("%s: %s", p, p.decide(r, s, action))
}

// decide makes a decision by the API, and compares the answer with the model.
func (p *party) decide(r *Run, s *session, action string) string {
	body, path := object{"player_id": p.player.id, "action": action}, "/api/approval/"+p.role+"-response"
	same := where(p.player.parties, func(o *party) bool { return o.role == p.role && o.number == p.number })
	switch {
	case len(same) > 1:
		return nothing
	case action == p.state:
		r.want(s, "PUT", path, body, 200)
		return action + " again"
	case p.state == "pending" && p.request == "":
		return p.decideUnasked(r, action, r.call(s, "PUT", path, body))
	case !slices.Contains(transitions[p.state], action):
		r.want(s, "PUT", path, body, 409, "invalid_transition")
		return action + ", refused"
	}
	r.want(s, "PUT", path, body, 200)
	p.decided(r, action)
	return action
}

// decideUnasked compares the answer to a decision without a question. A party whose newest answer was a no can say it again. The number
// of a party that moved can have an answer from before.
func (p *party) decideUnasked(r *Run, action string, got *response) string {
	code := "no_open_request"
	if p.moved && got.Status == 200 && action == "rejected" {
		p.refused = true
	}
	switch {
	case p.refused && action == "rejected":
		r.mustBe(got, action, 200, "")
		p.decided(r, action)
		return action + ", not asked again"
	case action == "revoked" && (p.refused || p.moved) && got.code() == "invalid_transition":
		code = "invalid_transition"
	}
	r.mustBe(got, action, 409, code)
	return action + ", not asked"
}

func (p *party) decided(r *Run, action string) {
	p.becomes(r, action)
	if p.refused = action != "approved"; !p.refused {
		p.player.coach.known[p.number] = true
	}
	p.history = append(p.history, action)
}

// answerOnPage opens the link of the newest question, and says no there: a yes needs a code.
func answerOnPage(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.request != "" }))
	if p == nil || len(where(p.player.parties, func(o *party) bool { return o.number == p.number })) > 1 {
		return nothing
	}
	m := r.network.newest(p.number, "message")
	if m == nil || m.Forgotten || !strings.Contains(m.Text, p.player.name) || strings.Count(m.Text, "/a/") != 1 || r.clock.now.Sub(m.At) > 13*24*hour || m.At.Before(p.asked) || strings.Contains(m.Text, "you, "+p.player.name) != (p.role == "student") {
		return nothing
	}
	b := &browser{run: r}
	b.open("GET", link.FindString(m.Text), nil)
	if b.status != 200 || !strings.Contains(b.body, p.player.name) {
		r.fail("the link of an open question shows the coach and the student", "%s: %d, from %q at %s", p, b.status, m.Text, m.At)
	}
	return p.String()
}

// about adds which party a call is about.
func (p *party) about(body object) object {
	body["player_id"] = p.player.id
	if p.id != "" {
		body["guardian_id"] = p.id
	}
	return body
}

// askAgain sends the request to a party again: after 48 hours, or after an answer.
func askAgain(r *Run) string {
	p := one(r, r.club.parties(anyone))
	if p == nil {
		return nothing
	}
	s := r.as(p.player.coach.person, "coach")
	if s == nil {
		return noSession
	}
	got := r.call(s, "POST", "/api/approval/send-"+p.role+"-request", p.about(object{}))
	what := fmt.Sprintf("%s is asked: %d %s", p, got.Status, got.code())
	switch {
	case p.alone(r):
		r.mustBe(got, what, 422, "validation_failed")
	case p.state == "approved":
		r.mustBe(got, what, 409, "already_approved")
	case p.disputed != "":
		r.mustBe(got, what, 409, "contact_disputed")
	case p.request == "":
		r.mustBe(got, what, 201, "")
		p.asks(r, text(got.JSON["request_id"]))
	case got.Status == 200:
		// The message of a request that failed for good can be sent again at once. One that waits since a cancelled request has not left.
		recent := false
		if m := r.network.newest(p.number, "message"); m != nil {
			recent = r.clock.now.Sub(m.At) < 48*hour-2*maxSkew
		}
		if since := r.clock.now.Sub(p.asked); since < 48*hour-2*maxSkew && recent && !r.failed[p.number] && !r.failed[p.address] {
			r.fail("a request is sent again after 48 hours", "%s after %s: %s", what, since, got.Body)
		}
		if text(got.JSON["request_id"]) != p.request {
			r.fail("a pending request keeps its id when it is sent again", "%s", p)
		}
		p.asks(r, p.request)
	default:
		r.mustBe(got, what, 409, "request_pending")
		if allowed, err := time.Parse(time.RFC3339, text(got.JSON["resend_allowed_at"])); err != nil || allowed.Before(r.clock.now.Add(-2*maxSkew)) || allowed.Sub(r.clock.now) > 48*hour+2*maxSkew {
			r.fail("a request is sent again after 48 hours", "%s until %s: %s", what, allowed, got.Body)
		}
		if !r.everHeld && r.clock.now.Sub(p.asked) > 48*hour+2*maxSkew {
			r.fail("a request is sent again after 48 hours", "%s, asked at %s: %s", what, p.asked, got.Body)
		}
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
	p := one(r, r.club.parties(func(p *party) bool { return p.state == "pending" }))
	if p == nil {
		return nothing
	}
	s := r.as(p.player.coach.person, "coach")
	if s == nil {
		return noSession
	}
	got := r.call(s, "POST", "/api/approval/send-reminder", p.about(object{"approver_type": p.role}))
	what := fmt.Sprintf("%s is reminded: %d %s", p, got.Status, got.code())
	recent := where(p.reminded, func(at time.Time) bool { return r.clock.now.Sub(at) < 7*24*hour-2*maxSkew })
	near := where(p.reminded, func(at time.Time) bool { return r.clock.now.Sub(at) < 7*24*hour+2*maxSkew })
	switch {
	case p.request == "":
		r.mustBe(got, what, 409, "no_open_request")
	case len(recent) >= 2:
		r.mustBe(got, what, 429, "reminder_limit")
	case len(near) >= 2 && got.Status == 429: // the clocks differ
	default:
		r.mustBe(got, what, 202, "")
		p.reminded = append(p.reminded, r.clock.now)
		r.asks[p.number]++
	}
	return what
}

// cancel cancels an open request.
func cancel(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.request != "" }))
	if p == nil {
		return nothing
	}
	s := r.as(p.player.coach.person, "coach")
	if s == nil {
		return noSession
	}
	got, retried := r.service.call("POST", "/api/approval/requests/"+p.request+"/cancel", s.access, nil)
	if !retried || got.code() != "no_open_request" {
		r.mustBe(got, "cancel", 200, "")
	}
	p.request, p.player.touched = "", true
	return p.String()
}

// dispute says that the number belongs to someone else.
func dispute(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.request != "" && p.disputed == "" }))
	if p == nil {
		return nothing
	}
	s := r.as(r.club.person(p.number), p.role)
	if s == nil {
		return noSession
	}
	r.want(s, "POST", "/api/approval/requests/"+p.request+"/dispute", nil, 200)
	p.disputed, p.request, p.player.touched = p.request, "", true
	return p.String()
}

// liftDispute says that the number is right after all. Within 30 days the request is open again.
func liftDispute(r *Run) string {
	p := one(r, r.club.parties(func(p *party) bool { return p.disputed != "" }))
	if p == nil {
		return nothing
	}
	coach := r.as(p.player.coach.person, "coach")
	s := r.as(r.club.person(p.number), p.role)
	if s == nil || coach == nil {
		return noSession
	}
	got, retried := r.service.call("DELETE", "/api/approval/requests/"+p.disputed+"/dispute", s.access, nil)
	if !retried || got.Status != 404 {
		r.mustBe(got, "lift a dispute", 204, "")
	}
	if coach = r.as(coach.person, "coach"); coach == nil {
		return noSession
	}
	request := r.want(coach, "GET", "/api/approval/requests/"+p.disputed, nil, 200)
	if text(request.JSON["state"]) == "pending" {
		p.request = p.disputed
	}
	p.disputed, p.player.touched = "", true
	return p.String()
}
