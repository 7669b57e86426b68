package main

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// aParty takes a party with a session.
func aParty(r *Run, keep func(*party) bool) (*party, *session) {
	p := one(r, r.club.parties(keep))
	if p == nil {
		return nil, nil
	}
	return p, r.as(r.club.person(p.number), p.role)
}

// quietHours sets or ends the hours in which a person wants no messages.
func quietHours(r *Run) string {
	p, s := aParty(r, anyone)
	if s == nil {
		return nothing
	}
	person := r.club.person(p.number)
	person.quiet = !person.quiet
	var hours any
	if person.quiet {
		hours = object{"start": "21:00", "end": "08:00"}
	}
	r.want(s, "PATCH", "/api/me/preferences", object{"quiet_hours": hours, "time_zone": "UTC"}, 200)
	person.since, person.utc = len(r.network.sent), true
	return fmt.Sprint(p, " ", person.quiet)
}

// subscribe lets the phone of a party get push messages.
func subscribe(r *Run) string {
	p, s := aParty(r, anyone)
	if s == nil {
		return nothing
	}
	r.want(s, "POST", "/api/me/push-subscriptions", r.network.loopback.subscription(p.number, p.role), 201)
	return p.String()
}

// revokeEarly takes a yes back while a push message about progress waits, because the push service is away.
func revokeEarly(r *Run) string {
	p, s := aParty(r, func(p *party) bool { return p.state == "approved" })
	if s == nil {
		return nothing
	}
	coach := r.as(p.player.coach.person, "coach")
	if s = r.as(s.person, p.role); coach == nil || s == nil { // the coach may have waited for hours to sign in
		return noSession
	}
	r.want(s, "POST", "/api/me/push-subscriptions", r.network.loopback.subscription(p.number, p.role), 201)
	away := r.network.loopback.failing
	r.network.loopback.failing = true
	r.want(coach, "POST", "/api/players/"+p.player.id+"/progress", object{"metric": "80 m sprint", "value": 12.4, "unit": "s", "on": r.clock.now.Add(-48 * hour).Format(time.DateOnly)}, 201)
	r.work(time.Second)
	what := p.decide(r, s, "revoked")
	r.network.loopback.failing = away
	return fmt.Sprint(p, " ", what)
}

// replyStop replies STOP to the newest message of a coach. The gateway may repeat it.
func replyStop(r *Run) string {
	p := one(r, r.club.parties(anyone))
	if p == nil {
		return nothing
	}
	m := r.network.newest(p.number, "message")
	if m == nil {
		return nothing
	}
	var of []*coach // of whom it got messages: the newest is of the only one
	for _, c := range r.club.coaches {
		if slices.ContainsFunc(r.network.sent, func(m *message) bool { return m.To == p.number && m.by(c) }) {
			of = append(of, c)
		}
	}
	others := slices.ContainsFunc(r.network.sent, func(m *message) bool {
		return m.To == p.number && m.Kind != "otp" && (len(of) == 0 || !m.by(of[0]))
	})
	if len(of) != 1 || others || m.Forgotten {
		return nothing
	}
	id := r.clock.newID(0)
	for range 1 + r.random.IntN(3) {
		if m.Channel == "chat" {
			r.fromChat(object{
				"contacts": []object{{"wa_id": p.number[1:]}},
				"messages": []object{{"from": p.number[1:], "id": "wamid.in" + id, "timestamp": strconv.FormatInt(r.clock.now.Unix(), 10), "type": "text", "text": object{"body": "STOP"}}},
			})
			continue
		}
		query := url.Values{"from": {p.number}, "text": {"STOP"}, "id": {id}}
		if got, _ := r.service.call("GET", "/replies/kannel/"+replySecret+"?"+query.Encode(), "", nil); got.Status >= 300 {
			r.fail("a reply is taken", "%d %s", got.Status, got.Body)
		}
	}
	r.club.stopped = append(r.club.stopped, stop{p.number, of[0], r.clock.now})
	r.failed[p.number] = true // the question waits in the app
	return p.number + " stops " + of[0].name
}

// signOut ends the session of a party: it works no more at once.
func signOut(r *Run) string {
	p, s := aParty(r, anyone)
	if s == nil {
		return nothing
	}
	all := r.chance(30)
	got, _ := r.service.call("POST", "/auth/logout", s.access, object{"all": all})
	if got.Status != 204 && got.Status != 401 { // 401: an earlier try whose answer was lost
		r.mustBe(got, "sign out", 204, "")
	}
	ended := []*session{s}
	if all {
		for _, other := range s.person.sessions {
			ended = append(ended, other)
		}
	}
	for _, s := range ended {
		r.want(s, "GET", "/api/me", nil, 401)
		if got, _ := r.service.call("POST", "/auth/refresh", "", object{"refresh_token": s.refresh}); got.Status != 401 {
			r.fail("access and refresh tokens stop working at once", "%s: %d", s.role, got.Status)
		}
		delete(s.person.sessions, s.role)
	}
	return fmt.Sprint(p, " everywhere: ", all)
}

