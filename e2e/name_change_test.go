package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// renameCoach gives a coach a name that families do not know: the coach asks for it, and an operator confirms it.
func renameCoach(t *testing.T, s *touchlinetest.Service, coach *touchlinetest.User, name string) {
	t.Helper()
	coach.Call(t, "PATCH", "/api/coach/profile", object{"name": name}).Want(t, 202)
	s.Operator(t, operator.KYC).Call(t, "POST", "/api/admin/names/"+coach.ID+"/confirm", object{"name": name}).Want(t, 200)
}

// TestCoachIsRenamed: a name that shares no word with the old one waits for an operator, and a verified coach with another
// name than the confirmed one has no mark in the directory.
func TestCoachIsRenamed(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, op, auditor := s.Coach(t, coachNumber), s.Operator(t, operator.KYC), s.Operator(t, operator.Audit)
		passport := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		coach.Call(t, "POST", "/api/coach/kyc", object{"legal_name": "Meera Nair", "document_ids": []string{passport}}).Want(t, 201)
		decideKYC(t, s, approve)
		coach.Call(t, "PUT", "/api/coach/visibility", visibilityBody(true, "name", "verified")).Want(t, 200)
		coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		guardian := s.SignIn(t, "guardian", guardianNumber)
		rename := func(name string, status int) *touchlinetest.Response {
			t.Helper()
			return coach.Call(t, "PATCH", "/api/coach/profile", object{"name": name}).Want(t, status)
		}
		listed := func(when, name, verified string) {
			t.Helper()
			if a := s.Call(t, "GET", "/api/coaches/"+coach.ID, "", nil).Want(t, 200); a.String("name") != name || a.String("verified") != verified {
				t.Errorf("%s: the directory has %s, want %q, verified %s", when, a.Body, name, verified)
			}
		}
		queued := func(when string, want int) {
			t.Helper()
			if a := op.Call(t, "GET", "/api/admin/names", nil).Want(t, 200); len(a.Items()) != want {
				t.Errorf("%s: the queue has %s, want %d", when, a.Body, want)
			}
		}
		at := "/api/admin/names/" + coach.ID
		listed("verified", "Meera Nair", "true")
		queued("verified", 0)

		// A name that shares a word takes effect at once, without the mark.
		rename("Meera Verma", 200)
		listed("another name", "Meera Verma", "false")
		queued("another name", 1)
		if a := op.Call(t, "GET", at, nil).Want(t, 200); a.String("legal_name") != "Meera Nair" || a.String("confirmed_name") != "Meera Nair" || a.String("unmarked") != "[name]" {
			t.Errorf("the operator compares %s", a.Body)
		}
		op.Call(t, "POST", at+"/confirm", object{"name": "Meera Nair"}).Want(t, 409, "request_superseded")
		op.Call(t, "POST", at+"/confirm", object{"name": "Meera Verma"}).Want(t, 200)
		listed("confirmed", "Meera Verma", "true")

		// A name that shares no word waits. Until then the old name is shown, with its mark.
		wish := rename("Sunrise Runners", 202)
		if wish.String("name") != "Meera Verma" || wish.String("name_pending") != "Sunrise Runners" || wish.String("takes_effect_at") == "" {
			t.Errorf("the wish: got %s", wish.Body)
		}
		listed("the wish", "Meera Verma", "true")
		queued("the wish", 1)
		if a := coach.Call(t, "PATCH", "/api/coach/profile", `{"name_pending":null}`).Want(t, 200); a.JSON["name_pending"] != nil || a.JSON["takes_effect_at"] != nil {
			t.Errorf("withdrawn: got %s", a.Body)
		}
		queued("withdrawn", 0)
		op.Call(t, "POST", at+"/confirm", object{"name": "Sunrise Runners"}).Want(t, 409, "invalid_transition")
		rename("Sunrise Runners", 202)
		guardian.Call(t, "GET", "/api/coach/profile", nil).Want(t, 403, "role_not_allowed")
		auditor.Call(t, "POST", at+"/confirm", object{"name": "Sunrise Runners"}).Want(t, 403)
		if a := op.Call(t, "POST", at+"/confirm", object{"name": "Sunrise Runners"}).Want(t, 200); a.String("name") != "Sunrise Runners" || a.JSON["name_pending"] != nil || a.String("confirmed_name") != "Sunrise Runners" {
			t.Errorf("confirmed: got %s", a.Body)
		}
		listed("the wish is confirmed", "Sunrise Runners", "true")
		queued("the wish is confirmed", 0)
		if n := countNotifications(t, coach, "name_confirmed"); n != 2 {
			t.Errorf("the coach has %d notifications of confirmations, want 2", n)
		}

		// A third change waits too, and can be refused. A service's name is refused at once.
		rename("Sunrise Sprinters", 202)
		op.Call(t, "POST", at+"/refuse", object{"name": "Sunrise Sprinters", "reason": "Families know another name."}).Want(t, 200)
		listed("refused", "Sunrise Runners", "true")
		a := rename("WhatsApp Support", 422)
		if got := strings.Join(validationFaults(a), ", "); got != "/name name_not_allowed" {
			t.Errorf("a service's name: got %s", got)
		}
		// The fourth name that families do not know in 30 days is refused. The faults of the other fields come first.
		rename("Delhi School", 409).Want(t, 409, "name_limit")
		for _, c := range []struct{ body, fault string }{
			{`{"name":"Delhi School","experience_years":999}`, "/experience_years too_large"},
			{`{"name":"Delhi School","foo":1}`, "/foo unknown_field"},
			{`{"name":"` + strings.Repeat("x", 101) + `"}`, "/name too_long"},
			{`{"name":"\u202eMeera"}`, "/name invalid_characters"},
			{`{"name":"Delhi School","time_zone":"x"}`, "/time_zone invalid_time_zone"},
			{`{"name":"Delhi School","certifications":["` + wish.String("coach_id") + `"]}`, "/certifications/0 unknown_document"},
		} {
			a := coach.Call(t, "PATCH", "/api/coach/profile", c.body)
			if got := strings.Join(validationFaults(a), ", "); a.Status != 422 || got != c.fault {
				t.Errorf("%.60s: %d %q, want 422 %q", c.body, a.Status, got, c.fault)
			}
		}
		whole := object{"name": strings.Repeat("x", 101), "bio": "I coach.", "experience_years": 5, "sports": []string{"chess"}}
		if got := strings.Join(validationFaults(coach.Call(t, "POST", "/auth/complete-profile", whole)), ", "); got != "/name too_long" {
			t.Errorf("the whole profile with a long name: got %q", got)
		}
		// The titles of trainings and fees are in messages to families, so they are checked alike.
		batch := coach.Call(t, "POST", "/api/batches", object{"name": "U12"}).Want(t, 201).String("batch_id")
		player := coach.AddPlayer(t, named("Farid Khan", otherNumber, batch)).String("player_id")
		day := s.Clock.Now().AddDate(0, 0, 3).Format(time.DateOnly)
		training := object{"date": day, "start": "17:30", "end": "19:00", "kind": "other", "title": "Camp at the Bank of India ground"}
		added := coach.Call(t, "POST", "/api/batches/"+batch+"/trainings", training).Want(t, 201).String("training_id")
		for _, title := range []string{"WhatsApp Support", "V e r i f i e d account", "SBI KYC update", "Touchline ✓"} {
			training["title"] = title
			for what, a := range map[string]*touchlinetest.Response{
				"a training":             coach.Call(t, "POST", "/api/batches/"+batch+"/trainings", training),
				"a change of a training": coach.Call(t, "PATCH", "/api/trainings/"+added, object{"title": title}),
				"a fee":                  coach.Call(t, "POST", "/api/fees", object{"player_id": player, "title": title, "amount": 50000, "due_on": day}),
			} {
				if got := strings.Join(validationFaults(a), ", "); a.Status != 422 || got != "/title name_not_allowed" {
					t.Errorf("%s with the title %q: %d %s", what, title, a.Status, got)
				}
			}
		}
		actions := auditActions(t, auditor, coach.ID)
		for action, want := range map[string]int{operator.NameConfirmed: 2, operator.NameRefused: 1} {
			if n := len(slices.DeleteFunc(slices.Clone(actions), func(a string) bool { return a != action })); n != want {
				t.Errorf("%d entries of %s, want %d", n, action, want)
			}
		}
	}, enableKYC)
}
