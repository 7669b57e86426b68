package proof_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// household is a minor with two guardians, who are asked.
type household struct {
	*touchlinetest.Service
	t                            *testing.T
	coach, ravi, anita, student  *touchlinetest.User
	player, raviID, anitaID, url string
}

// wordsOfAnita are what no other guardian may read of her.
var wordsOfAnita = []string{"+919812370003", "anita@example.com", "Anita Iyer", "Iyer"}

func newHousehold(t *testing.T, s *touchlinetest.Service) household {
	t.Helper()
	h := household{Service: s, t: t, coach: s.Coach(t, "+919812370001")}
	added := h.coach.Call(t, "POST", "/api/players/add", object{
		"student": object{"full_name": "Asha Rao", "date_of_birth": "2014-04-30", "contact_number": "+919812370004"},
		"guardians": []any{
			object{"name": "Ravi Rao", "relationship": "father", "mobile_number": "+919812370002"},
			object{"name": "Anita Iyer", "relationship": "mother", "mobile_number": "+919812370003", "email": "anita@example.com"},
		},
	}).Want(t, 201)
	h.player, h.url = added.String("player_id"), "/api/players/"+added.String("player_id")
	guardians := listOf(added, "guardians")
	if len(guardians) != 2 || added.String("guardian.name") != "Ravi Rao" {
		t.Fatalf("got guardians %v", guardians)
	}
	h.raviID, h.anitaID = guardians[0].(object)["guardian_id"].(string), guardians[1].(object)["guardian_id"].(string)
	h.ravi, h.anita, h.student = s.SignIn(t, "guardian", "+919812370002"), s.SignIn(t, "guardian", "+919812370003"), s.SignIn(t, "student", "+919812370004")
	return h
}

// listOf returns a list in a response.
func listOf(r *touchlinetest.Response, name string) []any {
	list, _ := r.JSON[name].([]any)
	return list
}

// audit reports what an audit of the consents finds.
func (h household) audit() {
	h.t.Helper()
	h.CLI(h.t, func(ctx context.Context, _ actor.Operator, ops *server.Operators) {
		log, err := ops.Log(ctx)
		ok(h.t, err)
		r, err := log.Audit(ctx)
		ok(h.t, err)
		for _, finding := range r.Findings {
			h.t.Errorf("the audit found: %s", finding)
		}
	})
}

// answer gives the answer of a party.
func (h household) answer(by *touchlinetest.User, party, action string) *touchlinetest.Response {
	h.t.Helper()
	h.Clock.Skip(time.Second)
	return by.Call(h.t, "PUT", "/api/approval/"+party+"-response", object{"player_id": h.player, "action": action, "reason": "because of " + action})
}

// apps returns who has the app, as the coach reads it: ravi anita student.
func (h household) apps() string {
	h.t.Helper()
	r := h.coach.Call(h.t, "GET", "/api/services/availability/"+h.player, nil).Want(h.t, 200)
	list := listOf(r, "guardians")
	var on []any
	for _, g := range list {
		on = append(on, g.(object)["app_enabled"])
	}
	return fmt.Sprint(append(on, r.JSON["student_app_enabled"])...)
}

func (h household) approval() string {
	h.t.Helper()
	return h.coach.Call(h.t, "GET", h.url, nil).Want(h.t, 200).String("guardian_approval")
}

// hides reports as an error that a response has words of Anita.
func (h household) hides(name string, r *touchlinetest.Response) {
	h.t.Helper()
	for _, word := range append(wordsOfAnita, "because of") {
		if strings.Contains(string(r.Body), word) && !(word == "because of" && strings.Contains(name, "own")) {
			h.t.Errorf("%s shows %q: %s", name, word, r.Body)
		}
	}
}

