package e2e_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// importTiers: a small tier without import and export, and two larger ones with both.
const importTiers = `{"tiers": [
	{"name": "small", "title": "Small", "self_service": true, "limits": {"players": 2}},
	{"name": "club", "title": "Club", "self_service": true, "features": ["roster", "import", "export"], "limits": {"players": 4}},
	{"name": "big", "title": "Big", "self_service": true, "features": ["roster", "import", "export"]}
]}`

const csvType = "Content-Type: text/csv"

// TestImport: a coach imports a file, reaches the limit of the tier, takes a larger tier and
// goes on, and the file that the coach exports reads back without change.
func TestImport(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers))
		coach := s.Coach(t, coachNumber)
		var file strings.Builder
		file.WriteString("छात्र का नाम;जन्म तिथि;अभिभावक का नाम;रिश्ता;अभिभावक का मोबाइल नंबर;बैच\r\n")
		for n := range 5 {
			fmt.Fprintf(&file, "Asha %d;30/04/2014;=Ravi;पिता;98123 0010%d;U12\r\n", n, n)
		}
		file.WriteString("Bela;30/04/14;Ravi;father;12;U12\r\n")

		upload := func(by *touchlinetest.User, headers ...string) *touchlinetest.Response {
			return by.Call(t, "POST", "/api/players/import", file.String(), append(headers, csvType)...)
		}
		refused := upload(coach).Want(t, 403, "tier_limit")
		if refused.String("limit") != "import" || refused.String("needed_tier") != "club" {
			t.Errorf("without the feature: %s", refused.Body)
		}
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "club"}).Want(t, 200)

		addBatch(t, coach, "U12")
		created := upload(coach, "Idempotency-Key: one").Want(t, 201)
		if again := upload(coach, "Idempotency-Key: one").Want(t, 201); !bytes.Equal(again.Body, created.Body) {
			t.Errorf("the same key: %s, want %s", again.Body, created.Body)
		}
		path := created.Header.Get("Location")
		if created.String("state") != "ready" || created.String("counts.waiting") != "5" || created.String("counts.faulty") != "1" {
			t.Errorf("created: %s", created.Body)
		}
		if n := len(coach.Call(t, "GET", "/api/players", nil).Want(t, 200).Items()); n != 0 {
			t.Errorf("the preview added %d players", n)
		}
		faulty := coach.Call(t, "GET", path+"/rows?state=faulty", nil).Want(t, 200).Items()
		if len(faulty) != 1 || faulty[0]["row"] != 7.0 || len(faulty[0]["faults"].([]any)) != 1 {
			t.Errorf("faulty rows: %v", faulty)
		}

		run := runImport(t, coach, path)
		if run.String("state") != "stopped" || run.String("stopped_by.code") != "tier_limit" || run.String("stopped_by.needed_tier") != "big" || run.String("counts.added") != "4" {
			t.Errorf("run: %s", run.Body)
		}
		if text := s.SMS("+919812300100", "message", 0).Text; !strings.Contains(text, "Coach Meera Nair added Asha 0. ") {
			t.Errorf("the message to a guardian: %q", text)
		}
		waiting := coach.Call(t, "GET", path+"/rows?state=waiting", nil).Want(t, 200).Items()
		if len(waiting) != 1 || waiting[0]["faults"].([]any)[0].(map[string]any)["code"] != "tier_limit" {
			t.Errorf("waiting rows: %v", waiting)
		}
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		run = runImport(t, coach, path)
		if run.String("state") != "done" || run.String("stopped_by") != "" || run.String("counts.added") != "5" {
			t.Errorf("second run: %s", run.Body)
		}

		// The same file again: every player exists.
		second := upload(coach).Want(t, 201).Header.Get("Location")
		run = runImport(t, coach, second)
		if run.String("counts.exists") != "5" || run.String("state") != "done" {
			t.Errorf("the same file: %s", run.Body)
		}
		list := coach.Call(t, "GET", "/api/players/imports?limit=1", nil).Want(t, 200)
		if items := list.Items(); len(items) != 1 || "/api/players/imports/"+items[0]["import_id"].(string) != second || list.String("next_cursor") == "" {
			t.Errorf("list: %s", list.Body)
		}

		exported := coach.Call(t, "GET", "/api/players", nil, "Accept: text/csv").Want(t, 200)
		if got := exported.Header.Get("Content-Type"); got != "text/csv; charset=utf-8; header=present" {
			t.Errorf("Content-Type %q", got)
		}
		if text := string(exported.Body); strings.Count(text, "\n") != 6 || !strings.Contains(text, "Asha 4,2014-04-30,,,'=Ravi,पिता,'+919812300104,,,,,,,,U12,family_asked,pending,pending") {
			t.Errorf("export: %s", text)
		}
		found := coach.Call(t, "GET", "/api/players?q=Asha+3", nil, "Accept: text/csv").Want(t, 200)
		if strings.Count(string(found.Body), "\n") != 2 {
			t.Errorf("export of a search: %s", found.Body)
		}
		other := s.Coach(t, "+919812300009")
		other.Call(t, "GET", path, nil).Want(t, 404, "not_found")
		other.Call(t, "GET", path+"/rows", nil).Want(t, 404, "not_found")
		other.Call(t, "POST", path+"/run", nil).Want(t, 404, "not_found")
		other.Call(t, "GET", "/api/players", nil, "Accept: text/csv").Want(t, 403, "tier_limit")
		other.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		if unknown := other.Call(t, "POST", "/api/players/import", string(exported.Body), csvType).Want(t, 201); unknown.String("counts.faulty") != "5" ||
			!strings.Contains(string(unknown.Body), `"column":"batches","code":"unknown_batch"`) {
			t.Errorf("a batch of another coach: %s", unknown.Body)
		}
		addBatch(t, other, "u12")
		copied := other.Call(t, "POST", "/api/players/import", string(exported.Body), csvType).Want(t, 201)
		if copied.String("counts.waiting") != "5" {
			t.Errorf("the export as an import: %s", copied.Body)
		}
		runImport(t, other, copied.Header.Get("Location"))
		again := other.Call(t, "GET", "/api/players", nil, "Accept: text/csv").Want(t, 200)
		if sortedLines(bytes.ReplaceAll(again.Body, []byte(",u12,"), []byte(",U12,"))) != sortedLines(exported.Body) {
			t.Errorf("exported again:\n%s\nwant\n%s", again.Body, exported.Body)
		}
	})
}

