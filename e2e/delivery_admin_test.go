package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestOperatorsRetryDeliveries: operators list messages that the gateway refused, without
// numbers, and send them again once. Every step is audited.
func TestOperatorsRetryDeliveries(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		op, auditor := s.Operator(t, operator.Deliveries), s.Operator(t, operator.Audit)
		coach, other := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		const list = "/api/admin/deliveries"
		s.Gateway.Behave(smstest.Behaviour{Status: 400})
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		failed := func(path string) []object {
			t.Helper()
			a := op.Call(t, "GET", path, nil).Want(t, 200)
			for _, private := range []string{guardianNumber[1:], studentNumber[1:], "Asha", "Ravi"} {
				if strings.Contains(string(a.Body), private) {
					t.Errorf("the list names a recipient: %s", a.Body)
				}
			}
			return a.Items()
		}
		eventually(t, "both messages failed", func() bool { return len(failed(list)) == 2 })
		requests := []string{player.String("guardian_request_id"), player.String("student_request_id")}
		ids := map[string]string{}
		for _, d := range failed(list + "?state=failed&coach_id=" + coach.ID) {
			request := d["request_id"].(string)
			if !slices.Contains(requests, request) || d["coach_id"] != coach.ID || d["reason"] != "refused" || d["kind"] != "request" || d["channel"] != "sms" ||
				d["state"] != "failed" || d["attempts"] != 1.0 || d["can_retry"] != true {
				t.Errorf("got %v", d)
			}
			ids[request] = d["delivery_id"].(string)
		}
		if of := failed(list + "?coach_id=" + other.ID); len(of) > 0 {
			t.Errorf("got %v for another coach", of)
		}

		s.Gateway.Behave(smstest.Behaviour{})
		first := ids[requests[0]]
		if a := op.Call(t, "POST", list+"/"+first+"/retry", nil).Want(t, 200); a.String("state") != "queued" || a.JSON["reason"] != nil || a.JSON["can_retry"] != false {
			t.Errorf("retry: got %s", a.Body)
		}
		s.SMS(guardianNumber, "message", 0)
		eventually(t, "the delivery is sent", func() bool {
			state, _ := smsDelivery(getRequest(t, coach, requests[0]))
			return state == "sent"
		})
		op.Call(t, "POST", list+"/"+first+"/retry", nil).Want(t, 409, "invalid_transition")
		runCLI(t, s, "retry in a shell", func(sh *cliContext) error {
			_, err := sh.Deliveries.RetryFailed(sh.ctx, sh.by, ids[requests[1]], message.DeliveryRecord.CheckRetry)
			return err
		})
		s.SMS(studentNumber, "message", 0)
		if left := failed(list); len(left) > 0 {
			t.Errorf("got %v after the retries", left)
		}
		if got := auditActions(t, auditor, first); !slices.Equal(got, []string{"delivery.retry"}) {
			t.Errorf("audit log: got %v", got)
		}

		for _, query := range []string{"state=sent", "state=", "coach_id=x", "limit=0", "cursor=x"} {
			op.Call(t, "GET", list+"?"+query, nil).Want(t, 422, "validation_failed")
		}
		for _, id := range []string{"x", coach.ID} {
			op.Call(t, "POST", list+"/"+id+"/retry", nil).Want(t, 404, "not_found")
		}
		s.Operator(t, operator.Coaches).Call(t, "GET", list, nil).Want(t, 403, "insufficient_scope")
	})
}
