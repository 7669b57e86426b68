package e2e_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// ownExport returns the files of an export of the caller.
func ownExport(t *testing.T, body []byte) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(content)
	}
	return files
}

// TestOwnExport: a guardian and a student take away their data after a recent OTP, without data of
// each other. A coach gets the coach's files in every tier.
func TestOwnExport(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		batch := addBatch(t, coach, "Juniors")
		body := touchlinetest.Minor(guardianNumber, studentNumber)
		body["batch_ids"] = []string{batch}
		body["guardian"].(map[string]any)["email"] = "ravi@families.example"
		id := coach.AddPlayer(t, body).String("player_id")
		stranger := child(7, guardianNumber)
		stranger["student"].(map[string]any)["date_of_birth"] = "2015-11-12"
		coach.AddPlayer(t, stranger)
		guardian, student := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved", "reason": "Guardian's <reason>"}).Want(t, 200)
		student.Call(t, "PUT", "/api/approval/student-response", object{"player_id": id, "action": "approved", "reason": "Student's reason"}).Want(t, 200)
		today := s.Clock.Now().Format(time.DateOnly)
		coach.Call(t, "PUT", "/api/batches/"+batch+"/attendance/"+today, object{"marks": []object{{"player_id": id, "mark": "late", "note": "Secret note"}}}).Want(t, 200)
		coach.Call(t, "POST", "/api/fees", object{"player_id": id, "title": "Kit", "amount": 150050, "due_on": today}).Want(t, 201)
		coach.Call(t, "POST", "/api/players/"+id+"/progress", object{"metric": "80 m", "value": 12.4, "unit": "s", "on": today}).Want(t, 201)
		coach.Call(t, "POST", "/api/players/"+id+"/reports", object{"title": "March", "text": "Good", "from": today, "to": today}).Want(t, 201)
		guardian.Call(t, "POST", "/api/me/players/"+id+"/messages", object{"text": "From the guardian"}).Want(t, 201)

		for _, u := range []*touchlinetest.User{guardian, student} {
			files := ownExport(t, u.Call(t, "GET", "/api/me/export", nil).Want(t, 200).Body)
			receipts := 0
			for name, content := range files {
				if strings.HasPrefix(name, "receipts/") && strings.HasPrefix(content, "c2sp.org/tlog-proof@v1\n") {
					receipts++
				}
			}
			// Each child was asked about, and one was answered.
			if want := map[string]int{"guardian": 3, "student": 2}[u.Role]; receipts != want || len(files) != 2+want || !json.Valid([]byte(files["data.json"])) {
				t.Fatalf("%s: files %v, JSON %s", u.Role, len(files), files["data.json"])
			}
			isGuardian := u == guardian
			for text, want := range map[string]bool{
				u.Number: true, "Asha Rao": true, "2014-04-30": true, "Juniors": true, "Kit": true, "1500.50": true, "80 m": true, "March": true,
				"From the guardian": isGuardian, "Student's reason": !isGuardian, "ravi@families.example": isGuardian, "inhaler": isGuardian,
				map[bool]string{true: studentNumber, false: guardianNumber}[isGuardian]: false, "Secret note": false, "2015-11-12": false,
			} {
				if got := strings.Contains(files["data.json"], text); got != want {
					t.Errorf("data.json of the %s has %q: %t, want %t", u.Role, text, got, want)
				}
				if page := strings.ReplaceAll(files["index.html"], "&#39;", "'"); strings.Contains(page, text) != want {
					t.Errorf("index.html of the %s has %q: %t, want %t", u.Role, text, !want, want)
				}
			}
			if strings.Contains(files["index.html"], "<reason>") {
				t.Error("the page does not escape texts")
			}
		}
		if got := readings(t, guardian, id); len(got) != 1 || got[0] != "guardian exported" {
			t.Errorf("readings: %q", got)
		}
		if files := ownExport(t, coach.Call(t, "GET", "/api/me/export", nil).Want(t, 200).Body); !strings.Contains(files["players.csv"], "Asha Rao") {
			t.Errorf("the coach's export: %v", files)
		}

		b := signInPages(t, s, "guardian", guardianNumber)
		b.Open("/me/guardian")
		wantText(t, "home", b.Page, []string{"A copy of your data"}, nil)
		b.Open("/me/guardian/export")
		wantText(t, "page", b.Page, []string{"Download the copy"}, nil)
		if b.Open("/me/guardian/export/data.zip"); b.Page.Status != 200 || !strings.Contains(ownExport(t, []byte(b.Page.Body))["index.html"], "Asha Rao") {
			t.Errorf("download: %d", b.Page.Status)
		}
		s.Clock.Advance(auth.RecentOTP + time.Second)
		guardian.Call(t, "POST", "/auth/refresh", object{"refresh_token": guardian.Refresh})
		fresh := s.Call(t, "POST", "/auth/refresh", "", object{"refresh_token": guardian.Refresh}).Want(t, 200)
		s.Call(t, "GET", "/api/me/export", fresh.String("access_token"), nil).Want(t, 403, "fresh_otp_required")
		b.Open("/me/guardian/export")
		wantText(t, "page later", b.Page, []string{"Get a code"}, []string{"Download the copy"})
		if b.Open("/me/guardian/export/data.zip"); !strings.HasPrefix(b.Page.Path, "/sign-in/guardian") {
			t.Errorf("download later: %s", b.Page.Path)
		}
	})
}
