package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// addBatch adds a batch that trains every day, and returns its id.
func addBatch(t *testing.T, coach *touchlinetest.User, name string) string {
	t.Helper()
	var schedule []map[string]any
	for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		schedule = append(schedule, map[string]any{"weekday": day, "start": "17:30", "end": "19:00"})
	}
	return coach.Call(t, "POST", "/api/batches", map[string]any{"name": name, "venue": "North ground", "schedule": schedule}).Want(t, 201).String("batch_id")
}

// named returns the body of a request that adds a child of a name and guardian to batches.
func named(name, guardian string, batchIDs ...string) map[string]any {
	body := touchlinetest.Minor(guardian, "")
	body["student"].(map[string]any)["full_name"] = name
	body["batch_ids"] = batchIDs
	return body
}

// TestBatches takes a batch from its creation to the archive.
func TestBatches(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, "+919812300001"), s.Coach(t, "+919812300002")
		key := "Idempotency-Key: " + uuid.NewString()
		body := map[string]any{
			"name": " U12 Evening ", "sport": "football", "venue": "North ground",
			"schedule": []map[string]any{{"weekday": "thursday", "start": "17:30", "end": "19:00"}, {"weekday": "monday", "start": "06:00", "end": "07:30"}},
		}
		created := coach.Call(t, "POST", "/api/batches", body, key).Want(t, 201)
		id := created.String("batch_id")
		if again := coach.Call(t, "POST", "/api/batches", body, key).Want(t, 201); string(again.Body) != string(created.Body) {
			t.Errorf("the same key again: got %s, want %s", again.Body, created.Body)
		}
		for path, want := range map[string]string{"time_zone": "Asia/Kolkata", "archived_at": "", "player_count": "0", "sport": "football"} {
			if got := created.String(path); got != want {
				t.Errorf("%s = %q, want %q", path, got, want)
			}
		}
		if first := created.JSON["schedule"].([]any)[0].(map[string]any); first["weekday"] != "monday" || first["start"] != "06:00" {
			t.Errorf("the schedule begins with %v, want Monday", first)
		}

		refused := coach.Call(t, "POST", "/api/batches", map[string]any{
			"name": "\u200b", "time_zone": "Mars/Olympus",
			"schedule": []map[string]any{{"weekday": "monday", "start": "19:00", "end": "18:00"}, {"weekday": "noday", "start": "25:00", "end": "26:00"}},
		}).Want(t, 422, "validation_failed")
		for _, pointer := range []string{"/name", "/time_zone", "/schedule/1/weekday", "/schedule/1/start", "/schedule/1/end"} {
			if !strings.Contains(string(refused.Body), `"`+pointer+`"`) {
				t.Errorf("no fault at %s in %s", pointer, refused.Body)
			}
		}
		coach.Call(t, "POST", "/api/batches", map[string]any{
			"name":     "U14",
			"schedule": []map[string]any{{"weekday": "monday", "start": "17:00", "end": "18:00"}, {"weekday": "monday", "start": "17:59", "end": "19:00"}},
		}).Want(t, 422, "validation_failed")

		// A player joins when it is added, and later.
		asha := coach.AddPlayer(t, named("Asha Rao", "+919812300011", id))
		if got := asha.JSON["batch_ids"].([]any); len(got) != 1 || got[0] != id {
			t.Errorf("batch_ids = %v, want %s", got, id)
		}
		if sms := s.SMS("+919812300011", "message", 0).Text; !strings.Contains(sms, "Coach Meera Nair added Asha Rao. ") {
			t.Errorf("the SMS: %s", sms) // its link shows the batch
		}
		bela := coach.AddPlayer(t, named("Bela Rao", "+919812300012"))
		belaID := bela.String("player_id")
		member := "/api/batches/" + id + "/players/" + belaID
		for range 2 {
			coach.Call(t, "PUT", member, nil).Want(t, 204)
		}
		if got := coach.Call(t, "GET", "/api/batches/"+id, nil).Want(t, 200).String("player_count"); got != "2" {
			t.Errorf("player_count = %s, want 2", got)
		}
		if got := coach.Call(t, "GET", "/api/players?batch_id="+id, nil).Want(t, 200).Items(); len(got) != 2 {
			t.Errorf("%d players in the batch, want 2", len(got))
		}
		for range 2 {
			coach.Call(t, "DELETE", member, nil).Want(t, 204)
		}
		if got := coach.Call(t, "GET", "/api/players?batch_id="+id, nil).Want(t, 200).Items(); len(got) != 1 || got[0]["player_id"] != asha.String("player_id") {
			t.Errorf("players in the batch after one left: %v", got)
		}
		coach.Call(t, "PUT", member, nil).Want(t, 204)

		// Batches and players of others look like missing ones.
		missing := uuid.Must(uuid.NewV7()).String()
		for _, path := range []string{id, missing, "none"} {
			path = "/api/batches/" + path
			other.Call(t, "GET", path, nil).Want(t, 404, "not_found")
			other.Call(t, "PATCH", path, map[string]any{"name": ""}).Want(t, 404, "not_found")
			other.Call(t, "DELETE", path, nil).Want(t, 404, "not_found")
			other.Call(t, "PUT", path+"/players/"+belaID, nil).Want(t, 404, "not_found")
			other.Call(t, "DELETE", path+"/players/"+belaID, nil).Want(t, 404, "not_found")
		}
		othersBatch := addBatch(t, other, "Theirs")
		other.Call(t, "PUT", "/api/batches/"+othersBatch+"/players/"+belaID, nil).Want(t, 404, "not_found")
		coach.Call(t, "POST", "/api/players/add", named("Chetan Rao", "+919812300013", id, othersBatch)).Want(t, 422, "validation_failed")
		coach.Call(t, "POST", "/api/players/add", named("Chetan Rao", "+919812300013", "none")).Want(t, 422, "validation_failed")
		if got := coach.Call(t, "GET", "/api/players?q=chetan", nil).Want(t, 200).Items(); len(got) != 0 {
			t.Errorf("a refused request added %v", got)
		}

		// Change it, with a merge patch.
		patched := coach.Call(t, "PATCH", "/api/batches/"+id, map[string]any{"venue": nil, "schedule": nil, "time_zone": "Europe/Berlin"}).Want(t, 200)
		if patched.String("venue") != "" || patched.String("time_zone") != "Europe/Berlin" || len(patched.JSON["schedule"].([]any)) != 0 || patched.String("name") != "U12 Evening" {
			t.Errorf("patched: %s", patched.Body)
		}
		coach.Call(t, "PATCH", "/api/batches/"+id, map[string]any{"name": nil}).Want(t, 422, "validation_failed")

		// A player who is removed leaves the batch.
		coach.Call(t, "DELETE", "/api/players/"+belaID, nil).Want(t, 204)
		if got := coach.Call(t, "GET", "/api/batches/"+id, nil).Want(t, 200).String("player_count"); got != "1" {
			t.Errorf("player_count after a removal = %s, want 1", got)
		}

		csv := coach.Call(t, "GET", "/api/batches", nil, "Accept: text/csv").Want(t, 200)
		if !strings.Contains(string(csv.Body), "\nU12 Evening,football,,,Europe/Berlin,1,\n") {
			t.Errorf("CSV: %s", csv.Body)
		}

		// The archive.
		coach.Call(t, "DELETE", "/api/batches/"+id, nil).Want(t, 204)
		for _, call := range [][2]string{{"DELETE", ""}, {"PATCH", ""}, {"PUT", "/players/" + asha.String("player_id")}, {"DELETE", "/players/" + asha.String("player_id")}} {
			var body any
			if call[0] == "PATCH" {
				body = map[string]any{"name": "New"}
			}
			coach.Call(t, call[0], "/api/batches/"+id+call[1], body).Want(t, 409, "batch_archived")
		}
		coach.Call(t, "POST", "/api/players/add", named("Chetan Rao", "+919812300013", id)).Want(t, 409, "batch_archived")
		coach.Call(t, "GET", "/api/batches/"+id, nil).Want(t, 200)
		for query, want := range map[string]int{"": 0, "?archived=true": 1, "?archived=false": 0} {
			if got := coach.Call(t, "GET", "/api/batches"+query, nil).Want(t, 200).Items(); len(got) != want {
				t.Errorf("GET /api/batches%s: %d batches, want %d", query, len(got), want)
			}
		}
		if got := coach.Call(t, "GET", "/api/players/"+asha.String("player_id"), nil).Want(t, 200).JSON["batch_ids"]; fmt.Sprint(got) != "[]" {
			t.Errorf("batch_ids with an archived batch = %v, want none", got)
		}
	})
}

