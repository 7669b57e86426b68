package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestRecords walks through measurements and reports: what the coach changes, and what an
// approved party sees from its approval on.
func TestRecords(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, "+919812300001"), s.Coach(t, "+919812300002")
		asha := coach.AddPlayer(t, touchlinetest.Minor("+919812300011", "")).String("player_id")
		guardian := s.SignIn(t, "guardian", "+919812300011")
		measured := object{"metric": "80 m sprint", "value": 12.4, "unit": "s", "on": "2026-03-02"}
		report := object{"title": "Spring", "text": "She runs more.\nShe passes earlier.", "from": "2026-01-05", "to": "2026-03-28"}
		kinds := []struct {
			path, id, notification, service string
			body, patch                     object
			changed                         string // the field of patch
		}{
			{"progress", "measurement_id", "progress_update", "progress_tracking", measured, object{"value": -0.5, "unit": nil}, "value"},
			{"reports", "report_id", "performance_report", "performance_reports", report, object{"title": "Term"}, "title"},
		}
		for _, k := range kinds {
			path, family := "/api/players/"+asha+"/"+k.path, "/api/me/players/"+asha+"/"+k.path
			key := "Idempotency-Key: " + uuid.NewString()
			before := coach.Call(t, "POST", path, k.body, key).Want(t, 201)
			if again := coach.Call(t, "POST", path, k.body, key).Want(t, 201); string(again.Body) != string(before.Body) {
				t.Errorf("%s: the same key again: %s", k.path, again.Body)
			}
			one := before.Header.Get("Location")
			closed := guardian.Call(t, "GET", family, nil).Want(t, 403, "approval_pending")
			if closed.String("service") != k.service || !strings.HasPrefix(closed.String("detail"), "An approval opens the ") {
				t.Errorf("%s: the problem does not say what an approval opens: %s", k.path, closed.Body)
			}
			guardian.Call(t, "GET", family+"?limit=0", nil).Want(t, 403, "approval_pending")
			if n := guardian.Call(t, "GET", "/api/notifications", nil).Items(); strings.Contains(fmt.Sprint(n), k.notification) {
				t.Errorf("%s: a notification before the approval: %v", k.path, n)
			}
			guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": asha, "action": "approved"}).Want(t, 200)
			after := coach.Call(t, "POST", path, k.body).Want(t, 201)
			if got := guardian.Call(t, "GET", family, nil).Want(t, 200).Items(); len(got) != 1 || got[0][k.id] != after.String(k.id) {
				t.Errorf("%s: the guardian sees %v, want what was added after the approval", k.path, got)
			}
			if n := guardian.Call(t, "GET", "/api/notifications", nil).Items(); n[0]["type"] != k.notification {
				t.Errorf("%s: the newest notification is %v", k.path, n[0])
			}
			if got := coach.Call(t, "GET", path+"?limit=1", nil).Want(t, 200); len(got.Items()) != 1 || got.String("next_cursor") == "" {
				t.Errorf("%s: first page: %s", k.path, got.Body)
			} else if next := coach.Call(t, "GET", path+"?limit=1&cursor="+got.String("next_cursor"), nil).Want(t, 200); next.Items()[0][k.id] != before.String(k.id) || next.JSON["next_cursor"] != nil {
				t.Errorf("%s: second page: %s", k.path, next.Body)
			}
			got := coach.Call(t, "PATCH", one, k.patch).Want(t, 200)
			if got.JSON[k.changed] != k.patch[k.changed] {
				t.Errorf("%s: changed to %s", k.path, got.Body)
			}
			if got := coach.Call(t, "GET", one, nil).Want(t, 200); got.JSON[k.changed] != k.patch[k.changed] {
				t.Errorf("%s: read %s", k.path, got.Body)
			}
			for _, faulty := range []object{{k.changed: []int{1}}, {"player_id": asha}} {
				coach.Call(t, "PATCH", one, faulty).Want(t, 422, "validation_failed")
				coach.Call(t, "POST", path, faulty).Want(t, 422, "validation_failed")
				other.Call(t, "PATCH", one, faulty).Want(t, 404, "not_found")
				other.Call(t, "POST", path, faulty).Want(t, 404, "not_found")
			}
			for _, call := range []string{"GET " + path, "GET " + one, "DELETE " + one} {
				method, at, _ := strings.Cut(call, " ")
				other.Call(t, method, at, nil).Want(t, 404, "not_found")
				guardian.Call(t, method, at, nil).Want(t, 403, "role_not_allowed")
			}
			coach.Call(t, "DELETE", one, nil).Want(t, 204)
			coach.Call(t, "DELETE", one, nil).Want(t, 404, "not_found")
			coach.Call(t, "GET", one, nil).Want(t, 404, "not_found")
			guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": asha, "action": "revoked"}).Want(t, 200)
			guardian.Call(t, "GET", family, nil).Want(t, 403, "approval_required")
			// For the next kind the guardian has not answered.
			coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": asha}).Want(t, 201)
		}
		for pointer, body := range map[string]object{
			"/on":     {"metric": "m", "value": 1, "on": "2026-02-30"},
			"/value":  {"metric": "m", "value": 1e13, "on": "2026-03-02"},
			"/metric": {"metric": "", "value": 1, "on": "2026-03-02"},
		} {
			got := coach.Call(t, "POST", "/api/players/"+asha+"/progress", body).Want(t, 422, "validation_failed")
			if !strings.Contains(string(got.Body), `"pointer":"`+pointer+`"`) {
				t.Errorf("no fault at %s: %s", pointer, got.Body)
			}
		}
		bad := object{"title": "T", "text": "x", "from": "2026-03-28", "to": "2026-03-27"}
		if got := coach.Call(t, "POST", "/api/players/"+asha+"/reports", bad).Want(t, 422, "validation_failed"); !strings.Contains(string(got.Body), `"/to"`) {
			t.Errorf("a period that ends before it starts: %s", got.Body)
		}
	}, func(c *config.Config) { c.AppHistory = "since_approval" })
}

