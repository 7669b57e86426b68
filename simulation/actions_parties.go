package main

import (
	"fmt"
	"slices"
	"time"
)

// correctNumber gives a party another number: its consent belongs to the person who gave it.
func correctNumber(r *Run) string {
	p := one(r, r.club.parties(anyone))
	if p == nil {
		return nothing
	}
	s := r.as(p.player.coach.person, "coach")
	if s == nil {
		return noSession
	}
	r.club.names++
	number := fmt.Sprintf("+9198400%05d", r.club.names)
	path, body := "/api/players/"+p.player.id, object{"student": object{"contact_number": number}}
	if p.role == "guardian" {
		path, body = path+"/guardians/"+p.id, object{"mobile_number": number}
	}
	if p.alone(r) {
		r.want(s, "PATCH", path, body, 422)
		return p.String() + " has no guardian"
	}
	r.want(s, "PATCH", path, body, 200)
	old := p.number
	p.number, p.disputed, p.moved = number, "", true
	p.calls, p.called, p.since = time.Time{}, time.Time{}, r.clock.now
	got := r.want(s, "GET", "/api/players/approval-status/"+p.player.id, nil, 200)
	p.asks(r, text(p.in(got)["request_id"]))
	p.gone(r, old)
	return fmt.Sprintf("%s: %s in place of %s", p, number, old)
}

// alone reports whether the player is under 18 and its guardian has left: the coach must enter another one first.
func (p *party) alone(r *Run) bool {
	return p.role == "student" && len(p.player.parties) == 1 && !p.player.adult(r.clock.now)
}

// gone checks that the former holder of a number sees the player no longer.
func (p *party) gone(r *Run, old string) {
	still := slices.ContainsFunc(p.player.parties, func(o *party) bool { return o.number == old && o.role == p.role })
	former := r.club.person(old).sessions[p.role]
	if still || former == nil || !r.clock.now.Before(former.ends) {
		return
	}
	got := r.call(former, "GET", "/api/players/approval-status/"+p.player.id, nil)
	if got.Status != 404 && got.Status != 401 {
		r.fail("the old holder of a number sees 404 at once", "%s: %d %s", p, got.Status, got.Body)
	}
}

// in returns the part of an approval status about a party.
func (p *party) in(got *response) object {
	if p.role == "student" {
		request, _ := got.JSON["student_request"].(object)
		id := ""
		if text(request["state"]) == "pending" {
			id = text(request["request_id"])
		}
		return object{"status": got.JSON["student_status"], "state": got.JSON["student_state"], "request_id": id}
	}
	for _, g := range items(got.JSON["guardians"]) {
		if text(g["guardian_id"]) == p.id {
			return g
		}
	}
	return object{}
}

// addGuardian adds the other parent.
func addGuardian(r *Run) string {
	p := one(r, where(r.club.present(), func(p *player) bool { return len(p.parties) == 2 }))
	if p == nil {
		return nothing
	}
	s := r.as(p.coach.person, "coach")
	if s == nil {
		return noSession
	}
	r.club.names++
	g := &party{player: p, role: "guardian", number: fmt.Sprintf("+9198500%05d", r.club.names)}
	got := r.want(s, "POST", "/api/players/"+p.id+"/guardians", object{"name": "Ravi Mehta", "relationship": "father", "mobile_number": g.number}, 201)
	g.id = text(got.JSON["guardian_id"])
	at := len(p.parties) - 1
	if !p.parties[0].first { // it left an empty place
		g.first, at = true, 0
		p.vacated = time.Time{}
	}
	p.parties = slices.Insert(p.parties, at, g)
	g.asks(r, text(got.JSON["request_id"]))
	return g.String()
}

// removePlayer deletes a player.
func removePlayer(r *Run) string {
	p := one(r, r.club.present())
	if p == nil {
		return nothing
	}
	s := r.as(p.coach.person, "coach")
	if s == nil {
		return noSession
	}
	got, retried := r.service.call("DELETE", "/api/players/"+p.id, s.access, nil)
	if !retried || got.Status != 404 {
		r.mustBe(got, "delete a player", 204, "")
	}
	p.removed = true
	r.want(s, "GET", "/api/players/"+p.id, nil, 404, "not_found")
	return p.name
}
