package e2e_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// hostile are values that no field expects. Those in rawHostile are not valid JSON or not valid
// text, so they are written into the body as they are.
var (
	hostile    = []any{nil, -1, "a\x00b", "\u202e\u200b", "0000-00-00", strings.Repeat("x", 70_000), []any{"\x00"}, object{"\x00": 1}, uuid.Max.String()}
	rawHostile = []string{`"\ud800"`, `1e999`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000), `"` + "\xff" + `"`}
)

// hostileQueries are query strings that no list expects.
var hostileQueries = []string{
	"cursor=%00", "cursor=" + strings.Repeat("A", 900), "limit=-1&limit=1e9", "from=0000-00-00&to=9999-12-31", "from=%00",
	"state=%00&metric=%00%ff&unread=%00&archived=%ff&player_id=%00&batch_id=%00&q=%00%ff%27", "due_from=0000-00-00&due_to=9999-12-31", "a=%zz", "metric=%00", "q=%00",
}

// hostileBodies returns the body with each of its fields replaced by each hostile value. A usual run takes every third body, and not the
// same third for each field.
func hostileBodies(t *testing.T, body object) []string {
	t.Helper()
	var bodies []string
	for name := range body {
		for _, v := range hostile {
			changed := maps.Clone(body)
			changed[name] = v
			text, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, string(text))
		}
		for _, raw := range rawHostile {
			changed := maps.Clone(body)
			changed[name] = "HERE"
			text, err := json.Marshal(changed)
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, strings.Replace(string(text), `"HERE"`, raw, 1))
		}
	}
	var chosen []string
	for i := 0; i < len(bodies); i += storetest.Rounds(3, 1) {
		chosen = append(chosen, bodies[i])
	}
	return chosen
}

