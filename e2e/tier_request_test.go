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

// TestTierRequests: operators list the coaches who asked for a tier, approve or refuse it,
// and the coach is notified. A decision names the tier that the operator saw.
func TestTierRequests(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		op, auditor := s.Operator(t, operator.Coaches), s.Operator(t, operator.Audit)
		first, second, third := s.Coach(t, coachNumber), s.Coach(t, coach2Number), s.SignIn(t, "coach", "+919812300081")
		const list = "/api/admin/tier-requests"
		ask := func(coach *touchlinetest.User, tier string, status int) {
			t.Helper()
			coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": tier}).Want(t, status)
			s.Clock.Advance(time.Minute)
		}
		ask(first, "pro", 202)
		ask(second, "academy", 202)
		ask(third, "pro", 202)
		ask(first, "academy", 202) // another tier: a new request
		ask(second, "academy", 202)

		requests := func() (all []string) {
			t.Helper()
			for next := list + "?limit=1"; next != ""; {
				a := op.Call(t, "GET", next, nil).Want(t, 200)
				for _, r := range a.Items() {
					all = append(all, r["coach_id"].(string)+" "+r["requested_tier"].(string))
					if r["tier"] != "free" {
						t.Errorf("got %v, want the tier free", r)
					}
				}
				if next = a.String("next_cursor"); next != "" {
					next = list + "?limit=1&cursor=" + url.QueryEscape(next)
				}
			}
			return all
		}
		if got, want := requests(), []string{second.ID + " academy", third.ID + " pro", first.ID + " academy"}; !slices.Equal(got, want) {
			t.Errorf("got the requests %v, want %v", got, want)
		}

		decide := func(coach *touchlinetest.User, word string, body object) *touchlinetest.Response {
			t.Helper()
			return op.Call(t, "POST", list+"/"+coach.ID+"/"+word, body)
		}
		decide(first, "approve", object{"tier": "pro"}).Want(t, 409, "request_superseded")
		decide(first, "refuse", object{"tier": "pro", "reason": "x"}).Want(t, 409, "request_superseded")
		if a := decide(first, "approve", object{"tier": "academy"}).Want(t, 200); a.String("tier") != "academy" || a.JSON["requested_tier"] != nil {
			t.Errorf("approved: got %s", a.Body)
		}
		decide(first, "approve", object{"tier": "academy"}).Want(t, 409, "request_superseded")
		if a := decide(second, "refuse", object{"tier": "academy", "reason": "Tell us more first"}).Want(t, 200); a.String("tier") != "free" || a.JSON["requested_tier"] != nil {
			t.Errorf("refused: got %s", a.Body)
		}
		runCLI(t, s, "approve in a shell", func(sh *cliContext) error {
			_, err := sh.Subscriptions.Approve(sh.ctx, sh.by, third.ID, "pro")
			return err
		})
		if got := requests(); got != nil {
			t.Errorf("got the requests %v after all decisions", got)
		}
		for _, tt := range []struct {
			coach      *touchlinetest.User
			kind, body string
		}{
			{first, "tier_approved", "You asked for the plan Academy. You have it now."},
			{second, "tier_refused", "You asked for the plan Academy. You cannot have it now. The reason: Tell us more first."},
			{third, "tier_approved", "You asked for the plan Pro. You have it now."},
		} {
			got := tt.coach.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items()
			if len(got) != 1 || got[0]["type"] != tt.kind || got[0]["body"] != tt.body {
				t.Errorf("got the notifications %v, want one %s", got, tt.kind)
			}
		}
		if got := auditActions(t, auditor, first.ID); !slices.Equal(got, []string{"coach.read", "tier.approve"}) {
			t.Errorf("audit log: got %v", got)
		}
		if got := auditActions(t, auditor, second.ID); !slices.Equal(got, []string{"coach.read", "tier.refuse"}) {
			t.Errorf("audit log: got %v", got)
		}

		// Setting a tier decides an open request too.
		ask(second, "pro", 202)
		op.Call(t, "PUT", "/api/admin/coaches/"+second.ID+"/tier", object{"tier": "pro"}).Want(t, 200)
		ask(third, "academy", 202)
		op.Call(t, "PUT", "/api/admin/coaches/"+third.ID+"/tier", object{"tier": "free"}).Want(t, 200)
		op.Call(t, "PUT", "/api/admin/coaches/"+third.ID+"/tier", object{"tier": "pro"}).Want(t, 200)
		if countNotifications(t, second, "tier_approved") != 1 || countNotifications(t, third, "tier_refused") != 1 || countNotifications(t, third, "tier_approved") != 1 {
			t.Error("want one notification of each decided request, and none without a request")
		}

		for _, body := range []object{{}, {"tier": ""}, {"tier": "gold"}, {"tier": "pro", "reason": "x"}} {
			decide(first, "approve", body).Want(t, 422)
		}
		for _, body := range []object{{"tier": "pro"}, {"tier": "pro", "reason": ""}, {"tier": "pro", "reason": strings.Repeat("x", 501)}, {"tier": "pro", "reason": "a\u202eb"}} {
			decide(first, "refuse", body).Want(t, 422, "validation_failed")
		}
		unknown := *first
		unknown.ID = op.ID
		for _, body := range []object{{"tier": "pro", "reason": "Later"}, {}} { // not_found comes before validation_failed
			for _, call := range []string{"POST tier-requests/%/approve", "POST tier-requests/%/refuse", "PUT coaches/%/tier", "POST coaches/%/suspend"} {
				method, path, _ := strings.Cut(strings.Replace(call, "%", unknown.ID, 1), " ")
				op.Call(t, method, "/api/admin/"+path, body).Want(t, 404, "not_found")
			}
		}
		s.Operator(t, operator.KYC).Call(t, "GET", list, nil).Want(t, 403, "insufficient_scope")
	})
}
