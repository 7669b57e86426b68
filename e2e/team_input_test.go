package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestTeamBadInput: what a coach enters wrong in batches, fees and messages is a clear
// problem, and nothing of it is saved.
func TestTeamBadInput(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, db := s.Coach(t, coachNumber), openTables(t, s)
		batch := addBatch(t, coach, "Juniors")
		asha := coach.AddPlayer(t, named("Asha", guardianNumber, batch)).String("player_id")
		bela := coach.AddPlayer(t, named("Bela", guardianNumber, batch)).String("player_id")
		refused := func(method, path string, body object, status int, code, pointer string, headers ...string) {
			t.Helper()
			got := coach.Call(t, method, path, body, headers...).Want(t, status, code)
			if pointer != "" && !strings.Contains(string(got.Body), `"pointer":"`+pointer+`"`) {
				t.Errorf("%s %s: no fault at %s: %s", method, path, pointer, got.Body)
			}
		}

		// A sheet: a player who left, and a batch that is archived while its sheet is open.
		now := s.Clock.Now()
		today, tomorrow := now.Format("2006-01-02"), now.AddDate(0, 0, 2).Format("2006-01-02")
		sheet := "/api/batches/" + batch + "/attendance/"
		marks := object{"marks": []object{{"player_id": asha, "mark": "present"}, {"player_id": bela, "mark": "late"}}}
		coach.Call(t, "PUT", sheet+today, marks).Want(t, 200)
		coach.Call(t, "DELETE", "/api/batches/"+batch+"/players/"+bela, nil).Want(t, 204)
		refused("PUT", sheet+tomorrow, marks, 422, "validation_failed", "/marks/1/player_id")
		refused("PATCH", sheet+tomorrow, marks, 422, "validation_failed", "/marks/1/player_id")
		if got := coach.Call(t, "GET", sheet+tomorrow, nil).Want(t, 200).String("version"); got != "0" {
			t.Errorf("a refused sheet has version %s", got)
		}
		open := coach.Call(t, "GET", sheet+today, nil).Want(t, 200)
		coach.Call(t, "DELETE", "/api/batches/"+batch, nil).Want(t, 204)
		for _, method := range []string{"PUT", "PATCH"} {
			refused(method, sheet+today, object{"marks": []object{{"player_id": asha, "mark": "absent"}}}, 409, "batch_archived", "", "If-Match: "+open.Header.Get("ETag"))
		}
		if after := coach.Call(t, "GET", sheet+today, nil).Want(t, 200); after.String("version") != open.String("version") || after.String("counts.present") != "1" {
			t.Errorf("the sheet of the archived batch changed: %s", after.Body)
		}

		// A day outside the schedule is allowed, and flagged.
		other := addBatch(t, coach, "Seniors")
		coach.Call(t, "PATCH", "/api/batches/"+other, object{"schedule": []object{
			{"weekday": strings.ToLower(now.AddDate(0, 0, 3).Weekday().String()), "start": "17:30", "end": "19:00"},
		}}).Want(t, 200)
		coach.Call(t, "PUT", "/api/batches/"+other+"/players/"+asha, nil).Want(t, 204)
		if got := coach.Call(t, "PUT", "/api/batches/"+other+"/attendance/"+today, object{"marks": []object{{"player_id": asha, "mark": "present"}}}).Want(t, 200); got.String("outside_schedule") != "true" {
			t.Errorf("a date outside the schedule: %s", got.Body)
		}

		// Amounts, and a payment above the balance.
		for _, amount := range []any{0, -1, 1_000_000_000_001, 1e30, 10.5, "10"} {
			refused("POST", "/api/fees", object{"player_id": asha, "title": "Kit", "amount": amount, "due_on": today}, 422, "validation_failed", "/amount")
		}
		if n := len(coach.Call(t, "GET", "/api/fees", nil).Want(t, 200).Items()); n != 0 {
			t.Errorf("%d fees after refused requests", n)
		}
		fee := "/api/fees/" + coach.Call(t, "POST", "/api/fees", object{"player_id": asha, "title": "Kit", "amount": 1_000_000_000_000, "due_on": today}).Want(t, 201).String("fee_id")
		for _, amount := range []any{0, -1, 1_000_000_000_001} {
			refused("POST", fee+"/payments", object{"amount": amount, "method": "cash", "paid_on": today}, 422, "validation_failed", "/amount")
		}
		coach.Call(t, "POST", fee+"/payments", object{"amount": 999_999_999_999, "method": "cash", "paid_on": today}).Want(t, 201)
		refused("POST", fee+"/payments", object{"amount": 2, "method": "cash", "paid_on": today}, 409, "payment_exceeds_balance", "")
		if got := coach.Call(t, "GET", fee, nil).Want(t, 200); got.String("balance") != "1" || len(got.JSON["payments"].([]any)) != 1 {
			t.Errorf("after the refused payments: %s", got.Body)
		}

		// A message that is too long or shows nothing, and too many recipients.
		sms := []string{"sms"}
		refused("POST", "/api/messages", newMessage(strings.Repeat("ण", 1001), sms, asha), 422, "validation_failed", "/text")
		refused("POST", "/api/messages", newMessage("\u200b\u2060\u00a0", sms, asha), 422, "validation_failed", "/text")
		var many []string
		for range 1001 {
			many = append(many, uuid.Must(uuid.NewV7()).String())
		}
		refused("POST", "/api/messages", newMessage("Hi", sms, many...), 422, "validation_failed", "/to/player_ids")
		execSQL(t, db, `
			INSERT INTO players (id, coach_id, version, student_name, student_key, date_of_birth, search_key, created_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
			SELECT CAST($1 AS TEXT) || i, CAST($1 AS TEXT), 1, 'Child ' || i, 'child ' || i, '2014-04-30', 'child', 1 FROM n`, coach.ID)
		execSQL(t, db, `
			INSERT INTO parties (player_id, role, position, coach_id, state, pending_since)
			SELECT p.id, r.role, 1, p.coach_id, 'pending', 1 FROM players p CROSS JOIN (SELECT 'guardian' AS role UNION ALL SELECT 'student') r WHERE p.student_key LIKE 'child %'`)
		execSQL(t, db, `ANALYZE`) // as autovacuum does soon after so many rows
		for _, path := range []string{"/api/messages", "/api/messages/preview"} {
			refused("POST", path, object{"to": object{"all": true}, "audience": "both", "text": "Hi", "channels": sms}, 422, "validation_failed", "/to")
		}
		if n := len(coach.Call(t, "GET", "/api/messages", nil).Want(t, 200).Items()); n != 0 {
			t.Errorf("%d messages after refused requests", n)
		}
	})
}
