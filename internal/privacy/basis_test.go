package privacy_test

import (
	"encoding/csv"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// child returns a body that adds a child of that name.
func child(name string, basis any) map[string]any {
	body := touchlinetest.Minor(guardianNumber, "")
	body["student"].(map[string]any)["full_name"] = name
	if basis != nil {
		body["basis"] = basis
	}
	return body
}

// TestBasis: a coach declares why the data may be kept. It is stored with the player, and the family does not see it.
func TestBasis(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := academyCoach(t, s)
		for name, tt := range map[string]struct{ basis, want any }{
			"None":   {nil, object{"kind": "family_asked", "note": nil}},
			"Member": {object{"kind": "membership"}, object{"kind": "membership", "note": nil}},
			"Noted":  {object{"kind": "family_asked", "note": "by phone"}, object{"kind": "family_asked", "note": "by phone"}},
			"Other":  {object{"kind": "other", "note": "School contract"}, object{"kind": "other", "note": "School contract"}},
		} {
			id := coach.AddPlayer(t, child(name, tt.basis)).String("player_id")
			got, _ := coach.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200).JSON["basis"].(object)
			if !maps.Equal(got, tt.want.(object)) {
				t.Errorf("%s: %v", name, got)
			}
			coach.Call(t, "PATCH", "/api/players/"+id, object{"student": object{"full_name": name + " Rao"}}).Want(t, 200)
			if got := coach.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200).JSON["basis"].(object); !maps.Equal(got, tt.want.(object)) {
				t.Errorf("%s after an edit: %v", name, got)
			}
			coach.Call(t, "PATCH", "/api/players/"+id, object{"basis": object{"kind": "membership"}}).Want(t, 422)
			guardian := s.SignIn(t, "guardian", guardianNumber)
			guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
			if _, shown := guardian.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200).JSON["basis"]; shown {
				t.Error("the guardian sees the basis")
			}
		}
		for _, wrong := range []any{object{}, object{"kind": "hearsay"}, object{"kind": "other"}, object{"kind": "other", "note": nil}, object{"kind": "other", "note": strings.Repeat("a", 201)}, "other"} {
			coach.Call(t, "POST", "/api/players/add", child("Wrong", wrong)).Want(t, 422)
		}

		list := coach.Call(t, "GET", "/api/players", nil, "Accept: text/csv").Want(t, 200)
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(list.Body), "\ufeff"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(rows[0], "Basis")
		var all []string
		for _, row := range rows[1:] {
			all = append(all, row[at])
		}
		slices.Sort(all)
		if want := []string{"School contract", "family_asked", "family_asked: by phone", "membership"}; !slices.Equal(all, want) {
			t.Errorf("the export has %q", all)
		}
	})
}

// academyCoach returns a coach who may import and export.
func academyCoach(t *testing.T, s *touchlinetest.Service) *touchlinetest.User {
	t.Helper()
	coach := s.Coach(t, coachNumber)
	s.Operator(t, operator.Coaches).Call(t, "PUT", "/api/admin/coaches/"+coach.ID+"/tier", map[string]any{"tier": "academy"}).Want(t, 200)
	return coach
}

// TestBasisOfImport: the column may be missing, empty, a known word or another reason.
func TestBasisOfImport(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := academyCoach(t, s)
		file := "name,dob,basis\nA,2001-04-30,\nB,2001-04-30,Member\nC,2001-04-30,School contract\nD,2001-04-30," + strings.Repeat("x", 201) + "\n"
		i := coach.Call(t, "POST", "/api/players/import", file, "Content-Type: text/csv").Want(t, 201)
		if faulty := i.JSON["faulty_rows"].([]any); len(faulty) != 1 {
			t.Fatalf("%s", i.Body)
		}
		coach.Call(t, "POST", i.Header.Get("Location")+"/run", nil).Want(t, 200)
		got := map[string]string{}
		for _, p := range coach.Call(t, "GET", "/api/players", nil).Want(t, 200).Items() {
			basis := p["basis"].(map[string]any)
			note, _ := basis["note"].(string)
			got[p["student"].(map[string]any)["full_name"].(string)] = basis["kind"].(string) + " " + note
		}
		if want := map[string]string{"A": "family_asked ", "B": "membership ", "C": "other School contract"}; !maps.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

// TestBasisBySetting: BASIS is the basis of a player about whom the coach declares none, and is chosen in the form.
func TestBasisBySetting(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := academyCoach(t, s)
		added := coach.AddPlayer(t, child("Member", nil)).JSON["basis"].(map[string]any)
		asked := coach.AddPlayer(t, child("Asked", map[string]any{"kind": "family_asked"})).JSON["basis"].(map[string]any)
		if added["kind"] != "membership" || asked["kind"] != "family_asked" {
			t.Errorf("%v, %v", added, asked)
		}
		b := s.Browser(t)
		s.Clock.Skip(2 * time.Minute)
		b.Open("/sign-in/coach")
		codes := s.Sent(coach.Number, "otp")
		b.Press("Send me a code", "number", coach.Number)
		b.Press("Continue", "code", s.OTP(coach.Number, codes))
		if page := b.Open("/coach/players/add"); !strings.Contains(page.Body, `<option value="membership" selected>`) || strings.Count(page.Body, " selected>The family asked me") != 0 {
			t.Errorf("%s", page.Body)
		}
	}, func(c *config.Config) { c.Basis = "membership" })
}

// TestBasisOfForm: the form asks in one line, and the page of the player says what the coach declared.
func TestBasisOfForm(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Coach(t, coachNumber)
		b := s.Browser(t)
		s.Clock.Advance(2 * time.Minute)
		b.Open("/sign-in/coach")
		codes := s.Sent(coachNumber, "otp")
		b.Press("Send me a code", "number", coachNumber)
		b.Press("Continue", "code", s.OTP(coachNumber, codes))
		add := func(fields ...string) *touchlinetest.Page {
			b.Open("/coach/players/add")
			return b.Press("Add and ask", append([]string{"date_of_birth", "1990-01-01", "student_number", "98123 45681"}, fields...)...)
		}
		details := func() string { return b.Open(strings.Split(b.Page.Path, "?")[0] + "?tab=details").Text() }
		add("student_name", "Asha Rao", "basis", "family_asked", "basis_note", "left over")
		if text := details(); !strings.Contains(text, "The family asked me") || strings.Contains(text, "left over") || !strings.Contains(text, "You said so on ") {
			t.Error(text)
		}
		if page := add("student_name", "Bela Rao", "basis", "other"); !strings.Contains(page.Text(), "The reason, in a few words") || page.Status != 422 {
			t.Errorf("%d %s", page.Status, page.Text())
		}
		add("student_name", "Bela Rao", "basis", "other", "basis_note", "School contract")
		if text := details(); !strings.Contains(text, "School contract") {
			t.Error(text)
		}
	})
}