// runImport runs steps of an import until it is done or stopped, and returns the last answer.
// On a slow disk a step ends after some rows.
func runImport(t *testing.T, by *touchlinetest.User, path string) *touchlinetest.Response {
	t.Helper()
	for {
		got := by.Call(t, "POST", path+"/run", nil).Want(t, 200)
		if got.String("state") != "in_progress" {
			return got
		}
	}
}

// sortedLines returns the lines of a text in the order of their bytes.
func sortedLines(text []byte) string {
	lines := strings.Split(string(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// fromRows returns how many rows of an import wait, were added or name a player whom another import added: the worker may have
// begun with them.
func fromRows(r *touchlinetest.Response) int {
	counts, _ := r.JSON["counts"].(map[string]any)
	waiting, _ := counts["waiting"].(float64)
	added, _ := counts["added"].(float64)
	exists, _ := counts["exists"].(float64)
	return int(waiting + added + exists)
}

// TestImportOfManyFiles: 12 files of 4 coaches at the same time are all read, and a cell that is too
// long is a fault of its row alone.
func TestImportOfManyFiles(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers), touchlinetest.ManyConnections)
		var wait sync.WaitGroup
		for n := range 4 {
			coach := s.Coach(t, fmt.Sprintf("+91981230001%d", n))
			coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
			for m := range 3 {
				file := "name,dob\n"
				for row := range 600 + m {
					file += fmt.Sprintf("Asha Rao %d,1990-04-30\n", row)
				}
				file += strings.Repeat("आ", 1001) + ",1990-04-30\n"
				wait.Go(func() {
					got, err := s.Do(t.Context(), "POST", "/api/players/import", coach.Access, file, csvType)
					if err != nil || got.Status != 201 {
						t.Errorf("import: %v, %v", got, err)
						return
					}
					path := got.Header.Get("Location")
					for got.String("state") == "reading" {
						if got, err = s.Do(t.Context(), "POST", path+"/run", coach.Access, nil); err != nil || got.Status != 200 {
							t.Errorf("read: %v, %v", got, err)
							return
						}
					}
					if got, err = s.Do(t.Context(), "GET", path, coach.Access, nil); err != nil || fromRows(got) != 600+m ||
						got.String("counts.faulty") != "1" || !strings.Contains(string(got.Body), `"column":"student_name","code":"cell_too_long"`) {
						t.Errorf("after it was read: %v, %v", got, err)
					}
				})
			}
		}
		wait.Wait()
	})
}