// TestTeamHostileInput sends values that no field, path or query of the coach's day expects.
// Each response is as openapi.yaml says, and none is an error of the server.
func TestTeamHostileInput(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		batch := addBatch(t, coach, "Juniors")
		player := coach.AddPlayer(t, named("Asha", guardianNumber, batch)).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": player, "action": "approved"}).Want(t, 200)
		today := s.Clock.Now().Format("2006-01-02")
		fee := "/api/fees/" + coach.Call(t, "POST", "/api/fees", object{"player_id": player, "title": "Kit", "amount": 500, "due_on": today}).Want(t, 201).String("fee_id")
		progress, reports := "/api/players/"+player+"/progress", "/api/players/"+player+"/reports"
		measured := coach.Call(t, "POST", progress, object{"metric": "80 m", "value": 12.4, "unit": "s", "on": today}).Want(t, 201).String("measurement_id")
		report := coach.Call(t, "POST", reports, object{"title": "March", "text": "Good", "from": today, "to": today}).Want(t, 201).String("report_id")
		sheet := "/api/batches/" + batch + "/attendance"
		family := "/api/me/players/" + player
		training := batch + "." + s.Clock.Now().AddDate(0, 0, 2).Format("2006-01-02")

		send := func(u *touchlinetest.User, method, path string, body any, headers ...string) {
			t.Helper()
			if got := u.Call(t, method, path, body, headers...); got.Status >= 500 {
				t.Errorf("%s %s with %.200v: got status %d %s", method, path, body, got.Status, got.Body)
			}
		}
		for _, tt := range []struct {
			by           *touchlinetest.User
			method, path string
			body         object
		}{
			{coach, "POST", "/api/batches", object{"name": "A", "sport": "b", "venue": "c", "time_zone": "Asia/Kolkata", "schedule": []object{}}},
			{coach, "PATCH", "/api/batches/" + batch, object{"name": "A", "sport": "b", "venue": "c", "time_zone": "Asia/Kolkata", "schedule": []object{}}},
			{coach, "PUT", sheet + "/" + today, object{"marks": []object{}}},
			{coach, "PATCH", sheet + "/" + today, object{"marks": []object{}}},
			{coach, "POST", "/api/batches/" + batch + "/trainings", object{"date": today, "start": "17:30", "end": "18:30", "kind": "match", "title": "T", "venue": "v", "opponent": "o"}},
			{coach, "PATCH", "/api/trainings/" + training, object{"date": today, "start": "17:30", "end": "18:30", "kind": "match", "title": "T", "venue": "v", "opponent": "o", "state": "planned", "reason": "r"}},
			{coach, "DELETE", "/api/trainings/" + training, object{"reason": "r"}},
			{guardian, "PUT", family + "/trainings/" + training + "/attending", object{"attending": true, "reason": "r"}},
			{coach, "POST", "/api/fees", object{"player_id": player, "title": "Kit", "amount": 5, "currency": "INR", "due_on": today, "repeat": object{"every": "month"}}},
			{coach, "POST", fee + "/payments", object{"amount": 1, "method": "cash", "paid_on": today, "note": "n"}},
			{coach, "POST", fee + "/waive", object{"reason": "r"}},
			{coach, "POST", "/api/messages", object{"to": object{"all": true}, "audience": "both", "text": "Hi", "channels": []string{"sms"}}},
			{coach, "POST", "/api/messages/preview", object{"to": object{"all": true}, "audience": "both", "text": "Hi", "channels": []string{"sms"}}},
			{coach, "POST", "/api/messages/templates", object{"title": "T", "text": "Hi"}},
			{coach, "POST", "/api/messages/replies/read", object{"ids": []string{player}}},
			{coach, "POST", progress, object{"metric": "80 m", "value": 1, "unit": "s", "on": today}},
			{coach, "PATCH", progress + "/" + measured, object{"metric": "80 m", "value": 1, "unit": "s", "on": today}},
			{coach, "POST", reports, object{"title": "T", "text": "x", "from": today, "to": today}},
			{coach, "PATCH", reports + "/" + report, object{"title": "T", "text": "x", "from": today, "to": today}},
			{coach, "PATCH", "/api/coach/profile", object{"upi_id": "a@b", "time_zone": "Asia/Kolkata"}},
			{guardian, "POST", family + "/messages", object{"text": "Hi"}},
			{guardian, "PATCH", "/api/me/preferences", object{"language": "hi", "channels": []string{"sms"}, "quiet_hours": nil, "time_zone": nil, "stopped_coaches": []string{}}},
		} {
			for _, body := range hostileBodies(t, tt.body) {
				send(tt.by, tt.method, tt.path, body)
			}
		}
		// One field deeper.
		for name, bodies := range map[string][]string{
			"PUT " + sheet + "/" + today:   hostileBodies(t, object{"player_id": player, "mark": "present", "note": "n", "marked_at": "2026-01-01T00:00:00Z"}),
			"PATCH " + sheet + "/" + today: hostileBodies(t, object{"player_id": player, "mark": "present", "note": "n", "marked_at": "2026-01-01T00:00:00Z"}),
			"POST /api/messages/preview":   hostileBodies(t, object{"player_ids": []string{player}, "batch_id": batch, "all": true}),
			"POST /api/batches":            hostileBodies(t, object{"weekday": "monday", "start": "17:30", "end": "18:30"}),
		} {
			method, path, _ := strings.Cut(name, " ")
			around := map[string]string{"PUT": `{"marks":[%]}`, "PATCH": `{"marks":[%]}`, "POST": `{"to":%,"audience":"both","text":"Hi","channels":["sms"]}`}[method]
			if path == "/api/batches" {
				around = `{"name":"A","schedule":[%]}`
			}
			for _, body := range bodies {
				send(coach, method, path, strings.Replace(around, "%", body, 1))
			}
		}
		for _, id := range []string{"%00", "%ff", uuid.Max.String()} {
			for _, at := range []string{
				"/api/batches/%", "/api/batches/%/attendance", "/api/batches/%/attendance/" + today, sheet + "/%", sheet + "/%/superseded", "/api/fees/%", fee + "/payments/%/receipt",
				"/api/messages/%", progress + "/%", reports + "/%", "/api/players/%/progress", "/api/players/%/attendance", "/receipts/%", "/receipts/%/%", "/calls/%/%", "/replies/%/%",
				"/api/batches/%/trainings", "/api/trainings/%", "/api/trainings/" + batch + ".%", "/calendars/%", "/t/%",
			} {
				send(coach, "GET", strings.ReplaceAll(at, "%", id), nil)
			}
			for _, at := range []string{"/fees/%", "/fees/%/qr", "/trainings/%"} {
				send(guardian, "GET", family+strings.ReplaceAll(at, "%", id), nil)
			}
			send(coach, "DELETE", "/api/messages/templates/"+id, nil)
			send(coach, "DELETE", "/api/fee-repeats/"+id, nil)
			send(coach, "PUT", "/api/batches/"+batch+"/players/"+id, nil)
			send(coach, "POST", fee+"/payments/"+id+"/reverse", object{"reason": "r"})
			send(coach, "POST", "/receipts/"+id, "\x00")
			send(coach, "POST", "/replies/"+id, "\x00")
		}
		for _, date := range []string{"0000-00-00", "2000-01-01", "2099-12-31", "0000-01-01", "9999-12-31", "2026-02-30", "-001-01-01", "2026-1-1", "٢٠٢٦-٠١-٠١"} {
			for _, method := range []string{"GET", "PUT", "PATCH"} {
				send(coach, "GET", "/api/trainings/"+batch+"."+date, nil)
				send(coach, "GET", "/api/batches/"+batch+"/trainings?from="+date, nil)
				send(coach, "GET", "/api/batches/"+batch+"/trainings?from=2099-12-31&to="+date, nil)
				send(coach, method, sheet+"/"+date, map[string]any{"GET": nil, "PUT": object{"marks": []object{}}, "PATCH": object{"marks": []object{}}}[method])
			}
		}
		for _, query := range hostileQueries {
			for _, path := range []string{
				"/api/batches", "/api/batches/" + batch + "/trainings", sheet, sheet + "/" + today, "/api/fees", "/api/fee-repeats", "/api/messages", "/api/messages/replies", "/api/messages/templates", progress, reports,
				"/api/players/" + player + "/attendance", "/api/export", "/api/players",
			} {
				send(coach, "GET", path+"?"+query, nil)
			}
			for _, path := range []string{"/schedule", "/trainings", "/attendance", "/fees", "/messages", "/progress", "/reports"} {
				send(guardian, "GET", family+path+"?"+query, nil)
			}
			send(coach, "GET", "/receipts/whatsapp?"+query, nil)
		}
		for _, match := range []string{`"`, `""`, `W/"1"`, `*`, `"99999999999999999999"`, `"a\u0000"`, strings.Repeat(`"1",`, 500)} {
			send(coach, "PUT", sheet+"/"+today, object{"marks": []object{}}, "If-Match: "+match)
		}
	})
}
