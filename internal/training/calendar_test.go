package training_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// feed reads a calendar by its address.
func (q squad) feed(url string, headers ...string) *touchlinetest.Response {
	q.t.Helper()
	return q.Call(q.t, "GET", strings.TrimPrefix(url, q.URL), "", nil, headers...)
}

// TestCalendar: the address of a calendar is read without a sign-in until there is another one, or the
// party's approval ends. A new approval does not open it again.
func TestCalendar(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		path := "/api/me/players/" + q.player + "/calendar"
		key := "Idempotency-Key: " + uuid.NewString()
		made := q.guardian.Call(t, "POST", path, nil, key).Want(t, 200)
		if again := q.guardian.Call(t, "POST", path, nil, key).Want(t, 200); again.String("url") != made.String("url") {
			t.Errorf("the same key made %s and %s", made.Body, again.Body)
		}
		first := made.String("url")
		q.coach.Call(t, "DELETE", "/api/trainings/"+q.slot(1), map[string]any{"reason": "Rain"}).Want(t, 200)
		calendar := q.feed(first).Want(t, 200)
		for _, part := range []string{"SUMMARY:Asha\\, U12 Evening", "LOCATION:North ground", "STATUS:CANCELLED", "DESCRIPTION:Rain"} {
			if !strings.Contains(string(calendar.Body), part) {
				t.Errorf("the calendar does not have %s:\n%.600s", part, calendar.Body)
			}
		}
		for _, secret := range []string{"Rao", "Asthma", "98123"} {
			if strings.Contains(string(calendar.Body), secret) {
				t.Errorf("the calendar has %s", secret)
			}
		}
		if got := calendar.Header.Get("Cache-Control"); got != "private, max-age=300" {
			t.Errorf("Cache-Control %q", got)
		}
		tag := calendar.Header.Get("ETag")
		if same := q.feed(first, "If-None-Match: "+tag); same.Status != http.StatusNotModified || len(same.Body) > 0 {
			t.Errorf("the same calendar: %d %s", same.Status, same.Body)
		}
		q.answer(q.slot(2), false, "Fever").Want(t, 200)
		if other := q.feed(first, "If-None-Match: "+tag).Want(t, 200); strings.Contains(string(other.Body), "Fever") || !strings.Contains(string(other.Body), "DESCRIPTION:Cannot come") {
			t.Errorf("after an answer:\n%s", other.Body)
		}

		second := q.guardian.Call(t, "POST", path, nil).Want(t, 200).String("url")
		missing := q.feed(first).Want(t, 404, "not_found")
		unknown := q.feed(s.URL+"/calendars/"+strings.Repeat("x", 24)+".ics").Want(t, 404, "not_found")
		if a, b := missing.String("detail"), unknown.String("detail"); a != b {
			t.Errorf("an ended address says %q, an unknown one %q", a, b)
		}
		q.feed(second).Want(t, 200)
		q.decide("revoked")
		q.feed(second).Want(t, 404, "not_found")
		q.guardian.Call(t, "POST", path, nil).Want(t, 403, "approval_required")
		q.guardian.Call(t, "POST", path, nil, key).Want(t, 403, "approval_required")
		q.guardian.Call(t, "DELETE", path, nil).Want(t, 403, "approval_required")
		q.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": q.player})
		q.decide("approved")
		q.feed(second).Want(t, 404, "not_found")
		third := q.guardian.Call(t, "POST", path, nil).Want(t, 200).String("url")
		q.feed(third).Want(t, 200)
		q.guardian.Call(t, "DELETE", path, nil).Want(t, 204)
		q.feed(third).Want(t, 404, "not_found")

		mine := q.coach.Call(t, "POST", "/api/calendar", nil).Want(t, 200).String("url")
		if all := q.feed(mine).Want(t, 200); !strings.Contains(string(all.Body), "SUMMARY:U12 Evening") || strings.Contains(string(all.Body), "Asha") {
			t.Errorf("the coach's calendar:\n%.600s", all.Body)
		}
		q.guardian.Call(t, "POST", "/api/calendar", nil).Want(t, 403, "role_not_allowed")
		s.Coach(t, otherCoach).Call(t, "POST", "/api/calendar", nil).Want(t, 200)
		q.coach.Call(t, "DELETE", "/api/calendar", nil).Want(t, 204)
		q.feed(mine).Want(t, 404, "not_found")

		last := q.guardian.Call(t, "POST", path, nil).Want(t, 200).String("url")
		q.coach.Call(t, "DELETE", "/api/players/"+q.player, nil).Want(t, 204)
		q.feed(last).Want(t, 404, "not_found")
		q.guardian.Call(t, "POST", path, nil).Want(t, 404, "not_found")
		q.guardian.Call(t, "POST", path, nil, key).Want(t, 404, "not_found")
	})
}

