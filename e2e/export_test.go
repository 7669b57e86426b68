package e2e_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestExportAll: the archive of a coach has everything of that coach and nothing of others,
// and its players can be imported.
func TestExportAll(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, coachNumber), s.Coach(t, otherNumber)
		coach.Call(t, "GET", "/api/export", nil).Want(t, 403, "tier_limit")
		op := s.Operator(t, operator.Coaches)
		for _, c := range []*touchlinetest.User{coach, other} {
			op.Call(t, "PUT", "/api/admin/coaches/"+c.ID+"/tier", object{"tier": "academy"}).Want(t, 200)
		}
		batch := addBatch(t, coach, "Juniors")
		body := named("=Asha", guardianNumber, batch)
		body["student"].(map[string]any)["medical_information"] = "Asthma"
		body["student"].(map[string]any)["language"] = "en"
		body["guardian"].(map[string]any)["language"] = "hi"
		asha := coach.AddPlayer(t, body)
		id := asha.String("player_id")
		coach.AddPlayer(t, named("Bela Rao", guardianNumber))
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
		today := s.Clock.Now().Format("2006-01-02")
		coach.Call(t, "PUT", "/api/batches/"+batch+"/attendance/"+today, object{"marks": []object{{"player_id": id, "mark": "late", "note": "Bus"}}}).Want(t, 200)
		fee := coach.Call(t, "POST", "/api/fees", object{"player_id": id, "title": "Kit", "amount": 150050, "due_on": today, "repeat": object{"every": "month"}}).Want(t, 201).String("fee_id")
		coach.Call(t, "POST", "/api/fees/"+fee+"/payments", object{"amount": 50, "method": "cash", "paid_on": today, "note": "-1"}).Want(t, 201)
		message := coach.Call(t, "POST", "/api/messages", newMessage("Hello\n\"all\"", []string{"in_app"}, id)).Want(t, 201).String("message_id")
		recipientStates(t, coach, message)
		guardian.Call(t, "POST", "/api/me/players/"+id+"/messages", object{"text": "+1"}).Want(t, 201)
		coach.Call(t, "POST", "/api/messages/templates", object{"title": "Rain", "text": "@hall"}).Want(t, 201)
		coach.Call(t, "POST", "/api/players/"+id+"/progress", object{"metric": "80 m", "value": -12.4, "unit": "s", "on": today}).Want(t, 201)
		coach.Call(t, "POST", "/api/players/"+id+"/reports", object{"title": "March", "text": "Good", "from": today, "to": today}).Want(t, 201)
		tomorrow := s.Clock.Now().AddDate(0, 0, 1).Format("2006-01-02")
		match := coach.Call(t, "POST", "/api/batches/"+batch+"/trainings", object{"date": tomorrow, "start": "23:00", "end": "23:30", "kind": "match", "opponent": "=Tigers"}).Want(t, 201).String("training_id")
		guardian.Call(t, "PUT", "/api/me/players/"+id+"/trainings/"+match+"/attending", object{"attending": false, "reason": "-1"}).Want(t, 200)
		coach.Upload(t, "certification", "first-aid.pdf", touchlinetest.PDF(500, 1)).Want(t, 201)

		far := otherDayZone(t, s.Clock.Now())
		coach.Call(t, "PATCH", "/api/coach/profile", object{"time_zone": far.String()}).Want(t, 200)
		addedOn := dayOf(t, asha.String("created_at"), far)
		files := exported(t, coach)
		if !slices.ContainsFunc(files["players"], func(row string) bool { return strings.HasSuffix(strings.TrimSpace(row), "|Asthma|"+addedOn) }) {
			t.Errorf("players.csv has no player added on %s: %q", addedOn, files["players"])
		}
		if got := readings(t, guardian, id); !slices.Equal(got, []string{"coach Meera Nair exported"}) {
			t.Errorf("readings after the export: %q", got)
		}
		for name, want := range map[string]string{
			"profile": coach.ID + "|'+919812300001|Meera Nair", "documents": "first-aid.pdf|", "players": id + "|'=Asha|", "requests": id + "|'=Asha|guardian|approved|",
			"decisions": id + "|'=Asha|guardian|approved|", "batches": batch + "|Juniors|", "batch_players": batch + "|Juniors|" + id + "|'=Asha|",
			"trainings": match + "|" + batch + "|Juniors|" + tomorrow + "|23:00|23:30|match||North ground|'=Tigers|planned|", "training_answers": match + "|" + batch + "|" + tomorrow + "|" + id + "|'=Asha|false|'-1|guardian|",
			"attendance": today + "|" + id + "|'=Asha|late|Bus|", "fees": "|Kit|INR|1500.50|" + today + "|0.50|1500.00|", "payments": fee + "|1|50|cash|" + today + "|'-1|",
			"fee_repeats": "|'=Asha||Kit|INR|1500.50|", "messages": message + "|players|guardian|in_app|Hello\n\"all\"|1|0|0|", "message_recipients": message + "|" + id + "|'=Asha|guardian|Ravi Rao|false|in_app|delivered|",
			"replies": id + "|'=Asha|guardian|Ravi Rao|'+1|", "templates": "|Rain|'@hall|", "progress": id + "|80 m|'-12.4|s|" + today, "reports": id + "|March|Good|" + today,
		} {
			rows := files[name]
			delete(files, name)
			if !slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, want) }) {
				t.Errorf("%s.csv has no row with %q: %q", name, want, rows)
			}
			if name != "players" && name != "requests" && len(rows) != 2 {
				t.Errorf("%s.csv has %d rows, want the titles and one: %q", name, len(rows), rows)
			}
		}
		if len(files) > 0 {
			t.Errorf("files that the test does not know: %v", slices.Collect(maps.Keys(files)))
		}

		// Another coach gets the titles alone, and imports the players of the first.
		for name, rows := range exported(t, other) {
			if want := map[bool]int{true: 2, false: 1}[name == "profile"]; len(rows) != want {
				t.Errorf("%s.csv of the other coach: %q", name, rows)
			}
		}
		addBatch(t, other, "Juniors")
		players := readZIP(t, coach)["players.csv"]
		i := other.Call(t, "POST", "/api/players/import", string(players), csvType).Want(t, 201)
		if i.String("counts.waiting") != "2" || len(i.JSON["warnings"].([]any)) != 1 || !strings.Contains(string(i.Body), "Medical information") {
			t.Errorf("players.csv as an import: %s", i.Body)
		}
		other.Call(t, "POST", "/api/players/imports/"+i.String("import_id")+"/run", nil).Want(t, 200)
		for _, p := range other.Call(t, "GET", "/api/players", nil).Items() {
			student, guardian := p["student"].(map[string]any), p["guardian"].(map[string]any)
			want := []any{nil, nil}
			if student["full_name"] == "=Asha" {
				want = []any{"en", "hi"}
			}
			if got := []any{student["language"], guardian["language"]}; !slices.Equal(got, want) {
				t.Errorf("languages of %v after export and import: %v, want %v", student["full_name"], got, want)
			}
		}
		guardian.Call(t, "GET", "/api/export", nil).Want(t, 403, "role_not_allowed")
		coach.Call(t, "GET", "/api/export", nil, "Accept: text/html").Want(t, 406, "not_acceptable")
		guardian.Call(t, "HEAD", "/api/export", nil).Want(t, 403)
		if head := coach.Call(t, "HEAD", "/api/export", nil).Want(t, 200); head.Header.Get("Content-Type") != "application/zip" {
			t.Errorf("HEAD: %v", head.Header)
		}
	})
}

// readZIP returns the files of the archive of a coach.
func readZIP(t *testing.T, coach *touchlinetest.User) map[string][]byte {
	t.Helper()
	got := coach.Call(t, "GET", "/api/export", nil, "Accept: application/zip").Want(t, 200)
	if kind := got.Header.Get("Content-Type"); kind != "application/zip" {
		t.Errorf("Content-Type %q", kind)
	}
	archive, err := zip.NewReader(bytes.NewReader(got.Body), int64(len(got.Body)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		file, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(file); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// exported returns the rows of each file with | between the cells.
func exported(t *testing.T, coach *touchlinetest.User) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for name, text := range readZIP(t, coach) {
		records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(fmt.Errorf("%s: %w", name, err))
		}
		for _, cells := range records {
			rows[strings.TrimSuffix(name, ".csv")] = append(rows[strings.TrimSuffix(name, ".csv")], strings.Join(cells, "|"))
		}
	}
	return rows
}