// TestTwoGuardians walks a family of two guardians with different answers to the conflict and its end.
func TestTwoGuardians(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		h := newHousehold(t, s)
		want := func(step, apps, approval string) {
			t.Helper()
			if got := h.apps(); got != apps {
				t.Errorf("%s: the app is on for %s, want %s", step, got, apps)
			}
			if got := h.approval(); got != approval {
				t.Errorf("%s: the approval of the guardians is %s, want %s", step, got, approval)
			}
		}
		h.answer(h.student, "student", "approved").Want(t, 200)
		want("asked", "false false false", "waiting")
		// Before the approval a guardian sees only its own entry.
		for name, r := range map[string]*touchlinetest.Response{
			"player": h.ravi.Call(t, "GET", h.url, nil), "status": h.ravi.Call(t, "GET", "/api/players/approval-status/"+h.player, nil),
		} {
			if h.hides(name, r); strings.Contains(string(r.Body), "Anita") {
				t.Errorf("%s of a pending guardian names another one: %s", name, r.Body)
			}
		}
		if r := h.answer(h.ravi, "guardian", "approved").Want(t, 200); r.String("guardian_status") != "approved" || r.JSON["guardian_approval"] != nil {
			t.Errorf("Ravi reads %s", r.Body)
		}
		want("Ravi said yes", "true false true", "given")
		if r := h.anita.Call(t, "GET", "/api/services/availability/"+h.player, nil).Want(t, 200); r.JSON["guardian_app_enabled"] != false {
			t.Errorf("the yes of Ravi gives Anita the app: %s", r.Body)
		}
		h.anita.Call(t, "GET", "/api/me/players/"+h.player+"/schedule", nil).Want(t, 403)
		h.anita.Call(t, "GET", h.url+"/medical", nil).Want(t, 403)

		if r := h.answer(h.anita, "guardian", "rejected").Want(t, 200); r.String("guardian_status") != "rejected" || len(listOf(r, "history")) != 2 {
			t.Errorf("Anita reads %s", r.Body) // her answer and the student's
		}
		want("Anita said no", "true false false", "conflict")
		notes := string(h.coach.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Body)
		if !strings.Contains(notes, "Ravi said yes, Anita said no about Asha Rao: talk to both.") || strings.Count(notes, `"guardian_conflict"`) != 1 {
			t.Errorf("the coach is not told of the conflict once: %s", notes)
		}
		for name, r := range map[string]*touchlinetest.Response{
			"player": h.ravi.Call(t, "GET", h.url, nil).Want(t, 200), "own status": h.ravi.Call(t, "GET", "/api/players/approval-status/"+h.player, nil).Want(t, 200),
			"availability": h.ravi.Call(t, "GET", "/api/services/availability/"+h.player, nil).Want(t, 200),
			"players":      h.ravi.Call(t, "GET", "/api/me/players", nil).Want(t, 200), "notifications": h.ravi.Call(t, "GET", "/api/notifications", nil).Want(t, 200),
		} {
			if h.hides(name, r); strings.Contains(string(r.Body), "rejected") || strings.Contains(string(r.Body), "conflict") {
				t.Errorf("%s says what Anita answered: %s", name, r.Body)
			}
			if name == "player" && !strings.Contains(string(r.Body), `{"relationship":"mother","first_name":"Anita","position":2}`) {
				t.Errorf("an approved guardian does not see that there is another: %s", r.Body)
			}
		}
		// The coach asks again, and Anita says yes.
		again := h.coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": h.player, "guardian_id": h.anitaID}).Want(t, 201)
		if again.String("guardian_id") != h.anitaID {
			t.Errorf("asked %s", again.Body)
		}
		want("Anita is asked again", "true false false", "conflict")
		h.answer(h.anita, "guardian", "approved").Want(t, 200)
		want("both said yes", "true true true", "given")
		h.answer(h.ravi, "guardian", "revoked").Want(t, 200)
		want("Ravi took the yes back", "false true false", "conflict")
		h.answer(h.anita, "guardian", "revoked").Want(t, 200)
		want("both took it back", "false false false", "refused")

		r := h.coach.Call(t, "GET", "/api/players/approval-status/"+h.player, nil).Want(t, 200)
		var of []string
		for _, d := range listOf(r, "history") {
			of = append(of, fmt.Sprint(map[any]string{h.raviID: "Ravi", h.anitaID: "Anita", nil: "student"}[d.(object)["guardian_id"]], " ", d.(object)["action"]))
		}
		if got := strings.Join(of, ", "); got != "student approved, Ravi approved, Anita rejected, Anita approved, Ravi revoked, Anita revoked" {
			t.Errorf("history: %s", got)
		}
	}, func(c *config.Config) { c.RequireGuardianForMinors = true })
}

