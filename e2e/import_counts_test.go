package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestImportSaysWhatItAdds: an import says before its first step how many players it adds, and afterwards how
// many it has added: not those whom the coach has, and none twice. A player who is added between the
// two counts as there already.
func TestImportSaysWhatItAdds(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, url string) {
		s := touchlinetest.New(t, url, withTiers(t, importTiers))
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		add := func(name string) {
			coach.AddPlayer(t, object{"student": object{"full_name": name, "date_of_birth": "1990-07-09"}})
		}
		add("Asha 0")
		add("Asha 1")
		file := "name,dob\nAsha 0,1990-07-09\nasha  1,1990-07-09\nAsha 2,1990-07-09\nAsha 3,1990-07-09\nAsha 4,1990-07-09\nASHA 2,1990-07-09\n"
		created := coach.Call(t, "POST", "/api/players/import", file, csvType).Want(t, 201)
		checkCounts(t, created, "ready", 3, 0, 2)
		if !strings.Contains(string(created.Body), `"code":"duplicate_row","detail":"The same student is in row 4.`) {
			t.Errorf("the student who is in the file twice: %s", created.Body)
		}
		b := signInPages(t, s, "coach", coachNumber)
		path := strings.Replace(created.Header.Get("Location"), "/api/players", "/coach", 1)
		page := b.Open(path)
		for _, want := range []string{"3 rows can be added. You have 2 players of the list already.", "Add 3 players and ask", "The same student is in row 4."} {
			if !strings.Contains(page.Body, want) {
				t.Errorf("before the run the page has no %q:\n%s", want, page.Body)
			}
		}

		add("Asha 4")
		checkCounts(t, runImport(t, coach, created.Header.Get("Location")), "done", 0, 2, 3)
		if page := b.Open(path); !strings.Contains(page.Body, "2 players were added. 3 were there already.") {
			t.Errorf("after the run:\n%s", page.Body)
		}

		// A file whose students the coach has is done.
		same := coach.Call(t, "POST", "/api/players/import", "name,dob\nAsha 0,1990-07-09\n", csvType).Want(t, 201)
		checkCounts(t, same, "done", 0, 0, 1)

		// A file that is read in parts.
		long := "name,dob\n"
		for n := range 600 {
			long += fmt.Sprintf("Bela %d,1990-07-09\n", n)
		}
		long += "Asha 0,1990-07-09\nBela 0,1990-07-09\n"
		checkCounts(t, coach.Call(t, "POST", "/api/players/import", long, csvType).Want(t, 201), "ready", 600, 0, 1)
	})
}

func checkCounts(t *testing.T, got *touchlinetest.Response, state string, waiting, added, exists int) {
	t.Helper()
	if got.String("state") != state || got.String("counts.waiting") != fmt.Sprint(waiting) || got.String("counts.added") != fmt.Sprint(added) || got.String("counts.exists") != fmt.Sprint(exists) {
		t.Errorf("want %s, %d wait, %d added, %d exist: %s", state, waiting, added, exists, got.Body)
	}
}
