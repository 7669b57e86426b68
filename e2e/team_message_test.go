package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// newMessage returns the body of a message to the guardians of players.
func newMessage(text string, channels []string, players ...string) object {
	return object{"to": object{"player_ids": players}, "audience": "guardian", "text": text, "channels": channels}
}

// recipientStates returns the recipients of a message as "party state reason", when all have
// a delivery and none is queued without a reason.
func recipientStates(t *testing.T, coach *touchlinetest.User, id string) []string {
	t.Helper()
	var states []string
	eventually(t, "the message leaves", func() bool {
		states = nil
		got := coach.Call(t, "GET", "/api/messages/"+id, nil).Want(t, 200)
		list, _ := got.JSON["recipients"].([]any)
		for _, item := range list {
			r := item.(object)
			reason, _ := r["reason"].(string)
			if r["state"] == "queued" && reason == "" {
				return false
			}
			states = append(states, strings.TrimSpace(fmt.Sprintf("%s %s %s", r["party"], r["state"], reason)))
		}
		return got.String("expanded_at") != "" && got.String("recipient_count") == fmt.Sprint(len(list))
	})
	return states
}

// TestMessages walks a coach and a family through messages, replies and templates.
func TestMessages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, "+919812300001"), s.Coach(t, "+919812300002")
		asha := coach.AddPlayer(t, touchlinetest.Minor("+919812300011", "+919812300012")).String("player_id")
		foreign := other.AddPlayer(t, child(1, "+919812300021")).String("player_id")
		guardian := s.SignIn(t, "guardian", "+919812300011")
		family := "/api/me/players/" + asha + "/messages"
		sms := []string{"sms"}

		// Before an answer the SMS arrives without links and says how to stop; the app is closed.
		first := newMessage("Bring water. Call +91 98123 99999 or see https://club.example", sms, asha)
		preview := coach.Call(t, "POST", "/api/messages/preview", first).Want(t, 200)
		if preview.String("segments") != "1" || preview.String("cost") != "0.12" || preview.String("currency") != "INR" || preview.String("allowed_now") != "200" || preview.String("left_out_count") != "0" {
			t.Errorf("preview: %s", preview.Body)
		}
		key := "Idempotency-Key: " + uuid.NewString()
		sent := coach.Call(t, "POST", "/api/messages", first, key).Want(t, 201)
		if again := coach.Call(t, "POST", "/api/messages", first, key).Want(t, 201); string(again.Body) != string(sent.Body) {
			t.Errorf("the same key again: %s, want %s", again.Body, sent.Body)
		}
		if got := coach.Call(t, "GET", "/api/messages/"+sent.String("message_id"), nil).Want(t, 200); len(got.JSON["recipients"].([]any)) != 1 {
			t.Errorf("recipients of an accepted message: %s", got.Body)
		}
		const want = "Meera Nair: Bring water. Call or see\nTo stop: "
		if text := s.SMS("+919812300011", "message", 1).Text; !strings.HasPrefix(text, want) || strings.Contains(text, "98123 99999") {
			t.Errorf("SMS = %q, want it to begin with %q", text, want)
		}
		if got := recipientStates(t, coach, sent.String("message_id")); got[0] != "guardian sent" {
			t.Errorf("recipients = %v", got)
		}
		guardian.Call(t, "GET", family, nil).Want(t, 403, "approval_pending")
		guardian.Call(t, "POST", family, object{"text": "Hello"}).Want(t, 403, "approval_pending")
		left := coach.Call(t, "POST", "/api/messages", newMessage("In the app", []string{"in_app"}, asha)).Want(t, 201).String("message_id")
		if got := recipientStates(t, coach, left); got[0] != "guardian left_out not_approved" {
			t.Errorf("in_app before the approval: %v", got)
		}
		left = coach.Call(t, "POST", "/api/messages", newMessage("By chat", []string{"chat"}, asha)).Want(t, 201).String("message_id")
		if got := recipientStates(t, coach, left); got[0] != "guardian left_out chat_not_configured" {
			t.Errorf("chat: %v", got)
		}

		// After a yes the app shows the messages, the newest first, and the guardian replies.
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": asha, "action": "approved"}).Want(t, 200)
		both := coach.Call(t, "POST", "/api/messages", newMessage("See https://club.example/map", []string{"sms", "in_app"}, asha)).Want(t, 201).String("message_id")
		if text := s.SMS("+919812300011", "message", 2).Text; text != "Meera Nair: See https://club.example/map" {
			t.Errorf("SMS after the approval: %q", text)
		}
		recipientStates(t, coach, both)
		if got := guardian.Call(t, "GET", family, nil).Want(t, 200).Items(); len(got) < 2 || got[0]["message_id"] != both || got[0]["from"] != "coach" {
			t.Errorf("conversation: %v", got)
		}
		if got := guardian.Call(t, "GET", "/api/notifications", nil).Items(); got[0]["type"] != "team_message" || strings.Contains(fmt.Sprint(got[0]), "club.example") {
			t.Errorf("notification: %v", got[0])
		}
		key = "Idempotency-Key: " + uuid.NewString()
		reply := guardian.Call(t, "POST", family, object{"text": "We come. 👍"}, key).Want(t, 201)
		guardian.Call(t, "POST", family, object{"text": "We come. 👍"}, key).Want(t, 201)
		replies := coach.Call(t, "GET", "/api/messages/replies?unread=true", nil).Want(t, 200).Items()
		if len(replies) != 1 || replies[0]["text"] != "We come. 👍" || replies[0]["name"] != "Ravi Rao" || replies[0]["reply_id"] != reply.String("message_id") {
			t.Errorf("replies: %v", replies)
		}
		board := coach.Call(t, "GET", "/api/coach/dashboard", nil).Want(t, 200)
		if recent := board.JSON["recent_messages"].([]any); board.String("unread_replies") != "1" || recent[0].(object)["message_id"] != both {
			t.Errorf("dashboard: %s", board.Body)
		}
		if got := coach.Call(t, "GET", "/api/notifications", nil).Items(); got[0]["type"] != "team_reply" {
			t.Errorf("notification of the coach: %v", got[0])
		}
		if got := coach.Call(t, "POST", "/api/messages/replies/read", object{"all": true}).Want(t, 200); got.String("unread") != "0" {
			t.Errorf("unread = %s", got.Body)
		}

		// A message to a student under 18 goes to the guardian too.
		copied := coach.Call(t, "POST", "/api/messages", object{"to": object{"all": true}, "audience": "student", "text": "Well played", "channels": sms}).Want(t, 201)
		if text := s.SMS("+919812300011", "message", 3).Text; text != "Meera Nair to Asha Rao: Well played" {
			t.Errorf("copy: %q", text)
		}
		if got := recipientStates(t, coach, copied.String("message_id")); len(got) != 2 {
			t.Errorf("recipients = %v", got)
		}

		// A revocation closes the app at once, also for a repeated key.
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": asha, "action": "revoked"}).Want(t, 200)
		guardian.Call(t, "GET", family, nil).Want(t, 403, "approval_required")
		guardian.Call(t, "GET", family+"?limit=0", nil).Want(t, 403, "approval_required")
		guardian.Call(t, "POST", family, object{"text": "We come. 👍"}, key).Want(t, 403, "approval_required")
		for _, n := range guardian.Call(t, "GET", "/api/notifications", nil).Items() {
			if n["type"] == "team_message" {
				t.Errorf("a notification is left after the revocation: %v", n)
			}
		}

		// The owner decides, and faults are named.
		id := sent.String("message_id")
		for _, path := range []string{"/api/messages/" + id, "/api/messages/" + uuid.Must(uuid.NewV7()).String()} {
			other.Call(t, "GET", path, nil).Want(t, 404, "not_found")
		}
		guardian.Call(t, "GET", "/api/me/players/"+foreign+"/messages", nil).Want(t, 404, "not_found")
		guardian.Call(t, "GET", "/api/messages", nil).Want(t, 403, "role_not_allowed")
		coach.Call(t, "POST", "/api/messages", newMessage("Hi", sms, foreign)).Want(t, 404, "not_found")
		coach.Call(t, "POST", "/api/messages", newMessage("", sms, asha, foreign)).Want(t, 404, "not_found")
		for _, tt := range []struct {
			pointer string
			body    object
		}{
			{"/text", newMessage(strings.Repeat("a", 1001), sms, asha)},
			{"/text", newMessage(" \u200b ", sms, asha)},
			{"/channels/0", newMessage("Hi", []string{"pigeon"}, asha)},
			{"/channels", newMessage("Hi", nil, asha)},
			{"/channels/1", newMessage("Hi", []string{"sms", "sms"}, asha)},
			{"/to", object{"to": object{}, "audience": "both", "text": "Hi", "channels": sms}},
			{"/to", object{"to": object{"all": true, "player_ids": []string{asha}}, "audience": "both", "text": "Hi", "channels": sms}},
			{"/to/all", object{"to": object{"all": false}, "audience": "both", "text": "Hi", "channels": sms}},
			{"/audience", object{"to": object{"all": true}, "audience": "all", "text": "Hi", "channels": sms}},
		} {
			got := coach.Call(t, "POST", "/api/messages", tt.body).Want(t, 422, "validation_failed")
			if !strings.Contains(string(got.Body), `"pointer":"`+tt.pointer+`"`) {
				t.Errorf("no fault at %s: %s", tt.pointer, got.Body)
			}
		}
		coach.Call(t, "POST", "/api/messages", object{"to": object{"player_ids": make([]string, 10_000)}, "audience": "both", "text": strings.Repeat("a", 60_000), "channels": sms}).Want(t, 413, "payload_too_large")
		testSafeguarding(t, s, asha)
		testTemplates(t, s, coach)
	}, func(c *config.Config) { c.SMSPrices = []config.SMSPrice{{Country: "*", Price: 1200}} })
}

