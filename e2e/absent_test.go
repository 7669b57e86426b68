package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestOthersAreAbsent: what another coach has of the coach's day looks to a coach, and what
// another family has to a family, byte for byte like what does not exist.
func TestOthersAreAbsent(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		batch := addBatch(t, coach, "Juniors")
		added := coach.AddPlayer(t, named("Asha", guardianNumber, batch))
		player, asked, first := added.String("player_id"), added.String("guardian_request_id"), added.JSON["guardians"].([]any)[0].(object)["guardian_id"].(string)
		sibling := coach.AddPlayer(t, named("Bela", "+919812399001", batch)).String("player_id")
		ofOther := other.AddPlayer(t, named("Chitra", "+919812399002")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
		// The other guardian of the player, and one whom the coach removed.
		another := func(name, number string) (*touchlinetest.User, string) {
			added := coach.Call(t, "POST", "/api/players/"+player+"/guardians", object{"name": name, "relationship": "parent", "mobile_number": number}).Want(t, 201)
			by := s.SignIn(t, "guardian", number)
			by.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
			return by, added.String("guardian_id")
		}
		partner, _ := another("Anita", "+919812399003")
		former, formerID := another("Chandra", "+919812399004")
		coach.Call(t, "DELETE", "/api/players/"+player+"/guardians/"+formerID, nil).Want(t, 204)
		receipt := guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).Items()[0]["record_id"].(string)
		zone, err := time.LoadLocation("Asia/Kolkata") // the default of coaches in India
		if err != nil {
			t.Fatal(err)
		}
		today := s.Clock.Now().In(zone).Format(time.DateOnly)
		tomorrow := s.Clock.Now().In(zone).AddDate(0, 0, 1).Format(time.DateOnly)
		fee := func(id string) string {
			return coach.Call(t, "POST", "/api/fees", object{"player_id": id, "title": "Kit", "amount": 500, "due_on": today}).Want(t, 201).String("fee_id")
		}
		own, siblings := fee(player), fee(sibling)
		paid := coach.Call(t, "POST", "/api/fees/"+own+"/payments", object{"amount": 1, "method": "cash", "paid_on": today}).Want(t, 201)
		payment := paid.String("payment_id")
		sent := coach.Call(t, "POST", "/api/messages", newMessage("Hi", []string{"in_app"}, player)).Want(t, 201).String("message_id")
		measured := coach.Call(t, "POST", "/api/players/"+player+"/progress", object{"metric": "80 m", "value": 1, "on": today}).Want(t, 201).String("measurement_id")
		report := coach.Call(t, "POST", "/api/players/"+player+"/reports", object{"title": "T", "text": "x", "from": today, "to": today}).Want(t, 201).String("report_id")
		coach.Call(t, "POST", "/api/fees", object{"player_id": player, "title": "Month", "amount": 5, "due_on": today, "repeat": object{"every": "month"}}).Want(t, 201)
		repeat, _ := coach.Call(t, "GET", "/api/fee-repeats", nil).Want(t, 200).Items()[0]["repeat_id"].(string)

		reason, marks := object{"reason": "r"}, object{"marks": []object{{"player_id": player, "mark": "present"}}}
		type call struct {
			by                 *touchlinetest.User
			method, path, what string // % in the path or body stands for what
			body               any
		}
		calls := []call{
			{other, "GET", "/api/batches/%", batch, nil},
			{other, "PATCH", "/api/batches/%", batch, object{"name": "Mine"}},
			{other, "DELETE", "/api/batches/%", batch, nil},
			{other, "PUT", "/api/batches/%/players/" + ofOther, batch, nil},
			{other, "GET", "/api/batches/%/attendance", batch, nil},
			{other, "GET", "/api/batches/%/attendance/" + today, batch, nil},
			{other, "PUT", "/api/batches/%/attendance/" + today, batch, marks},
			{other, "PATCH", "/api/batches/%/attendance/" + today, batch, marks},
			{other, "GET", "/api/players/%/attendance", player, nil},
			{other, "GET", "/api/batches/%/trainings", batch, nil},
			{other, "POST", "/api/batches/%/trainings", batch, object{"date": today, "start": "22:00", "end": "23:59"}},
			{other, "GET", "/api/trainings/%." + tomorrow, batch, nil},
			{other, "PATCH", "/api/trainings/%." + tomorrow, batch, object{"venue": "Hall"}},
			{other, "DELETE", "/api/trainings/%." + tomorrow, batch, reason},
			{other, "POST", "/api/trainings/%." + tomorrow + "/ask", batch, nil},
			{guardian, "GET", "/api/me/players/%/trainings", sibling, nil},
			{guardian, "GET", "/api/me/players/%/trainings/" + batch + "." + tomorrow, sibling, nil},
			{guardian, "PUT", "/api/me/players/%/trainings/" + batch + "." + tomorrow + "/attending", sibling, object{"attending": true}},
			{guardian, "GET", "/api/me/players/" + player + "/trainings/%." + tomorrow, ofOther, nil},
			{guardian, "POST", "/api/me/players/%/calendar", sibling, nil},
			{guardian, "DELETE", "/api/me/players/%/calendar", sibling, nil},
			{other, "GET", "/api/fees/%", own, nil},
			{other, "POST", "/api/fees/%/waive", own, reason},
			{other, "POST", "/api/fees/%/void", own, reason},
			{other, "POST", "/api/fees/%/remind", own, nil},
			{other, "POST", "/api/fees/%/payments", own, object{"amount": 1, "method": "cash", "paid_on": today}},
			{other, "GET", "/api/fees/%/payments/" + payment + "/receipt", own, nil},
			{other, "POST", "/api/fees/%/payments/" + payment + "/reverse", own, reason},
			{coach, "GET", "/api/fees/" + siblings + "/payments/%/receipt", payment, nil},
			{coach, "POST", "/api/fees/" + siblings + "/payments/%/reverse", payment, reason},
			{other, "DELETE", "/api/fee-repeats/%", repeat, nil},
			{other, "POST", "/api/fees", player, object{"player_id": "%", "title": "Kit", "amount": 500, "due_on": today}},
			{other, "POST", "/api/fees", batch, object{"batch_id": "%", "title": "Kit", "amount": 500, "due_on": today}},
			{other, "GET", "/api/messages/%", sent, nil},
			{other, "POST", "/api/messages", player, newMessage("Hi", []string{"sms"}, "%", ofOther)},
			{other, "POST", "/api/messages/preview", player, newMessage("Hi", []string{"sms"}, "%")},
			{other, "POST", "/api/messages", batch, object{"to": object{"batch_id": "%"}, "audience": "both", "text": "Hi", "channels": []string{"sms"}}},
			{other, "GET", "/api/players/%/progress", player, nil},
			{other, "GET", "/api/players/" + ofOther + "/progress/%", measured, nil},
			{coach, "DELETE", "/api/players/" + sibling + "/progress/%", measured, nil},
			{other, "PATCH", "/api/players/" + ofOther + "/reports/%", report, object{"title": "Mine"}},
			{coach, "DELETE", "/api/players/" + sibling + "/reports/%", report, nil},
			{guardian, "GET", "/api/me/players/%/schedule", sibling, nil},
			{guardian, "GET", "/api/me/players/%/attendance", sibling, nil},
			{guardian, "GET", "/api/me/players/%/fees", sibling, nil},
			{guardian, "GET", "/api/me/players/%/messages", sibling, nil},
			{guardian, "POST", "/api/me/players/%/messages", sibling, object{"text": "Hi"}},
			{guardian, "GET", "/api/me/players/%/progress", sibling, nil},
			{guardian, "GET", "/api/me/players/%/reports", sibling, nil},
			{guardian, "GET", "/api/me/players/" + player + "/fees/%", siblings, nil},
			{guardian, "GET", "/api/me/players/" + player + "/fees/%/qr", siblings, nil},
			{guardian, "PUT", "/api/me/players/" + player + "/fees/%/told", siblings, nil},
			{guardian, "DELETE", "/api/me/players/" + player + "/fees/%/told", siblings, nil},
			{other, "DELETE", "/api/fees/%/told", own, nil},
			{other, "POST", "/api/players/%/guardians", player, object{"name": "A", "relationship": "aunt", "mobile_number": "+919812399005"}},
			{other, "PATCH", "/api/players/%/guardians/" + first, player, object{"name": "A"}},
			{other, "DELETE", "/api/players/%/guardians/" + first, player, nil},
			{coach, "PATCH", "/api/players/" + sibling + "/guardians/%", first, object{"name": "A"}},
			{coach, "DELETE", "/api/players/" + sibling + "/guardians/%", first, nil},
			{coach, "POST", "/api/approval/send-guardian-request", first, object{"player_id": sibling, "guardian_id": "%"}},
			{coach, "POST", "/api/approval/send-reminder", first, object{"player_id": sibling, "approver_type": "guardian", "guardian_id": "%"}},
			{coach, "DELETE", "/api/players/" + player + "/guardians/%", formerID, nil},
			{partner, "GET", "/api/approval/requests/%", asked, nil},
			{partner, "POST", "/api/approval/requests/%/dispute", asked, nil},
			{partner, "DELETE", "/api/approval/requests/%/dispute", asked, nil},
			{partner, "GET", "/api/me/receipts/%", receipt, nil},
		}
		for _, path := range []string{
			"/api/players/%", "/api/players/approval-status/%", "/api/services/availability/%", "/api/players/%/medical", "/api/me/players/%/access-log",
			"/api/me/players/%/schedule", "/api/me/players/%/trainings", "/api/me/players/%/attendance", "/api/me/players/%/fees", "/api/me/players/%/messages",
			"/api/me/players/%/progress", "/api/me/players/%/reports",
		} {
			calls = append(calls, call{former, "GET", path, player, nil})
		}
		calls = append(calls, call{former, "PUT", "/api/approval/guardian-response", player, object{"player_id": "%", "action": "revoked"}}, call{former, "POST", "/api/me/players/%/calendar", player, nil})
		for _, tt := range calls {
			call := func(id string) *touchlinetest.Response {
				return tt.by.Call(t, tt.method, strings.Replace(tt.path, "%", id, 1), replaced(tt.body, id)).Want(t, 404, "not_found")
			}
			if there, none := call(tt.what), call(uuid.Must(uuid.NewV7()).String()); !sameResponse(there, none) {
				t.Errorf("%s %s: got %s, want the same as %s", tt.method, tt.path, there.Body, none.Body)
			}
		}
		// Nothing of it changed.
		if got := coach.Call(t, "GET", "/api/fees/"+own, nil).Want(t, 200); got.String("balance") != "499" || got.String("state") != "due" {
			t.Errorf("the fee changed: %s", got.Body)
		}
		coach.Call(t, "GET", "/api/players/"+player+"/progress/"+measured, nil).Want(t, 200)
		if got := coach.Call(t, "GET", "/api/players/"+player+"/reports/"+report, nil).Want(t, 200); got.String("title") != "T" {
			t.Errorf("the report changed: %s", got.Body)
		}
	})
}

// replaced returns a body with id in place of the string %.
func replaced(body any, id string) any {
	switch b := body.(type) {
	case object:
		changed := object{}
		for name, v := range b {
			changed[name] = replaced(v, id)
		}
		return changed
	case []string:
		return strings.Split(strings.Replace(strings.Join(b, " "), "%", id, 1), " ")
	case string:
		return strings.Replace(b, "%", id, 1)
	}
	return body
}