// TestStandingNo: the no of a guardian counts until that guardian says yes, whatever the coach does meanwhile. A guardian who is removed
// has no say, and brings the no along when the coach adds the same number again.
func TestStandingNo(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		h := newHousehold(t, s)
		want := func(step, apps, approval string) {
			t.Helper()
			if got := h.apps() + " " + h.approval(); got != apps+" "+approval {
				t.Errorf("%s: got %s, want %s %s", step, got, apps, approval)
			}
		}
		patch := func(change object) {
			t.Helper()
			s.Clock.Skip(time.Minute)
			h.coach.Call(t, "PATCH", h.url+"/guardians/"+h.anitaID, change).Want(t, 200)
		}
		remove := func() {
			t.Helper()
			h.coach.Call(t, "DELETE", h.url+"/guardians/"+h.anitaID, nil).Want(t, 204)
		}
		add := func() {
			t.Helper()
			s.Clock.Skip(time.Minute)
			h.anitaID = h.coach.Call(t, "POST", h.url+"/guardians", object{"name": "Anita Iyer", "relationship": "mother", "mobile_number": "+919812370003"}).Want(t, 201).String("guardian_id")
			h.anita = s.SignIn(t, "guardian", "+919812370003")
		}
		h.answer(h.ravi, "guardian", "approved").Want(t, 200)
		h.answer(h.student, "student", "approved").Want(t, 200)
		h.answer(h.anita, "guardian", "rejected").Want(t, 200)
		want("a no", "true false false", "conflict")
		again := h.coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": h.player, "guardian_id": h.anitaID}).Want(t, 201)
		want("asked again", "true false false", "conflict")
		h.coach.Call(t, "POST", "/api/approval/requests/"+again.String("request_id")+"/cancel", nil).Want(t, 200)
		want("cancelled", "true false false", "conflict")
		h.answer(h.anita, "guardian", "approved").Want(t, 409, "no_open_request")
		h.answer(h.anita, "guardian", "revoked").Want(t, 409, "invalid_transition")
		h.answer(h.anita, "guardian", "rejected").Want(t, 200)
		want("no without a request", "true false false", "conflict")
		patch(object{"mobile_number": "+919812370009"})
		want("corrected number", "true false false", "conflict")
		patch(object{"mobile_number": "+919812370003"})
		want("the first number", "true false false", "conflict")
		patch(object{"name": "Anita Rao"})
		want("corrected name", "true false false", "conflict")
		h.coach.Call(t, "PATCH", h.url, object{"student": object{"full_name": "Asha Iyer"}}).Want(t, 200)
		want("another student", "false false false", "refused")
		h.answer(h.ravi, "guardian", "approved").Want(t, 200)
		h.answer(h.student, "student", "approved").Want(t, 200)
		want("they say yes again", "true false false", "conflict")
		remove()
		want("removed", "true true", "given")
		add()
		want("added again", "true false false", "conflict")
		h.answer(h.anita, "guardian", "approved").Want(t, 200)
		want("a yes", "true true true", "given")
		h.answer(h.anita, "guardian", "revoked").Want(t, 200)
		remove()
		// The place of another guardian gets the number of the removed one.
		other := h.coach.Call(t, "POST", h.url+"/guardians", object{"name": "Uma", "relationship": "aunt", "mobile_number": "+919812370008"}).Want(t, 201)
		h.anitaID = other.String("guardian_id")
		want("another one", "true false true", "given")
		patch(object{"mobile_number": "+919812370003"})
		want("the number of the removed one", "true false false", "conflict")
		h.audit()
	}, func(c *config.Config) { c.RequireGuardianForMinors = true })
}

