package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestImportSurvivesKills: an import of rows with two guardians is cut off by kills of the process and goes on: each row is one player
// with two guardians, and each of the three parties was asked once.
func TestImportSurvivesKills(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		tiers := filepath.Join(dir, "tiers.json")
		if err := os.WriteFile(tiers, []byte(importTiers), 0o600); err != nil {
			t.Fatal(err)
		}
		settings := []string{"TOUCHLINE_ADDR=127.0.0.1:0", "TOUCHLINE_DATABASE_URL=" + database, "TOUCHLINE_TIERS=" + tiers}
		serve := func() (*process, *touchlinetest.Service) {
			t.Helper()
			p := launch(t, dir, []string{"serve"}, settings...)
			p.waitUntilServing()
			return p, touchlinetest.At(p.url)
		}
		p, s := serve()
		body := object{"mobile_number": coachNumber, "role": "coach"}
		s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 202)
		eventually(t, "the coach gets an OTP", func() bool {
			messages := s.Call(t, "GET", "/dev/messages?number="+url.QueryEscape(coachNumber), "", nil).Want(t, 200).Items()
			if len(messages) > 0 {
				body["otp"] = messages[0]["code"]
			}
			return body["otp"] != nil
		})
		token := s.Call(t, "POST", "/auth/login", "", body).Want(t, 200).String("access_token")
		s.Call(t, "POST", "/auth/complete-profile", token, object{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		s.Call(t, "PUT", "/api/coach/subscription", token, object{"tier": "big"}).Want(t, 200)

		rows := storetest.Rounds(150, 2000)
		var file strings.Builder
		file.WriteString("Name,DOB,Student mobile,Father's name,Father's mobile,Guardian 2 name,Guardian 2 relationship,Guardian 2 mobile\n")
		for n := range rows {
			fmt.Fprintf(&file, "Child %d,2014-04-30,+9198126%05d,Ravi,+9198124%05d,Anita,mother,+9198125%05d\n", n, n, n, n)
		}
		created := s.Call(t, "POST", "/api/players/import", token, file.String(), csvType).Want(t, 201)
		if created.String("counts.waiting") != fmt.Sprint(rows) {
			t.Fatalf("created: %s", created.Body)
		}
		path := created.Header.Get("Location")
		db := openSQL(t, database)
		players := func() int { return queryOne[int](t, db, `SELECT count(*) FROM players`) }

		const kills = 3
		for kill := range kills {
			before, ended := players(), make(chan struct{})
			go func() { // the answer does not arrive
				defer close(ended)
				for err := error(nil); err == nil; { // a step ends after some seconds
					_, err = s.Do(context.Background(), "POST", path+"/run", token, nil)
				}
			}()
			eventually(t, "rows are added", func() bool { return players() >= before+rows/(2*kills) })
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			p.wait(waitLimit)
			<-ended
			if n := players(); n == rows {
				t.Logf("kill %d came after the last row", kill)
			}
			p, s = serve()
		}
		state := "in_progress"
		for state == "in_progress" { // a step ends after some seconds
			state = s.Call(t, "POST", path+"/run", token, nil).Want(t, 200).String("state")
		}
		got := s.Call(t, "GET", path, token, nil).Want(t, 200)
		if state != "done" {
			t.Errorf("the import: %s", got.Body)
		}
		for query, want := range map[string]int{
			`SELECT count(*) FROM players`:                     rows,
			`SELECT count(DISTINCT student_name) FROM players`: rows,
			`SELECT count(*) FROM parties WHERE role = 'guardian' AND position = 1 AND name = 'Ravi' AND relationship = 'father'`:  rows,
			`SELECT count(*) FROM parties WHERE role = 'guardian' AND position = 2 AND name = 'Anita' AND relationship = 'mother'`: rows,
			`SELECT count(*) FROM parties`:                                                       3 * rows,
			`SELECT count(*) FROM requests WHERE state = 'pending'`:                              3 * rows,
			`SELECT count(*) FROM requests`:                                                      3 * rows,
			`SELECT count(DISTINCT request_id) FROM deliveries WHERE channel IN ('sms', 'chat')`: 3 * rows,
			`SELECT count(*) FROM import_rows r JOIN players p ON p.id = r.player_id AND p.student_name = 'Child ' || (r.number - 2)`: rows,
			`SELECT players FROM coaches`: rows,
		} {
			if n := queryOne[int](t, db, query); n != want {
				t.Errorf("%s: %d, want %d", query, n, want)
			}
		}
	})
}
