package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestImportAsksForTheDateOrder: in the United States, too, 12/01/2008 is no birth date until the list or the coach
// says which it is. The child of 17 is no adult whose family is never asked.
func TestImportAsksForTheDateOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers), func(c *config.Config) { c.DefaultRegion = "US" })
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		const file = "Student name,Date of birth,Student number\r\nTeen Adult,12/01/2008,(202) 555-0148\r\n"
		upload := func(query, file string) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/players/import"+query, file, csvType)
		}
		open := upload("", file).Want(t, 201)
		if open.String("date_order") != "open" || open.String("counts.waiting") != "0" || !strings.Contains(string(open.Body), `"column":"date_of_birth","code":"ambiguous_date"`) {
			t.Errorf("an open column: %s", open.Body)
		}
		if run := coach.Call(t, "POST", open.Header.Get("Location")+"/run", nil).Want(t, 200); run.String("counts.added") != "0" {
			t.Errorf("run: %s", run.Body)
		}
		said := upload("?date_order=month_first", file).Want(t, 201)
		if said.String("date_order") != "month_first" || !strings.Contains(string(said.Body), `"date_of_birth":"2008-12-01"`) || !strings.Contains(string(said.Body), "guardian_required") {
			t.Errorf("the month first: %s", said.Body)
		}
		decided := upload("", file+"Other,3/14/2015,\r\n").Want(t, 201)
		if !strings.Contains(string(decided.Body), `"date_of_birth":"2008-12-01"`) || !strings.Contains(string(decided.Body), `"code":"month_first"`) {
			t.Errorf("a certain date: %s", decided.Body)
		}
		again := coach.Call(t, "GET", said.Header.Get("Location"), nil).Want(t, 200)
		if again.String("date_order") != "month_first" || !strings.Contains(string(again.Body), `"columns":[{"title":"Student name","column":"student_name","guessed":false}`) {
			t.Errorf("read again: %s", again.Body)
		}
		upload("?date_order=year_first", file).Want(t, 422, "validation_failed")
		upload("?columns=student_name,dob", file).Want(t, 422, "validation_failed")
		if n := len(coach.Call(t, "GET", "/api/players", nil).Want(t, 200).Items()); n != 0 {
			t.Errorf("%d players were added", n)
		}
	})
}

// TestImportColumns: a caller says what the columns are, and the same key with other columns is another request. A file
// whose titles are not clear says what they were read as. Both parents are imported.
func TestImportColumns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers))
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		const file = "Name,DOB,Phone,Father's name,Mother's name,WhatsApp\nAsha Rao,30/04/2014,98123 00100,Ravi Rao,Meera Rao,98123 00101\n"
		refused := coach.Call(t, "POST", "/api/players/import", file, csvType).Want(t, 422, "validation_failed")
		var problem struct {
			Columns []struct {
				Title   string
				Column  *string
				Guessed bool
			}
		}
		if err := json.Unmarshal(refused.Body, &problem); err != nil || len(problem.Columns) != 6 || problem.Columns[2].Column != nil || *problem.Columns[3].Column != "guardian_name" {
			t.Errorf("%v: %s", err, refused.Body)
		}
		const columns = "?columns=student_name,date_of_birth,guardian_2_number,guardian_name,guardian_2_name,guardian_number"
		created := coach.Call(t, "POST", "/api/players/import"+columns, file, csvType, "Idempotency-Key: a").Want(t, 201)
		if created.String("counts.waiting") != "1" || !strings.Contains(string(created.Body), `"relationship":"father","guardian_number":"+919812300101"`) ||
			!strings.Contains(string(created.Body), `"guardian_2_relationship":"mother","guardian_2_number":"+919812300100"`) || !strings.Contains(string(created.Body), `"other_guardians":0`) {
			t.Errorf("created: %s", created.Body)
		}
		coach.Call(t, "POST", "/api/players/import?columns=student_name", file, csvType, "Idempotency-Key: a").Want(t, 422, "idempotency_key_reused")
		runImport(t, coach, created.Header.Get("Location"))
		for _, number := range []string{"+919812300101", "+919812300100"} {
			if text := s.SMS(number, "message", 0).Text; !strings.Contains(text, "Asha") {
				t.Errorf("the message to a parent: %q", text)
			}
		}
	})
}

