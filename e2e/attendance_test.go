package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestAttendance takes attendance as a phone at the ground does, corrects it, and reads it as
// coach, guardian and student.
func TestAttendance(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, "+919812300001"), s.Coach(t, "+919812300002")
		batch := addBatch(t, coach, "U12 Evening")
		var ids []string
		for i, name := range []string{"Asha Rao", "=Bela", "Chetan Das"} {
			body := named(name, fmt.Sprintf("+9198123000%d", 11+i), batch)
			if i == 0 {
				body["student"].(map[string]any)["contact_number"] = "+919812300021"
			}
			ids = append(ids, coach.AddPlayer(t, body).String("player_id"))
		}
		mark := func(player int, mark string, more ...any) map[string]any {
			m := map[string]any{"player_id": ids[player], "mark": mark}
			for i := 0; i < len(more); i += 2 {
				m[more[i].(string)] = more[i+1]
			}
			return m
		}
		sheet := func(marks ...map[string]any) map[string]any { return map[string]any{"marks": marks} }
		zone, err := time.LoadLocation("Asia/Kolkata")
		if err != nil {
			t.Fatal(err)
		}
		now := s.Clock.Now().In(zone)
		date := now.Format(time.DateOnly)
		path := "/api/batches/" + batch + "/attendance/" + date

		if got := coach.Call(t, "GET", path, nil).Want(t, 200); got.String("version") != "0" || got.Header.Get("ETag") != `"0"` || len(got.JSON["players"].([]any)) != 3 {
			t.Errorf("before attendance: %s", got.Body)
		}
		first := sheet(mark(0, "present"), mark(1, "absent", "note", "ill"), mark(2, "late"))
		saved := coach.Call(t, "PUT", path, first).Want(t, 200)
		if saved.String("version") != "1" || saved.Header.Get("ETag") != `"1"` || saved.String("outside_schedule") != "false" {
			t.Errorf("saved: %s", saved.Body)
		}
		if again := coach.Call(t, "PUT", path, first).Want(t, 200); string(again.Body) != string(saved.Body) {
			t.Errorf("the same sheet again: %s, want %s", again.Body, saved.Body)
		}
		second := sheet(mark(0, "present"), mark(1, "excused", "note", "ill"))
		refused := coach.Call(t, "PUT", path, second).Want(t, 428, "precondition_required")
		if refused.String("sheet.version") != "1" {
			t.Errorf("428 without the sheet: %s", refused.Body)
		}
		coach.Call(t, "PUT", path, second, `If-Match: "1"`).Want(t, 200)
		stale := coach.Call(t, "PUT", path, sheet(mark(0, "absent")), `If-Match: "1"`).Want(t, 412, "precondition_failed")
		if stale.String("sheet.version") != "2" || stale.Header.Get("ETag") != `"2"` || !strings.Contains(string(stale.Body), ids[1]) {
			t.Errorf("412 without the current sheet: %s", stale.Body)
		}
		// A sheet can be sent back as it was read.
		read := coach.Call(t, "GET", path, nil).Want(t, 200)
		back := map[string]any{"marks": read.JSON["marks"], "version": read.JSON["version"]}
		if got := coach.Call(t, "PUT", path, back, "If-Match: "+read.Header.Get("ETag")).Want(t, 200).String("version"); got != "2" {
			t.Errorf("version %s after the same sheet, want 2", got)
		}
		coach.Call(t, "PUT", path, map[string]any{"marks": []any{}, "version": 7}, `If-Match: "2"`).Want(t, 422, "validation_failed")

		// Single marks: the later marked_at wins, whichever arrives first.
		at := func(minutes int) string {
			return s.Clock.Now().Add(time.Duration(minutes) * time.Minute).UTC().Format(time.RFC3339)
		}
		coach.Call(t, "PATCH", path, sheet(mark(2, "present", "marked_at", at(2)))).Want(t, 200)
		coach.Call(t, "PATCH", path, sheet(mark(2, "absent", "marked_at", at(1)))).Want(t, 200)
		patched := coach.Call(t, "PATCH", path, sheet(mark(1, "present"))).Want(t, 200)
		if !strings.Contains(string(patched.Body), `"note":"ill"`) || patched.String("counts.present") != "3" {
			t.Errorf("patched: %s", patched.Body)
		}
		superseded := coach.Call(t, "GET", path+"/superseded", nil).Want(t, 200).Items()
		if len(superseded) != 4 || superseded[0]["account_id"] != coach.ID || superseded[0]["session_id"] == nil {
			t.Errorf("%d superseded marks, want absent and excused, and twice the last player's: %v", len(superseded), superseded)
		}

		// Bad input does nothing.
		missing := uuid.Must(uuid.NewV7()).String()
		for name, body := range map[string]any{
			"no marks":     map[string]any{},
			"a wrong mark": sheet(mark(0, "here")),
			"no player":    sheet(map[string]any{"player_id": "1", "mark": "present"}),
			"a stranger":   sheet(map[string]any{"player_id": missing, "mark": "present"}),
			"twice":        sheet(mark(0, "present"), mark(0, "absent")),
			"a long note":  sheet(mark(0, "present", "note", strings.Repeat("x", 501))),
			"no time":      sheet(mark(0, "present", "marked_at", "noon")),
			"the future":   sheet(mark(0, "present", "marked_at", at(48*60))),
		} {
			for _, method := range []string{"PUT", "PATCH"} {
				if got := coach.Call(t, method, path, body, "If-Match: *"); got.Status != 422 {
					t.Errorf("%s %s: %d %s", method, name, got.Status, got.Body)
				}
			}
		}
		for _, day := range []string{"2026-02-30", "tomorrow", "1999-12-31", "2100-01-01"} {
			coach.Call(t, "PUT", "/api/batches/"+batch+"/attendance/"+day, first).Want(t, 422, "validation_failed")
		}
		for _, method := range []string{"GET", "PUT", "PATCH"} {
			other.Call(t, method, path, sheet(mark(0, "here"))).Want(t, 404, "not_found")
		}
		other.Call(t, "GET", path+"/superseded", nil).Want(t, 404, "not_found")
		other.Call(t, "GET", "/api/batches/"+batch+"/attendance?from=x", nil).Want(t, 404, "not_found")
		other.Call(t, "GET", "/api/players/"+ids[0]+"/attendance?from=x", nil).Want(t, 404, "not_found")

		// A player who left can be corrected where a mark is, and gets none for days before joining.
		coach.Call(t, "DELETE", "/api/batches/"+batch+"/players/"+ids[2], nil).Want(t, 204)
		coach.Call(t, "PATCH", path, sheet(mark(2, "late"))).Want(t, 200)
		yesterday := "/api/batches/" + batch + "/attendance/" + now.AddDate(0, 0, -1).Format(time.DateOnly)
		coach.Call(t, "PUT", yesterday, sheet(mark(0, "late"), mark(2, "present"))).Want(t, 422, "validation_failed")
		coach.Call(t, "PATCH", yesterday, sheet(mark(2, "present", "marked_at", at(-60)))).Want(t, 422, "validation_failed")
		coach.Call(t, "PUT", yesterday, sheet(mark(0, "late"))).Want(t, 200)
		tomorrow := "/api/batches/" + batch + "/attendance/" + now.AddDate(0, 0, 1).Format(time.DateOnly)
		coach.Call(t, "PUT", tomorrow, sheet(mark(0, "excused"), mark(2, "present"))).Want(t, 422, "validation_failed")
		if got := coach.Call(t, "GET", tomorrow, nil).Want(t, 200).String("version"); got != "0" {
			t.Errorf("a refused sheet has version %s", got)
		}

		// A day outside the schedule is flagged.
		coach.Call(t, "PATCH", "/api/batches/"+batch, map[string]any{"schedule": []map[string]any{
			{"weekday": strings.ToLower(now.AddDate(0, 0, 3).Weekday().String()), "start": "17:30", "end": "19:00"},
		}}).Want(t, 200)
		if got := coach.Call(t, "PUT", tomorrow, sheet(mark(0, "excused"))).Want(t, 200).String("outside_schedule"); got != "true" {
			t.Errorf("outside_schedule = %s, want true", got)
		}

		// Lists.
		sheets := coach.Call(t, "GET", "/api/batches/"+batch+"/attendance?limit=2", nil).Want(t, 200)
		rest := coach.Call(t, "GET", "/api/batches/"+batch+"/attendance?limit=2&cursor="+sheets.String("next_cursor"), nil).Want(t, 200)
		if a, b := sheets.Items(), rest.Items(); len(a) != 2 || len(b) != 1 || a[1]["date"] != date || rest.String("next_cursor") != "" {
			t.Errorf("sheets: %s, %s", sheets.Body, rest.Body)
		}
		mine := coach.Call(t, "GET", "/api/players/"+ids[0]+"/attendance?limit=2", nil).Want(t, 200)
		if mine.String("totals.present") != "1" || mine.String("totals.late") != "1" || mine.String("totals.excused") != "1" || len(mine.Items()) != 2 || len(mine.JSON["months"].([]any)) == 0 {
			t.Errorf("attendance of a player: %s", mine.Body)
		}
		if more := coach.Call(t, "GET", "/api/players/"+ids[0]+"/attendance?limit=2&cursor="+mine.String("next_cursor"), nil).Want(t, 200).Items(); len(more) != 1 || more[0]["mark"] != "late" {
			t.Errorf("the second page: %v", more)
		}
		if one := coach.Call(t, "GET", "/api/players/"+ids[0]+"/attendance?from="+date+"&to="+date, nil).Want(t, 200); one.String("totals.present") != "1" || one.String("totals.late") != "0" {
			t.Errorf("one day: %s", one.Body)
		}
		coach.Call(t, "GET", "/api/players/"+ids[0]+"/attendance?from=2026-02-02&to=2026-02-01", nil).Want(t, 422, "validation_failed")
		csv := string(coach.Call(t, "GET", "/api/batches/"+batch+"/attendance?to="+date, nil, "Accept: text/csv").Want(t, 200).Body)
		if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "\ufeffDate,Outside schedule,Present,Absent,Late,Excused,") ||
			!strings.HasPrefix(lines[1], date+",false,2,0,1,0,") {
			t.Errorf("CSV of the sheets: %s", csv)
		}
		csv = string(coach.Call(t, "GET", path+"/superseded", nil, "Accept: text/csv").Want(t, 200).Body)
		if strings.Count(csv, "\n") != len(superseded)+2 || !strings.Contains(csv, "\n"+ids[1]+",absent,ill,") {
			t.Errorf("CSV of the superseded marks: %s", csv)
		}
		for _, list := range []string{"/api/batches/" + batch + "/attendance", path + "/superseded"} {
			other.Call(t, "GET", list, nil, "Accept: text/csv").Want(t, 404, "not_found")
		}
		csv = string(coach.Call(t, "GET", path, nil, "Accept: text/csv").Want(t, 200).Body)
		if !strings.Contains(csv, "\nU12 Evening,"+date+",'=Bela,present,ill,") {
			t.Errorf("CSV of the sheet: %s", csv)
		}
		csv = string(coach.Call(t, "GET", "/api/players/"+ids[0]+"/attendance", nil, "Accept: text/csv").Want(t, 200).Body)
		if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 4 || !strings.HasSuffix(lines[1], ",U12 Evening,excused,") {
			t.Errorf("CSV of a player: %s", csv)
		}

		board := coach.Call(t, "GET", "/api/coach/dashboard", nil).Want(t, 200)
		if got := board.JSON["attendance_today"].([]any); len(got) != 1 || got[0].(map[string]any)["taken"] != true || len(board.JSON["batches"].([]any)) != 1 {
			t.Errorf("dashboard: %s", board.Body)
		}
		missingToday := addBatch(t, coach, "U14")
		board = coach.Call(t, "GET", "/api/coach/dashboard", nil).Want(t, 200)
		if got := board.JSON["attendance_today"].([]any); len(got) != 2 || got[0].(map[string]any)["batch_id"] != missingToday || got[0].(map[string]any)["taken"] != false {
			t.Errorf("dashboard with missing attendance: %s", board.Body)
		}

		// The family reads it while it approves, without notes.
		guardian, student := s.SignIn(t, "guardian", "+919812300011"), s.SignIn(t, "student", "+919812300021")
		family := "/api/me/players/" + ids[0] + "/attendance"
		for _, party := range []*touchlinetest.User{guardian, student} {
			party.Call(t, "GET", family+"?from=x", nil).Want(t, 403, "approval_pending")
			party.Call(t, "GET", family, nil, "Accept: text/csv").Want(t, 403, "approval_pending")
			party.Call(t, "GET", "/api/me/players/"+ids[1]+"/attendance", nil).Want(t, 404, "not_found")
			respond := "/api/approval/" + party.Role + "-response"
			party.Call(t, "PUT", respond, map[string]any{"player_id": ids[0], "action": "approved"}).Want(t, 200)
			got := party.Call(t, "GET", family, nil).Want(t, 200)
			if got.String("totals.late") != "1" || strings.Contains(string(got.Body), "note") {
				t.Errorf("%s reads %s", party.Role, got.Body)
			}
			party.Call(t, "PUT", respond, map[string]any{"player_id": ids[0], "action": "revoked"}).Want(t, 200)
			party.Call(t, "GET", family, nil).Want(t, 403, "approval_required")
		}
	})
}