// TestImportAtOnce: two replicas that run an import at the same time add each player once.
func TestImportAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers), touchlinetest.ManyConnections)
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		file := "name,dob,guardian,relation,guardian mobile\n"
		for n := range 20 {
			file += fmt.Sprintf("Child %d,2014-04-30,Ravi,father,98123 001%02d\n", n, n)
		}
		path := coach.Call(t, "POST", "/api/players/import", file, csvType).Want(t, 201).Header.Get("Location")
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				for state := "in_progress"; state == "in_progress"; { // a step ends after some seconds
					got, err := s.Do(t.Context(), "POST", path+"/run", coach.Access, nil)
					if err != nil || got.Status != 200 {
						t.Errorf("run: %v, %v", got, err)
						return
					}
					state = got.String("state")
				}
			})
		}
		wait.Wait()
		got := coach.Call(t, "GET", path, nil).Want(t, 200)
		if got.String("counts.added") != "20" || got.String("state") != "done" {
			t.Errorf("import: %s", got.Body)
		}
		if n := len(coach.Call(t, "GET", "/api/players", nil).Want(t, 200).Items()); n != 20 {
			t.Errorf("got %d players, want 20", n)
		}
	})
}

// TestImportIsOfferedByTier: the page of the players offers the import and the export in a tier that has
// them, and an import names its rows.
func TestImportIsOfferedByTier(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), withTiers(t, importTiers))
	coach := s.Coach(t, coachNumber)
	coach.AddPlayer(t, object{"student": object{"full_name": "Asha Rao", "date_of_birth": "1990-07-09"}})
	b := signInPages(t, s, "coach", coachNumber)
	offers := func() bool {
		page := b.Open("/coach/players").Body
		return strings.Contains(page, "/coach/players/export")
	}
	if offers() {
		t.Error("a tier without export offers it")
	}
	coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
	if !offers() {
		t.Error("a tier with export does not offer it")
	}
	id := coach.Call(t, "POST", "/api/players/import", "name,dob\n"+strings.Repeat("x", 1001)+",2012-04-30\n", csvType).Want(t, 201).String("import_id")
	page := b.Open("/coach/imports/" + id).Body
	if !strings.Contains(page, "Row 2") || !strings.Contains(page, "This has more than 1,000 letters.") {
		t.Errorf("the page of the import:\n%s", page)
	}
}

// TestPageOfImportThatIsRead: the page of an import says how far the reading of its file is, and what to
// do after it has failed. It offers no step.
func TestPageOfImportThatIsRead(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), withTiers(t, importTiers))
	coach := s.Coach(t, coachNumber)
	coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
	id := coach.Call(t, "POST", "/api/players/import", "name,dob\nAsha,1990-04-30\n", csvType).Want(t, 201).String("import_id")
	b := signInPages(t, s, "coach", coachNumber)
	for until, want := range map[int64]string{math.MaxInt64: "1 of 700 rows are read.", 1: "We added no player. Send the list again."} {
		execSQL(t, openTables(t, s), fmt.Sprintf("UPDATE imports SET file_rows = 700, reading_until = %d", until))
		page := b.Open("/coach/imports/" + id)
		if page.Status != 200 || !strings.Contains(page.Body, want) || strings.Contains(page.Body, "/run") {
			t.Errorf("got %d, want %q and no step:\n%s", page.Status, want, page.Body)
		}
	}
}

// TestImportRefusals: bodies that are not an import.
func TestImportRefusals(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers))
		coach := s.SignIn(t, "coach", coachNumber)
		coach.Call(t, "POST", "/api/players/import", "name", csvType).Want(t, 403, "profile_incomplete")
		coach = s.Coach(t, coachNumber)
		coach.Call(t, "POST", "/api/players/import", "", csvType).Want(t, 403, "tier_limit")
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		coach.Call(t, "POST", "/api/players/import", "{}").Want(t, 415, "unsupported_media_type")
		coach.Call(t, "POST", "/api/players/import", "name", csvType, "Accept: text/csv").Want(t, 406, "not_acceptable")
		coach.Call(t, "POST", "/api/players/import", strings.Repeat("x", 4<<20+1), csvType).Want(t, 413, "payload_too_large")
		coach.Call(t, "POST", "/api/players/import", "", csvType).Want(t, 422, "validation_failed")
		coach.Call(t, "POST", "/api/players/import", "name,dob\n", csvType, `Idempotency-Key: ""`).Want(t, 422, "validation_failed")
		coach.Call(t, "GET", "/api/players", nil, "Accept: application/xml").Want(t, 406, "not_acceptable")
		coach.Call(t, "GET", "/api/players?limit=0", nil, "Accept: text/csv").Want(t, 422, "validation_failed")
		coach.Call(t, "GET", "/api/players/imports/import", nil).Want(t, 404, "not_found")
	})
}