// TestNextHolder: another person in the place of a guardian, by a corrected number or after the first guardian went, sees no answer of the
// person before.
func TestNextHolder(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		h := newHousehold(t, s)
		seesOne := func(number, action string) {
			t.Helper()
			s.Clock.Skip(time.Minute)
			next := s.SignIn(t, "guardian", number)
			r := h.answer(next, "guardian", action).Want(t, 200)
			status := next.Call(t, "GET", "/api/players/approval-status/"+h.player, nil).Want(t, 200)
			for _, list := range [][]any{listOf(r, "history"), listOf(status, "history")} {
				if len(list) != 1 || list[0].(object)["action"] != action {
					t.Errorf("%s sees %v", number, list)
				}
			}
		}
		h.answer(h.anita, "guardian", "rejected").Want(t, 200)
		h.coach.Call(t, "PATCH", h.url+"/guardians/"+h.anitaID, object{"mobile_number": "+919812370007"}).Want(t, 200)
		seesOne("+919812370007", "approved")
		h.answer(h.ravi, "guardian", "rejected").Want(t, 200)
		h.coach.Call(t, "DELETE", h.url+"/guardians/"+h.anitaID, nil).Want(t, 204)
		h.ravi.Call(t, "DELETE", "/api/me", nil).Want(t, 204)
		added := h.coach.Call(t, "PATCH", h.url, object{"guardian": object{"name": "Uma Rao", "relationship": "aunt", "mobile_number": "+919812370008"}}).Want(t, 200)
		guardians := listOf(added, "guardians")
		if len(guardians) != 1 || guardians[0].(object)["guardian_id"] == h.raviID || guardians[0].(object)["name"] != "Uma Rao" {
			t.Errorf("the next first guardian: %v", guardians)
		}
		if got := h.approval(); got != "waiting" { // Ravi has no say any more
			t.Errorf("the approval is %s", got)
		}
		seesOne("+919812370008", "approved")
		h.audit()
	}, func(c *config.Config) { c.RequireGuardianForMinors = true })
}

// TestFirstGuardianLeaves: the next guardian becomes the first, in all fields that the first one has.
func TestFirstGuardianLeaves(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		h := newHousehold(t, s)
		added := h.coach.Call(t, "POST", h.url+"/guardians", object{"name": "Uma Rao", "relationship": "aunt", "mobile_number": "+919812370008"}).Want(t, 201)
		h.answer(h.anita, "guardian", "approved").Want(t, 200)
		h.ravi.Call(t, "DELETE", "/api/me", nil).Want(t, 204)
		want := func(when, id, status string) {
			t.Helper()
			player := h.coach.Call(t, "GET", h.url, nil).Want(t, 200)
			guardians := listOf(player, "guardians")
			first := guardians[0].(object)
			if first["guardian_id"] != id || first["position"] != 1.0 || player.JSON["guardian"] == nil || player.String("guardian_status") != status {
				t.Errorf("%s: %s", when, player.Body)
			}
			if list := listOf(h.coach.Call(t, "GET", "/api/players?guardian_status="+status, nil).Want(t, 200), "items"); len(list) != 1 {
				t.Errorf("%s: %d players are %s", when, len(list), status)
			}
			if access := h.coach.Call(t, "GET", "/api/services/availability/"+h.player, nil).Want(t, 200); access.JSON["guardian_app_enabled"] != (status == "approved") {
				t.Errorf("%s: %s", when, access.Body)
			}
			request := h.coach.Call(t, "GET", "/api/players/approval-status/"+h.player, nil).Want(t, 200).JSON["guardian_request"].(object)
			if request["guardian_id"] != id {
				t.Errorf("%s: the request %v", when, request)
			}
		}
		want("Ravi left", h.anitaID, "approved")
		if notes := h.anita.Call(t, "GET", "/api/notifications", nil).Want(t, 200); !strings.Contains(string(notes.Body), "You are now the first guardian") {
			t.Errorf("Anita is told %s", notes.Body)
		}
		if r := h.coach.Call(t, "DELETE", h.url+"/guardians/"+h.anitaID, nil); r.Code() != "first_guardian" {
			t.Errorf("the coach removes the first without a next one: %d %s", r.Status, r.Body)
		}
		h.anita.Call(t, "DELETE", "/api/me", nil).Want(t, 204)
		want("Anita left", added.String("guardian_id"), "pending")
		h.audit()
	})
}

