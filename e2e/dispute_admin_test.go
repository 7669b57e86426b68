package e2e_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestOperatorsLiftDisputes: operators find disputes by coach and number and lift them,
// with the effects of the party's own lifting. Every step is audited.
func TestOperatorsLiftDisputes(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		op, auditor := s.Operator(t, operator.Disputes), s.Operator(t, operator.Audit)
		coach, other := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		const list = "/api/admin/disputes"
		dispute := func(by *touchlinetest.User, n int, number string) (player, request string) {
			t.Helper()
			added := by.AddPlayer(t, child(n, number))
			player, request = added.String("player_id"), added.String("guardian_request_id")
			s.SignIn(t, "guardian", number).Call(t, "POST", "/api/approval/requests/"+request+"/dispute", nil).Want(t, 200)
			s.Clock.Advance(61 * time.Second)
			return player, request
		}
		reopened, reopenedRequest := dispute(coach, 1, "+919812300071")
		changed, changedRequest := dispute(coach, 2, "+919812300072")
		removed, removedRequest := dispute(coach, 3, "+919812300073")
		_, otherRequest := dispute(other, 4, "+919812300073")
		coach.Call(t, "PATCH", "/api/players/"+changed, object{"guardian": object{"mobile_number": "+919812300074"}}).Want(t, 200)
		coach.Call(t, "DELETE", "/api/players/"+removed, nil).Want(t, 204)

		pages := func(path string) (ids []string) {
			t.Helper()
			for next := path; next != ""; {
				a := op.Call(t, "GET", next, nil).Want(t, 200)
				for _, private := range []string{"98123000", "Asha", "Meera Rao"} {
					if strings.Contains(string(a.Body), private) {
						t.Errorf("the list names a guardian or student: %s", a.Body)
					}
				}
				for _, d := range a.Items() {
					if d["approver_type"] != "guardian" || d["coach_name"] == nil || d["disputed_at"] == nil {
						t.Errorf("got %v", d)
					}
					ids = append(ids, d["request_id"].(string))
				}
				if next = a.String("next_cursor"); next != "" {
					next = path + "&cursor=" + url.QueryEscape(next)
				}
			}
			return ids
		}
		find := func(number string) (ids []string) {
			t.Helper()
			for _, d := range op.Call(t, "POST", list+"/search", object{"number": number}).Want(t, 200).Items() {
				ids = append(ids, d["request_id"].(string))
			}
			return ids
		}
		for _, tt := range []struct {
			what      string
			got, want []string
		}{
			{"all", pages(list + "?limit=1"), []string{otherRequest, removedRequest, changedRequest, reopenedRequest}},
			{"of a coach", pages(list + "?limit=2&coach_id=" + coach.ID), []string{removedRequest, changedRequest, reopenedRequest}},
			{"of a number", find("098123 00073"), []string{otherRequest, removedRequest}},
			{"of a number without disputes", find("+919812300074"), nil},
		} {
			if !slices.Equal(tt.got, tt.want) {
				t.Errorf("disputes %s: got %v, want %v", tt.what, tt.got, tt.want)
			}
		}

		for _, request := range []string{reopenedRequest, changedRequest, removedRequest} {
			op.Call(t, "DELETE", list+"/"+request, nil).Want(t, 204)
			op.Call(t, "DELETE", list+"/"+request, nil).Want(t, 404, "not_found")
			if got := auditActions(t, auditor, request); !slices.Equal(got, []string{"dispute.lift"}) {
				t.Errorf("audit log: got %v", got)
			}
		}
		if got := pages(list + "?limit=5"); !slices.Equal(got, []string{otherRequest}) {
			t.Errorf("disputes after lifting: got %v, want %v", got, otherRequest)
		}
		if n := countNotifications(t, coach, "dispute_lifted"); n != 2 {
			t.Errorf("the coach has %d notifications of lifted disputes, want 2", n)
		}
		decideAsGuardian(t, s.SignIn(t, "guardian", "+919812300071"), reopened, "approved")
		coach.Call(t, "PATCH", "/api/players/"+changed, object{"guardian": object{"mobile_number": "+919812300072"}}).Want(t, 200)
		coach.Call(t, "POST", "/api/players/add", child(3, "+919812300073")).Want(t, 201)
		other.Call(t, "POST", "/api/players/add", child(5, "+919812300073")).Want(t, 201) // a dispute is about one student

		for path, status := range map[string]int{list + "?coach_id=x": 422, list + "?limit=0": 422, list + "?cursor=x": 422} {
			op.Call(t, "GET", path, nil).Want(t, status)
		}
		for _, body := range []object{{}, {"number": "x"}, {"number": nil}, {"number": coachNumber, "more": 1}, {"number": coachNumber, "limit": 0}} {
			op.Call(t, "POST", list+"/search", body).Want(t, 422, "validation_failed")
		}
		open := coach.AddPlayer(t, child(6, "+919812300075")).String("guardian_request_id")
		for _, id := range []string{"x", coach.ID, open} {
			op.Call(t, "DELETE", list+"/"+id, nil).Want(t, 404, "not_found")
		}
		s.Operator(t, operator.Coaches).Call(t, "DELETE", list+"/"+otherRequest, nil).Want(t, 403, "insufficient_scope")
		op.Call(t, "DELETE", list+"/"+otherRequest, nil).Want(t, 204)
		if got := pages(list + "?limit=5"); got != nil {
			t.Errorf("disputes after the last was lifted: got %v", got)
		}
	})
}