// TestWholeHistory: an approval opens what was added before it, unless APP_HISTORY says otherwise.
func TestWholeHistory(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, "+919812300001")
		asha := coach.AddPlayer(t, touchlinetest.Minor("+919812300011", "")).String("player_id")
		coach.Call(t, "POST", "/api/players/"+asha+"/progress", object{"metric": "m", "value": 1, "on": "2026-03-02"}).Want(t, 201)
		id := coach.Call(t, "POST", "/api/messages", newMessage("Hi", []string{"in_app"}, asha)).Want(t, 201).String("message_id")
		recipientStates(t, coach, id)
		guardian := s.SignIn(t, "guardian", "+919812300011")
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": asha, "action": "approved"}).Want(t, 200)
		for _, list := range []string{"progress", "messages"} {
			if got := guardian.Call(t, "GET", "/api/me/players/"+asha+"/"+list, nil).Want(t, 200).Items(); len(got) != 1 {
				t.Errorf("%s after the approval: %v, want what was added before", list, got)
			}
		}
	})
}

// TestHistoryPagesAgree: the coach's pages say what families will see of what the coach adds before
// their yes, and the families' pages show just that.
func TestHistoryPagesAgree(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{true, false} {
		setting, promise, empty := "all", "They also see what you added before.", ""
		if !whole {
			setting, promise, empty = "since_approval", "They never see what you added before.", "after your yes appears here"
		}
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
				coach := s.Coach(t, coachNumber)
				id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
				coach.Call(t, "POST", "/api/players/"+id+"/progress", map[string]any{"metric": "Sprint", "value": 12.4, "unit": "s", "on": "2026-03-02"}).Want(t, 201)
				coach.Call(t, "POST", "/api/players/"+id+"/reports", map[string]any{"title": "Spring", "text": "She runs more.", "from": "2026-01-05", "to": "2026-03-28"}).Want(t, 201)
				s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
				b, family := signInPages(t, s, "coach", coachNumber), signInPages(t, s, "guardian", guardianNumber)
				for page, content := range map[string]string{"progress": "12.4", "reports": "She runs more."} {
					wantText(t, "the coach's page", b.Open("/coach/players/"+id+"/"+page), []string{promise, content}, nil)
					has, lacks := []string{content}, []string(nil)
					if !whole {
						has, lacks = []string{empty}, []string{content}
					}
					wantText(t, "the family's page", family.Open("/me/guardian/players/"+id+"/"+page), has, lacks)
				}
			}, func(c *config.Config) { c.AppHistory = setting })
		})
	}
}
