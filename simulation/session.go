package main

import (
	"regexp"
	"time"
)

// session is a sign-in of a person in a role.
type session struct {
	person          *person
	role            string
	access, refresh string
	ends            time.Time // of the access token
}

var code = regexp.MustCompile(`\b\d{6}\b`)

// as returns a session of a person in a role with an access token that works: the one that it has, a refreshed one, or a new one.
func (r *Run) as(p *person, role string) *session {
	s := p.sessions[role]
	if s != nil && r.clock.now.Before(s.ends) {
		return s
	}
	if s != nil {
		got, _ := r.service.call("POST", "/auth/refresh", "", map[string]any{"refresh_token": s.refresh})
		if got.Status == 200 {
			if s.take(r, got); r.clock.now.Before(s.ends) {
				return s // else the session itself ends soon
			}
		}
	}
	return r.signIn(p, role)
}

// signIn signs in with a code.
func (r *Run) signIn(p *person, role string) *session {
	before := r.network.newest(p.number, "otp")
	switch got, _ := r.service.call("POST", "/auth/request-otp", "", map[string]any{"mobile_number": p.number, "role": role}); got.Status {
	case 202:
	case 429:
		return nil // asked a moment ago, while the gateway did not work
	default:
		r.fail("a person can sign in", "%s as %s: %d %s", p.number, role, got.Status, got.Body)
	}
	r.work(time.Second)
	m := r.network.newest(p.number, "otp")
	if m == before {
		return nil // the gateway does not work
	}
	got, _ := r.service.call("POST", "/auth/login", "", map[string]any{"mobile_number": p.number, "role": role, "otp": code.FindString(m.Text)})
	if got.code() == "otp_expired" && r.service.clocksDiffered() {
		return nil // a process whose clock was ahead held the key of the request, or a code that was sent again keeps its end
	}
	if got.Status != 200 {
		r.fail("a person can sign in", "%s as %s with the code of the SMS: %d %s", p.number, role, got.Status, got.Body)
	}
	s := &session{person: p, role: role}
	s.take(r, got)
	p.sessions[role] = s
	return s
}

func (s *session) take(r *Run, got *response) {
	s.access, s.refresh = text(got.JSON["access_token"]), text(got.JSON["refresh_token"])
	seconds, _ := got.JSON["expires_in"].(float64)
	// A repeated request waits for the skew of a process, up to twice.
	s.ends = r.clock.now.Add(time.Duration(seconds)*time.Second - 5*maxSkew - 30*time.Second)
}

// call makes a request with the session.
func (r *Run) call(s *session, method, path string, body any, headers ...string) *response {
	got, _ := r.service.call(method, path, s.access, body, headers...)
	return got
}

// want is call for an answer that the specification fixes: a status, and the code of a problem.
func (r *Run) want(s *session, method, path string, body any, status int, codes ...string) *response {
	got := r.call(s, method, path, body)
	if got.Status != status || len(codes) > 0 && got.code() != codes[0] {
		r.fail("an answer is that of the contract", "%s %s %v as %s: %d %s, want %d %v\n%s", method, path, body, s.role, got.Status, got.code(), status, codes, got.Body)
	}
	return got
}