// TestImportColumnsPage: the page asks what only the coach can say before it keeps anything, and its guesses can be changed.
func TestImportColumnsPage(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), withTiers(t, importTiers))
	coach := s.Coach(t, coachNumber)
	coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
	b := signInPages(t, s, "coach", coachNumber)
	imports := func() int { return len(coach.Call(t, "GET", "/api/players/imports", nil).Want(t, 200).Items()) }
	paste := func(text string, more ...string) *touchlinetest.Page {
		b.Open("/coach/players/import")
		return b.Press("Check the list", append([]string{"text", text}, more...)...)
	}
	const file = "Name,DOB,Phone,Father's name\nAsha Rao,12/01/2012,98123 00100,Ravi Rao\n"
	page := paste(file)
	wantText(t, "the questions", page, []string{"What is in each column?", "Which date is 12/01/2012?", "12 January 2012", "1 December 2012", "We guessed. Please check.", "98123 00100"}, nil)
	if page.Status != 200 || imports() != 0 {
		t.Errorf("status %d, %d imports", page.Status, imports())
	}
	chosen := []string{"column_1", "student_name", "column_2", "date_of_birth", "column_3", "student_number", "column_4", "guardian_name"}
	page = b.Press("Check the list", chosen...)
	wantText(t, "without a date", page, []string{"Choose the date. We cannot tell the day from the month."}, nil)
	if page.Status != 422 || imports() != 0 {
		t.Errorf("status %d, %d imports", page.Status, imports())
	}
	page = b.Press("Check the list", append(chosen, "date_order", "month_first")...)
	wantText(t, "the import", page, []string{"2012-12-01", "Number of the guardian Fill this in."}, []string{"What is in each column?"})
	if imports() != 1 {
		t.Errorf("%d imports, want 1", imports())
	}
	// The titles of a clear list can be changed, too, and the page says which guardians it does not import.
	wantText(t, "a clear list", paste("Name,DOB,Father,Father phone,Mother,Mother phone\nBela,2014-04-30,Ravi,98123 00100,Meera,98123 00101\n"),
		[]string{"Meera (mother) · +91 98123 00101"}, []string{"What is in each column?", "not imported"})
	wantText(t, "one number for both", paste("Name,DOB,Father,Father phone,Mother,Mother phone\nZoya,2014-04-30,Ravi,98123 00100,Meera,98123 00100\n"),
		[]string{"1 more guardian is not imported."}, []string{"What is in each column?", "Meera"})
	wantText(t, "a clear list, with the box", paste("Name,DOB\nAsha,1990-04-30\n", "choose", "yes"), []string{"What is in each column?"}, []string{"Which date"})
	wantText(t, "a list without known titles", paste("a,b\nAsha,1990-04-30\n"), []string{"The first row has no title “Student name”", "What is in each column?"}, nil)
	page = b.Press("Check the list", "column_1", "student_name", "column_2", "date_of_birth")
	wantText(t, "the same list, with columns", page, []string{"1 row can be added.", "1990-04-30"}, nil)
}

// TestImportOfTwoGuardians: a row with two parents, each with a number, adds both, and the export has both.
func TestImportOfTwoGuardians(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers))
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		const file = "Name,DOB,Father's name,Father's mobile,Guardian 2 name,Guardian 2 relationship,Guardian 2 mobile,Guardian 2 email,Guardian 2 language\n" +
			"Asha Rao,2014-04-30,Ravi Rao,98123 00100,Anita Rao,mother,98123 00101,anita@example.com,Hindi\n" +
			"Bela Rao,2014-04-30,Ravi Rao,98123 00100,Anita Rao,mother,98123 00100,,\n" +
			"Zoya Rao,2014-04-30,Ravi Rao,98123 00100,Anita Rao,,12,,\n"
		created := coach.Call(t, "POST", "/api/players/import", file, csvType).Want(t, 201)
		rows := created.JSON["faulty_rows"].([]any)
		if faults := rows[0].(object)["faults"].([]any); len(rows) != 1 || len(faults) != 2 || faults[0].(object)["column"] != "guardian_2_number" || faults[1].(object)["column"] != "guardian_2_relationship" {
			t.Errorf("faulty rows: %v", rows)
		}
		if got := runImport(t, coach, created.Header.Get("Location")); got.String("counts.added") != "2" {
			t.Errorf("run: %s", got.Body)
		}
		guardians := map[string]string{}
		for _, p := range coach.Call(t, "GET", "/api/players", nil).Want(t, 200).Items() {
			full := coach.Call(t, "GET", "/api/players/"+p["player_id"].(string), nil).Want(t, 200)
			for _, g := range full.JSON["guardians"].([]any) {
				g := g.(object)
				guardians[full.String("student.full_name")] += fmt.Sprint(g["name"], " ", g["relationship"], " ", g["mobile_number"], " ", g["email"], " ", g["language"], ";")
			}
		}
		want := map[string]string{
			"Asha Rao": "Ravi Rao father +919812300100 <nil> <nil>;Anita Rao mother +919812300101 anita@example.com hi;",
			"Bela Rao": "Ravi Rao father +919812300100 <nil> <nil>;",
		}
		if diff := cmp.Diff(want, guardians); diff != "" {
			t.Errorf("guardians (-want +got):\n%s", diff)
		}
		exported := string(coach.Call(t, "GET", "/api/players.csv", nil).Want(t, 200).Body)
		if !strings.Contains(exported, "Guardian 2 name,Guardian 2 relationship,Guardian 2 mobile,Guardian 2 email,Guardian 2 language") || !strings.Contains(exported, "Anita Rao,mother,'+919812300101,anita@example.com,Hindi") {
			t.Errorf("the export: %s", exported)
		}
		if again := coach.Call(t, "POST", "/api/players/import", exported, csvType).Want(t, 201); again.String("counts.faulty") != "0" {
			t.Errorf("the export is read with faults: %s", again.Body)
		}
	})
}