// guess tries wrong codes: five are tried, and then not even the right one works.
func guess(r *Run) string {
	p := one(r, r.club.parties(anyone))
	if p == nil {
		return nothing
	}
	person := r.club.person(p.number)
	if slices.ContainsFunc(person.wrong, func(at time.Time) bool { return r.clock.now.Sub(at) < 25*hour }) {
		return nothing
	}
	number := object{"mobile_number": p.number, "role": p.role}
	if got, _ := r.service.call("POST", "/auth/request-otp", "", number); got.Status != 202 {
		return nothing
	}
	r.work(time.Second)
	m := r.network.newest(p.number, "otp")
	if m == nil || r.clock.now.Sub(m.At) > time.Minute {
		return noSession
	}
	right := code.FindString(m.Text)
	wrong := "111111"
	if right == wrong {
		wrong = "222222"
	}
	person.wrong = append(person.wrong, r.clock.now)
	for i := range 6 {
		otp, status, problem := wrong, 422, "otp_incorrect"
		if i == 5 {
			otp, status, problem = right, 429, "otp_attempts_exceeded"
		}
		got, retried := r.service.call("POST", "/auth/login", "", object{"mobile_number": p.number, "role": p.role, "otp": otp})
		if retried {
			return "an answer was lost" // a wrong login is not kept: it may have counted twice
		}
		r.mustBe(got, fmt.Sprintf("wrong code %d", i+1), status, problem)
	}
	r.clock.advance(61 * time.Second)
	return p.String()
}

// leave closes the account of a family: for each player an approval is revoked or an open request rejected, and the player loses the party.
func leave(r *Run) string {
	p, s := aParty(r, func(p *party) bool { return p.disputed == "" })
	if s == nil || len(r.club.erased) > 40 {
		return nothing
	}
	shared := slices.ContainsFunc(r.club.parties(anyone), func(o *party) bool { return o.number == p.number && o.disputed != "" })
	r.clock.advance(61 * time.Second)
	if s = r.signIn(s.person, p.role); s == nil || shared { // it needs a fresh code
		return noSession
	}
	got, retried := r.service.call("DELETE", "/api/me", s.access, nil)
	if !retried || got.Status != 401 {
		r.mustBe(got, "close the account of "+p.String(), 204, "")
	}
	r.left(p.number, p.role)
	if r.night != nil {
		r.night.left = append(r.night.left, leaving{s.person.number, s.role})
	}
	return s.person.number + " leaves as " + s.role
}

// left notes that the account of a number in a role was deleted.
func (r *Run) left(number, role string) {
	delete(r.club.person(number).sessions, role)
	for _, player := range r.club.present() {
		for _, o := range slices.Clone(player.parties) {
			if o.number != number || o.role != role {
				continue
			}
			if o.role == "guardian" {
				player.parties = slices.DeleteFunc(player.parties, func(x *party) bool { return x == o })
				player.touched, player.fewer = true, r.clock.now
				if next := player.parties[0]; o.first && next.role == "guardian" {
					next.first = true
				} else if o.first {
					player.vacated = r.clock.now
				}
				continue
			}
			switch {
			case o.state == "approved":
				o.decided(r, "revoked")
			case o.request != "":
				o.decided(r, "rejected")
			}
			o.becomes(r, "pending")
			o.number, o.moved, o.disputed, o.since = "", true, "", r.clock.now
		}
	}
	roles := r.club.person(number).roles
	if delete(roles, role); len(roles) == 0 && !r.club.keeps(number) {
		r.club.erased[number] = r.clock.now
		r.club.person(number).utc = false
	}
}

// code requests a code for a person who is signed in, or returns "".
func (r *Run) code(number, role string) string {
	r.clock.advance(61 * time.Second)
	if got, _ := r.service.call("POST", "/auth/request-otp", "", object{"mobile_number": number, "role": role}); got.Status != 202 {
		return ""
	}
	r.work(time.Second)
	m := r.network.newest(number, "otp")
	if m == nil || r.clock.now.Sub(m.At) > time.Minute {
		return ""
	}
	return code.FindString(m.Text)
}

// lookAtOthers reads a player as someone who may not, or only in part.
func lookAtOthers(r *Run) string {
	p, s := aParty(r, anyone)
	if s == nil {
		return nothing
	}
	for _, other := range where(r.club.present(), func(o *player) bool { return o.coach == p.player.coach && o != p.player })[:min(1, len(r.club.of(p.player.coach))-1)] {
		mine := slices.ContainsFunc(other.parties, func(o *party) bool { return o.number == p.number && o.role == p.role })
		for _, path := range []string{"/api/players/" + other.id, "/api/services/availability/" + other.id, "/api/me/players/" + other.id + "/fees"} {
			if !mine {
				if got := r.call(s, "GET", path, nil); got.Status != 404 && got.code() != "approval_pending" {
					r.fail("an object that is not the caller's looks like one that does not exist", "%s as %s: %d %s", path, p, got.Status, got.Body)
				}
			}
		}
	}
	got := r.want(s, "GET", "/api/players/"+p.player.id, nil, 200)
	same := where(p.player.parties, func(o *party) bool { return o.number == p.number && o.role == p.role })
	born := p.player.birthday.Format(time.DateOnly)
	if seen := strings.Contains(got.Body, born); len(same) == 1 && seen != (p.state == "approved") {
		r.fail("until a party has approved it sees only ids, statuses and names", "%s is %s: %s", p, p.state, got.Body)
	}
	status, problem := map[string]int{"approved": 200}[p.state], map[string]string{"pending": "approval_pending", "rejected": "approval_required", "revoked": "approval_required"}[p.state]
	fees := r.call(s, "GET", "/api/me/players/"+p.player.id+"/fees", nil)
	if len(same) == 1 && (status == 200) != (fees.Status == 200) {
		r.fail("a party reads the coach's day only after it has approved", "%s is %s: %d %s, want %s", p, p.state, fees.Status, fees.code(), problem)
	}
	for _, c := range r.club.coaches {
		if c != p.player.coach {
			if s := c.sessions["coach"]; s != nil && r.clock.now.Before(s.ends) {
				r.want(s, "GET", "/api/players/"+p.player.id, nil, 404, "not_found")
			}
		}
	}
	return p.String()
}