// TestGuardianChanges: the coach adds, corrects, moves and removes guardians.
func TestGuardianChanges(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		h := newHousehold(t, s)
		other := s.Coach(t, "+919812370011")
		guardians, ravi, anita := h.url+"/guardians", h.url+"/guardians/"+h.raviID, h.url+"/guardians/"+h.anitaID
		person := func(name, number string) object {
			return object{"name": name, "relationship": "aunt", "mobile_number": number}
		}
		h.coach.Call(t, "POST", "/api/players/add", object{
			"student": object{"full_name": "Bela", "date_of_birth": "2014-04-30"}, "guardian": person("A", "+919812370021"), "guardians": []any{person("B", "+919812370022")},
		}).Want(t, 422)
		same := h.coach.Call(t, "POST", "/api/players/add", object{
			"student": object{"full_name": "Bela", "date_of_birth": "2014-04-30"}, "guardians": []any{person("A", "+919812370021"), person("B", "+919812370021")},
		}).Want(t, 422)
		if same.Code() != "contact_conflict" {
			t.Errorf("same number twice: %s", same.Body)
		}
		for name, r := range map[string]*touchlinetest.Response{
			"another coach adds": other.Call(t, "POST", guardians, person("C", "+919812370023")), "another coach corrects": other.Call(t, "PATCH", anita, object{"name": "X"}),
			"another coach removes": other.Call(t, "DELETE", anita, nil), "unknown guardian": h.coach.Call(t, "DELETE", guardians+"/"+h.player, nil),
			"reminder of an unknown guardian": h.coach.Call(t, "POST", "/api/approval/send-reminder", object{"player_id": h.player, "approver_type": "guardian", "guardian_id": h.player}),
			"question to an unknown guardian": h.coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": h.player, "guardian_id": h.player}),
		} {
			if r.Status != 404 {
				t.Errorf("%s: %d %s", name, r.Status, r.Body)
			}
		}
		for name, r := range map[string]*touchlinetest.Response{
			"a guardian adds": h.ravi.Call(t, "POST", guardians, person("C", "+919812370023")), "a guardian removes": h.ravi.Call(t, "DELETE", anita, nil),
		} {
			if r.Status != 403 {
				t.Errorf("%s: %d %s", name, r.Status, r.Body)
			}
		}
		if r := h.coach.Call(t, "POST", guardians, person("C", "+919812370003")).Want(t, 422); r.Code() != "contact_conflict" {
			t.Errorf("the number of another guardian: %s", r.Body)
		}
		h.answer(h.ravi, "guardian", "approved").Want(t, 200)
		h.answer(h.anita, "guardian", "approved").Want(t, 200)
		third := h.coach.Call(t, "POST", guardians, person("Chitra Rao", "+919812370023")).Want(t, 201)
		if third.JSON["position"] != 3.0 || third.String("state") != "pending" || third.JSON["request_id"] == nil {
			t.Errorf("third guardian: %s", third.Body)
		}
		if notes := h.anita.Call(t, "GET", "/api/notifications", nil).Want(t, 200); !strings.Contains(string(notes.Body), "Chitra (aunt)") || strings.Contains(string(notes.Body), "Chitra Rao") {
			t.Errorf("Anita is told %s", notes.Body)
		}
		h.coach.Call(t, "POST", guardians, person("D", "+919812370024")).Want(t, 201)
		if fifth := h.coach.Call(t, "POST", guardians, person("E", "+919812370025")).Want(t, 422); fifth.Code() != "too_many" {
			t.Errorf("a fifth: %s", fifth.Body)
		}
		// The requests of one guardian are nothing to another one.
		request := third.String("request_id")
		h.ravi.Call(t, "GET", "/api/approval/requests/"+request, nil).Want(t, 404)
		h.ravi.Call(t, "POST", "/api/approval/requests/"+request+"/dispute", nil).Want(t, 404)
		h.coach.Call(t, "POST", "/api/approval/requests/"+request+"/follow-up", object{"guardian_id": h.raviID}).Want(t, 404)
		h.coach.Call(t, "POST", "/api/approval/requests/"+request+"/follow-up", object{"guardian_id": third.String("guardian_id")}).Want(t, 200)

		if first := h.coach.Call(t, "DELETE", ravi, nil).Want(t, 409); first.Code() != "first_guardian" {
			t.Errorf("the first: %s", first.Body)
		}
		h.coach.Call(t, "DELETE", ravi+"?next="+h.raviID, nil).Want(t, 422)
		h.coach.Call(t, "DELETE", ravi+"?next="+h.anitaID, nil).Want(t, 204)
		h.ravi.Call(t, "GET", h.url, nil).Want(t, 404)
		p := h.coach.Call(t, "GET", h.url, nil).Want(t, 200)
		if p.String("guardian.name") != "Anita Iyer" || p.String("guardian_status") != "approved" || len(listOf(p, "guardians")) != 3 {
			t.Errorf("after the removal: %s", p.Body)
		}
		if notes := h.anita.Call(t, "GET", "/api/notifications", nil).Want(t, 200); !strings.Contains(string(notes.Body), "Ravi (father) is no longer a guardian") || !strings.Contains(string(notes.Body), "You are now the first guardian") {
			t.Errorf("Anita is told %s", notes.Body)
		}
		moved := h.coach.Call(t, "PATCH", h.url+"/guardians/"+third.String("guardian_id"), object{"position": 1}).Want(t, 200)
		if moved.JSON["position"] != 1.0 || h.coach.Call(t, "GET", h.url, nil).Want(t, 200).String("guardian.name") != "Chitra Rao" {
			t.Errorf("moved: %s", moved.Body)
		}
		corrected := h.coach.Call(t, "PATCH", anita, object{"mobile_number": "+919812370033"}).Want(t, 200)
		if corrected.String("state") != "pending" || corrected.JSON["position"] != 2.0 {
			t.Errorf("corrected: %s", corrected.Body)
		}
		h.anita.Call(t, "GET", h.url, nil).Want(t, 404)
		h.coach.Call(t, "PATCH", h.url, object{"guardian_rule": "all"}).Want(t, 200)
		h.audit()
	})
}

