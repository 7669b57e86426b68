package attendance_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestWaitingMarks: marks that waited on a phone are merged by the times at which they were made, on the clock of
// the service. Each is saved, or refused with what to do, and none stops another.
func TestWaitingMarks(t *testing.T) {
	t.Parallel()
	const coachNumber = "+919812345678"
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201).String("batch_id")
		var players []string
		for _, name := range []string{"Asha Rao", "Bela Das", "Chand Rao", "Dev Nair"} {
			body := touchlinetest.Minor("+919812345680", "")
			body["student"].(map[string]any)["full_name"] = name
			id := coach.AddPlayer(t, body).String("player_id")
			coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+id, nil).Want(t, 204)
			players = append(players, id)
		}
		day := s.Clock.Now().Format(time.DateOnly)
		page, sheet := "/coach/batches/"+batch+"/attendance/"+day, "/api/batches/"+batch+"/attendance/"+day
		s.Clock.Skip(2 * time.Minute) // until the next code
		b := s.Browser(t)
		sent := s.Sent(coachNumber, "otp")
		b.Open("/sign-in/coach")
		b.Press("Send me a code", "number", coachNumber)
		b.Press("Continue", "code", s.OTP(coachNumber, sent))
		account := b.Open(page).Value("account")

		type mark map[string]any
		ago := func(d time.Duration) string { return s.Clock.Now().Add(-d).Format(time.RFC3339Nano) }
		// send returns the players whose marks are saved, and why the others are not.
		send := func(account, now string, marks ...mark) (saved []string, refused map[string]string) {
			t.Helper()
			list, err := json.Marshal(marks)
			if err != nil {
				t.Fatal(err)
			}
			got := b.Send("POST", page+"/marks", url.Values{"account": {account}, "now": {now}, "marks": {string(list)}})
			if got.Status != 200 {
				t.Fatalf("%d: %s", got.Status, got.Text())
			}
			var out struct {
				Saved   []string
				Refused map[string]string
			}
			if err := json.Unmarshal([]byte(got.Body), &out); err != nil {
				t.Fatal(err)
			}
			return out.Saved, out.Refused
		}
		stored := func() string {
			t.Helper()
			var got struct {
				Marks []struct {
					PlayerID string `json:"player_id"`
					Mark     string
					Note     string
				}
			}
			if err := json.Unmarshal(coach.Call(t, "GET", sheet, nil).Want(t, 200).Body, &got); err != nil {
				t.Fatal(err)
			}
			marks := map[string]string{}
			for _, m := range got.Marks {
				marks[m.PlayerID] = m.Mark[:1] + m.Note
			}
			var all []string
			for _, id := range players {
				all = append(all, marks[id])
			}
			return strings.Join(all, " ")
		}

		saved, refused := send(account, ago(0), mark{"player": players[0], "mark": "a", "at": ago(3 * time.Minute), "note": "ill"}, mark{"player": players[1], "mark": "p", "at": ago(time.Hour)})
		if len(saved) != 2 || len(refused) != 0 || stored() != "aill p  " {
			t.Errorf("saved %v, refused %v, the sheet has %q", saved, refused, stored())
		}
		// A later part of the sheet replaces no earlier one. The response was lost, so one mark arrives again.
		saved, refused = send(account, ago(0), mark{"player": players[1], "mark": "p", "at": ago(time.Hour)}, mark{"player": players[2], "mark": "l", "at": ago(time.Minute)})
		if len(saved) != 2 || len(refused) != 0 || stored() != "aill p l " {
			t.Errorf("saved %v, refused %v, the sheet has %q", saved, refused, stored())
		}
		// Another device marked later. What is wrong with one mark does not stop the others.
		s.Clock.Skip(time.Minute)
		coach.Call(t, "PATCH", sheet, map[string]any{"marks": []mark{{"player_id": players[0], "mark": "excused"}}}).Want(t, 200)
		coach.Call(t, "DELETE", "/api/batches/"+batch+"/players/"+players[3], nil).Want(t, 204)
		saved, refused = send(account, ago(0), mark{"player": players[0], "mark": "p", "at": ago(30 * time.Second)}, mark{"player": players[3], "mark": "p", "at": ago(-time.Second)},
			mark{"player": players[1], "mark": "x", "at": ago(0)}, mark{"player": players[2], "mark": "p", "at": ago(0)})
		if !slices.Equal(saved, players[2:3]) || stored() != "eill p p " || len(refused) != 3 {
			t.Errorf("saved %v, refused %v, the sheet has %q", saved, refused, stored())
		}
		for id, want := range map[string]string{players[0]: "Another device marked excused later", players[3]: "Add the player to the batch and mark again", players[1]: "Mark again"} {
			if !strings.Contains(refused[id], want) {
				t.Errorf("refused with %q, want %q", refused[id], want)
			}
		}
		// The clock of the phone is two hours behind: the mark is still the later one.
		if saved, refused = send(account, ago(2*time.Hour), mark{"player": players[0], "mark": "l", "at": ago(2 * time.Hour)}); len(saved) != 1 || stored() != "lill p p " {
			t.Errorf("saved %v, refused %v, the sheet has %q", saved, refused, stored())
		}
		// Marks that another account made change nothing.
		list := `[{"player": "` + players[1] + `", "mark": "a", "at": "` + ago(0) + `"}]`
		if got := b.Send("POST", page+"/marks", url.Values{"account": {batch}, "marks": {list}}); got.Status != 409 || stored() != "lill p p " {
			t.Errorf("the marks of another account: %d, the sheet has %q", got.Status, stored())
		}
		// The sheets of an archived batch are closed.
		coach.Call(t, "DELETE", "/api/batches/"+batch, nil).Want(t, 204)
		saved, refused = send(account, ago(0), mark{"player": players[1], "mark": "a", "at": ago(0)})
		if len(saved) != 0 || len(refused) != 1 || !strings.Contains(strings.Join(slices.Collect(maps.Values(refused)), ""), "Remove this mark.") {
			t.Errorf("saved %v, refused %v in a closed batch", saved, refused)
		}
	})
}