// TestCalendarChanges: each change that a calendar shows raises LAST-MODIFIED, without which ICSx5 keeps the old event, and each
// change of a training raises SEQUENCE (RFC 5545 3.8.7.4).
func TestCalendarChanges(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		q := newSquad(t, s)
		path := "/api/me/players/" + q.player + "/calendar"
		url := q.guardian.Call(t, "POST", path, nil).Want(t, 200).String("url")
		read := func() (sequence int, modified, text string) {
			t.Helper()
			parsed, err := ics.ParseCalendar(strings.NewReader(string(q.feed(url).Want(t, 200).Body)))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range parsed.Events() {
				if e.Id() != q.slot(2)+"@touchline" {
					continue
				}
				get := func(p ics.ComponentProperty) string {
					if v := e.GetProperty(p); v != nil {
						return v.Value
					}
					return ""
				}
				sequence, err := strconv.Atoi(get(ics.ComponentPropertySequence))
				if err != nil {
					t.Fatal(err)
				}
				if get(ics.ComponentPropertyDtstamp) != get(ics.ComponentPropertyLastModified) {
					t.Errorf("DTSTAMP %s, LAST-MODIFIED %s", get(ics.ComponentPropertyDtstamp), get(ics.ComponentPropertyLastModified))
				}
				return sequence, get(ics.ComponentPropertyLastModified), get(ics.ComponentPropertyDtStart) + get(ics.ComponentPropertyDescription) + get(ics.ComponentPropertyLocation)
			}
			t.Fatal("the calendar does not have the training")
			return
		}
		schedule := func(start string) func() {
			return func() {
				var days []map[string]any
				for _, day := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
					days = append(days, map[string]any{"weekday": day, "start": start, "end": "19:30"})
				}
				q.coach.Call(t, "PATCH", "/api/batches/"+q.batch, map[string]any{"schedule": days}).Want(t, 200)
			}
		}
		sequence, modified, text := read()
		for _, change := range []struct {
			name    string
			make    func()
			further bool // SEQUENCE
		}{
			{"the schedule", schedule("18:30"), true},
			{"the schedule again", schedule("17:00"), true},
			{"the venue", func() {
				q.coach.Call(t, "PATCH", "/api/batches/"+q.batch, map[string]any{"venue": "South ground"}).Want(t, 200)
			}, true},
			{"one day", func() {
				q.coach.Call(t, "PATCH", "/api/trainings/"+q.slot(2), map[string]any{"start": "17:15"}).Want(t, 200)
			}, true},
			{"an answer", func() { q.answer(q.slot(2), false, "Fever").Want(t, 200) }, false},
			{"the other answer", func() { q.answer(q.slot(2), true, "").Want(t, 200) }, false},
			{"the language", func() {
				q.guardian.Call(t, "PATCH", "/api/me/preferences", map[string]any{"language": "hi"}).Want(t, 200)
			}, false},
		} {
			s.Clock.Advance(time.Minute)
			change.make()
			nextSequence, nextModified, nextText := read()
			if nextText == text || nextModified <= modified || (nextSequence > sequence) != change.further || nextSequence < sequence {
				t.Errorf("after a change of %s: SEQUENCE %d → %d, LAST-MODIFIED %s → %s, %s → %s", change.name, sequence, nextSequence, modified, nextModified, text, nextText)
			}
			sequence, modified, text = nextSequence, nextModified, nextText
		}
	})
}