// TestGuardiansRace: of two guardians who answer at once each has its answer, whatever the coach does meanwhile; a guardian whom the
// coach removes or corrects meanwhile turns the app on for no other party.
func TestGuardiansRace(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		h := newHousehold(t, s)
		ravi, anita := h.url+"/guardians/"+h.raviID, h.url+"/guardians/"+h.anitaID
		for round := range 4 {
			h.Clock.Skip(time.Minute)
			rivals := []func() *touchlinetest.Response{
				func() *touchlinetest.Response {
					return h.ravi.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": h.player, "action": []string{"approved", "revoked"}[round%2]})
				},
				func() *touchlinetest.Response {
					return h.anita.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": h.player, "action": []string{"rejected", "revoked"}[round%2]})
				},
				func() *touchlinetest.Response {
					return h.coach.Call(t, "PATCH", anita, object{"position": round%2 + 1})
				},
			}
			if round == 3 {
				rivals = append(rivals, func() *touchlinetest.Response { return h.coach.Call(t, "DELETE", anita+"?next="+h.raviID, nil) },
					func() *touchlinetest.Response {
						return h.coach.Call(t, "PATCH", ravi, object{"mobile_number": "+919812370042"})
					})
			}
			var all sync.WaitGroup
			for _, rival := range rivals {
				all.Go(func() {
					if r := rival(); r.Status >= 500 {
						t.Errorf("round %d: %d %s", round, r.Status, r.Body)
					}
				})
			}
			all.Wait()
			if round == 0 && h.apps() != "true false false" && h.apps() != "false true false" {
				t.Errorf("the apps are on for %s", h.apps())
			}
			for _, id := range []string{h.raviID, h.anitaID} {
				if round == 1 {
					h.coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": h.player, "guardian_id": id})
				}
			}
		}
		if strings.HasPrefix(h.apps(), "true") {
			t.Errorf("a corrected number has the app: %s", h.apps())
		}
		h.anita.Call(t, "GET", h.url, nil).Want(t, 404)
		h.audit()
	})
}
