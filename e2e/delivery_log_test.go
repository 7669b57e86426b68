package e2e_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestDeliveryLog: the line of each attempt at a message has the masked number, the approval request, and the trace and span of the call that
// asked for it, which the line of that call has too.
func TestDeliveryLog(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		s.Gateway.Behave(smstest.Behaviour{Status: 503})
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		var failed, sent []object
		eventually(t, "an attempt failed", func() bool {
			failed = logLines(t, s, "a message was not sent")
			return len(failed) > 0
		})
		s.Gateway.Behave(smstest.Behaviour{})
		eventually(t, "the message is sent", func() bool {
			sent = logLines(t, s, "a message was sent")
			return sent[len(sent)-1]["kind"] == "request"
		})
		call := object{}
		for _, line := range logLines(t, s, "request") {
			if line["trace_id"] == added.Header.Get("X-Trace-Id") {
				call = line
			}
		}
		for _, line := range []object{failed[0], sent[len(sent)-1]} {
			if line["trace_id"] != call["trace_id"] || line["span_id"] != call["span_id"] || call["route"] != "/api/players/add" {
				t.Errorf("the attempt %v names another call than %v", line, call)
			}
			if line["to"] != phone.Number(guardianNumber).Mask() || line["delivery"] == "" || line["request_id"] == nil || line["channel"] != "sms" {
				t.Errorf("got %v", line)
			}
		}
		if failed[0]["delivery"] != sent[len(sent)-1]["delivery"] || failed[0]["reason"] == nil {
			t.Errorf("got %v and %v", failed[0], sent)
		}
		// A worker makes the deliveries of a coach's message.
		guardian := s.SignIn(t, "guardian", guardianNumber)
		player := added.String("player_id")
		decideAsGuardian(t, guardian, player, "approved")
		asked := coach.Call(t, "POST", "/api/messages", newMessage("Bring water.", []string{"sms"}, player)).Want(t, 201)
		eventually(t, "the message of the coach is sent in its trace", func() bool {
			sent = logLines(t, s, "a message was sent")
			last := sent[len(sent)-1]
			return last["kind"] == "team" && last["trace_id"] == asked.Header.Get("X-Trace-Id")
		})
		if strings.Contains(s.Log.String(), guardianNumber) {
			t.Error("the log has a number")
		}
	})
}
