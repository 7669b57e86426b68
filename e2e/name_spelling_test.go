package e2e_test

import (
	"net/url"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestNamesInOtherSpellings: a phone writes O’Brien and a spreadsheet O'Brien. They are one student, whose family is asked
// once, and both spellings find both. So do names without their accents.
func TestNamesInOtherSpellings(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, base string) {
		s := touchlinetest.New(t, base, withTiers(t, importTiers))
		coach := s.Coach(t, coachNumber)
		coach.Call(t, "PUT", "/api/coach/subscription", object{"tier": "big"}).Want(t, 200)
		add := func(name string) *touchlinetest.Response {
			return coach.Call(t, "POST", "/api/players/add", object{"student": object{"full_name": name, "date_of_birth": "1990-07-09"}})
		}
		for first, again := range map[string][]string{"Sean O’Brien": {"Sean O'Brien", "sean oʼbrien"}, "Zoë Núñez": {"zoe nunez"}, "Łukasz D‘Souza": {"Lukasz D'Souza"}} {
			id := add(first).Want(t, 201).String("player_id")
			for _, name := range again {
				if got := add(name).Want(t, 409, "player_exists"); got.String("player_id") != id {
					t.Errorf("%s: %s", name, got.Body)
				}
				for _, q := range []string{first, name} {
					if items := coach.Call(t, "GET", "/api/players?q="+url.QueryEscape(q), nil).Want(t, 200).Items(); len(items) != 1 {
						t.Errorf("%d players for %q", len(items), q)
					}
				}
			}
			row := coach.Call(t, "POST", "/api/players/import", "name,dob\n"+again[0]+",1990-07-09\n", csvType).Want(t, 201)
			if row.String("counts.exists") != "1" {
				t.Errorf("the import of %s: %s", again[0], row.Body)
			}
		}
	})
}