// testSafeguarding checks who reads the conversation about a player, and that the reason is
// audited.
func testSafeguarding(t *testing.T, s *touchlinetest.Service, playerID string) {
	t.Helper()
	const path, reason = "/api/admin/safeguarding/conversations", "Complaint 2026-14 of the school"
	op, body := s.Operator(t, operator.Safeguarding, operator.Audit), object{"player_id": playerID, "reason": reason, "limit": 2}
	page := op.Call(t, "POST", path, body).Want(t, 200)
	newest := page.Items()
	if len(newest) != 2 || fmt.Sprint(newest[0]["to"]) != "[student guardian]" || newest[0]["copy"] != true || newest[1]["from"] != "guardian" {
		t.Errorf("first page: %s", page.Body)
	}
	body["cursor"] = page.String("next_cursor")
	if rest := op.Call(t, "POST", path, body).Want(t, 200).Items(); len(rest) != 2 || rest[1]["text"] == rest[0]["text"] {
		t.Errorf("second page: %v", rest)
	}
	entries := op.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200).Items()
	if entries[0]["action"] != "conversation.read" || entries[0]["detail"] != reason || entries[0]["object_id"] != playerID {
		t.Errorf("audit log: %v", entries[0])
	}
	op.Call(t, "POST", path, object{"player_id": playerID, "reason": "curious"}).Want(t, 422, "validation_failed")
	op.Call(t, "POST", path, object{"player_id": uuid.Must(uuid.NewV7()).String(), "reason": reason}).Want(t, 404, "not_found")
	s.Operator(t, operator.Coaches).Call(t, "POST", path, body).Want(t, 403, "insufficient_scope")
}

// testTemplates checks that new templates need a feature of the tier and old ones do not.
func testTemplates(t *testing.T, s *touchlinetest.Service, coach *touchlinetest.User) {
	t.Helper()
	body := object{"title": "Rain", "text": "It rains. We train in the hall."}
	refused := coach.Call(t, "POST", "/api/messages/templates", body).Want(t, 403, "tier_limit")
	if refused.String("needed_tier") != "academy" {
		t.Errorf("needed tier = %s", refused.Body)
	}
	op := s.Operator(t, operator.Coaches)
	op.Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", object{"tier": "academy"}).Want(t, 200)
	id := coach.Call(t, "POST", "/api/messages/templates", body).Want(t, 201).String("template_id")
	op.Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", object{"tier": "free"}).Want(t, 200)
	if got := coach.Call(t, "GET", "/api/messages/templates", nil).Want(t, 200).Items(); len(got) != 1 || got[0]["title"] != "Rain" {
		t.Errorf("templates: %v", got)
	}
	coach.Call(t, "DELETE", "/api/messages/templates/"+id, nil).Want(t, 204)
	coach.Call(t, "DELETE", "/api/messages/templates/"+id, nil).Want(t, 404, "not_found")
}
