package training_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	ics "github.com/arran4/golang-ical"

	"github.com/touchline/touchline/internal/platform/programtest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestCalendarReaders: six programs that read calendars find the same trainings in ours, with batches and venues that look like links, a
// cancelled training, an answer, and characters that the format escapes.
func TestCalendarReaders(t *testing.T) {
	t.Parallel()
	npm := programtest.NPM.Need(t)
	const folder = "../../tools/calendars"
	if _, err := os.Stat(folder + "/node_modules"); err != nil {
		programtest.NPM.Skip(t, "then run npm ci in tools/calendars")
	}
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		url := q.guardian.Call(t, "POST", "/api/me/players/"+q.player+"/calendar", nil).Want(t, 200).String("url")
		for _, text := range []struct{ name, venue string }{
			{"U12 Mon/Wed/Fri", "B-12/34 Karol Bagh"},
			{`U12, Evening; "A" मीरा 🏑`, "Gachibowli Stadium, Old Mumbai Highway, Gachibowli, Hyderabad, Telangana 500032"},
			{"Juniors 5.30-6.30pm", "https://maps.app.goo.gl/abc123"},
		} {
			q.coach.Call(t, "PATCH", "/api/batches/"+q.batch, map[string]any{"name": text.name, "venue": text.venue}).Want(t, 200)
			if text.name[0] == 'J' {
				q.coach.Call(t, "DELETE", "/api/trainings/"+q.slot(1), map[string]any{"reason": "Rain"}).Want(t, 200)
				q.answer(q.slot(2), false, "Fever").Want(t, 200)
			}
			body := string(q.feed(url).Want(t, 200).Body)
			ours, err := ics.ParseCalendar(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, e := range ours.Events() {
				get := func(p ics.ComponentProperty) string {
					if v := e.GetProperty(p); v != nil {
						return v.Value
					}
					return ""
				}
				start, startErr := e.GetStartAt()
				end, endErr := e.GetEndAt()
				if startErr != nil || endErr != nil {
					t.Fatal(startErr, endErr)
				}
				const layout = "2006-01-02T15:04:05.000Z"
				summary := "Asha, " + text.name
				if get(ics.ComponentPropertyStatus) == "CANCELLED" {
					summary = "Cancelled: " + summary
				}
				want = append(want, strings.Join([]string{e.Id(), start.UTC().Format(layout), end.UTC().Format(layout), summary, text.venue, get(ics.ComponentPropertyStatus)}, " | "))
			}
			slices.Sort(want)
			if len(want) < 2 {
				t.Fatalf("the calendar has %d trainings", len(want))
			}
			read := exec.CommandContext(t.Context(), npm, "exec", "--offline", "--", "node", "read.mjs")
			read.Dir, read.Stdin = folder, strings.NewReader(body)
			out, err := read.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, body)
			}
			var found map[string][]string
			if err := json.Unmarshal(out, &found); err != nil || len(found) != 6 {
				t.Fatalf("%v: %s", err, out)
			}
			for name, got := range found {
				if !slices.Equal(got, want) {
					t.Errorf("%s reads %d trainings, want %d; the first are\n%s\n%s", name, len(got), len(want), strings.Join(got[:min(2, len(got))], "\n"), strings.Join(want[:2], "\n"))
				}
			}
		}
	})
}