// TestFamilySchedule: a party reads the schedule while it approves, and no longer.
func TestFamilySchedule(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, "+919812300001")
		body := touchlinetest.Minor("+919812300011", "+919812300021")
		body["batch_ids"] = []string{addBatch(t, coach, "U12 Evening"), addBatch(t, coach, "Camp")}
		id := coach.AddPlayer(t, body).String("player_id")
		guardian, student := s.SignIn(t, "guardian", "+919812300011"), s.SignIn(t, "student", "+919812300021")
		stranger := s.Coach(t, "+919812300002")
		stranger.AddPlayer(t, touchlinetest.Minor("+919812300012", ""))
		path := "/api/me/players/" + id + "/schedule"
		s.SignIn(t, "guardian", "+919812300012").Call(t, "GET", path, nil).Want(t, 404, "not_found")
		coach.Call(t, "GET", path, nil).Want(t, 403, "role_not_allowed")
		for _, party := range []*touchlinetest.User{guardian, student} {
			party.Call(t, "GET", path, nil).Want(t, 403, "approval_pending")
			respond := "/api/approval/" + party.Role + "-response"
			party.Call(t, "PUT", respond, map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
			read := party.Call(t, "GET", path, nil).Want(t, 200)
			if got := read.Items(); len(got) != 2 || got[1]["name"] != "U12 Evening" || len(read.JSON["upcoming"].([]any)) < 6 {
				t.Errorf("%s reads %s", party.Role, read.Body)
			}
			first := party.Call(t, "GET", path+"?limit=1", nil).Want(t, 200)
			second := party.Call(t, "GET", path+"?limit=1&cursor="+first.String("next_cursor"), nil).Want(t, 200)
			if got := append(first.Items(), second.Items()...); len(got) != 2 || got[0]["name"] != "Camp" || got[1]["name"] != "U12 Evening" || second.String("next_cursor") != "" {
				t.Errorf("pages of one: %s and %s", first.Body, second.Body)
			}
			party.Call(t, "GET", path+"?limit=0", nil).Want(t, 422, "validation_failed")
			party.Call(t, "PUT", respond, map[string]any{"player_id": id, "action": "revoked"}).Want(t, 200)
			party.Call(t, "GET", path+"?limit=0", nil).Want(t, 403, "approval_required")
		}
		coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204)
	})
}
