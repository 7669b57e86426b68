package training

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

var batchID = uuid.Must(uuid.NewV7()).String()

// batchIn returns a batch in a time zone that trains on each day.
func batchIn(zone string, slots ...team.Slot) *team.Batch {
	b := &team.Batch{ID: batchID, Name: "U12", Venue: "North ground", TimeZone: zone, CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for day := range 7 {
		for _, s := range slots {
			b.Schedule = append(b.Schedule, team.Slot{Weekday: time.Weekday(day), Start: s.Start, End: s.End})
		}
	}
	return b
}

func describe(all []*Training) string {
	var lines []string
	for _, t := range all {
		id := strings.TrimPrefix(t.ID, batchID)
		lines = append(lines, fmt.Sprintf("%s %s-%s %s %s", id, t.StartsAt().Format("02T15:04"), t.EndsAt().Format("02T15:04"), t.State(), t.Venue))
	}
	return strings.Join(lines, "\n")
}

// TestPlanDaylightSaving: a training keeps its time on the clock when daylight saving begins and ends. One whose start is skipped begins
// later and keeps its length. A time that is there twice is the first (RFC 5545, section 3.3.5).
func TestPlanDaylightSaving(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zone       string
		from       team.Date
		start, end team.TimeOfDay
		want       string
	}{
		{"Europe/London", "2026-03-28", 18 * 60, 19 * 60, "28T18:00-28T19:00 29T17:00-29T18:00"},
		{"Europe/London", "2026-10-24", 18 * 60, 19 * 60, "24T17:00-24T18:00 25T18:00-25T19:00"},
		{"Europe/London", "2026-03-28", 60 + 30, 2*60 + 15, "28T01:30-28T02:15 29T01:30-29T02:15"},   // 01:30 does not exist on the 29th
		{"Europe/London", "2026-03-28", 30, 60 + 30, "28T00:30-28T01:30 29T00:30-29T01:30"},          // nor does the end of this one
		{"Europe/London", "2026-03-28", 30, 2*60 + 30, "28T00:30-28T02:30 29T00:30-29T01:30"},        // 00:30 and 02:30 do
		{"America/New_York", "2026-03-07", 2*60 + 30, 4 * 60, "07T07:30-07T09:00 08T07:30-08T09:00"}, // 02:30 does not exist on the 8th
		{"Australia/Lord_Howe", "2026-10-03", 2 * 60, 3 * 60, "02T15:30-02T16:30 03T15:30-03T16:30"}, // the clocks change by half an hour
		{"America/Havana", "2026-03-07", 0, 90, "07T05:00-07T06:30 08T05:00-08T06:30"},               // midnight does not exist on the 8th
		{"Europe/London", "2026-10-24", 60 + 30, 2*60 + 15, "24T00:30-24T01:15 25T00:30-25T02:15"},   // 01:30 is there twice on the 25th
		{"Europe/London", "2026-10-24", 30, 60 + 30, "23T23:30-24T00:30 24T23:30-25T00:30"},
		{"America/New_York", "2026-10-31", 60 + 30, 1*60 + 45, "31T05:30-31T05:45 01T05:30-01T05:45"},
	} {
		b := batchIn(tt.zone, team.Slot{Start: tt.start, End: tt.end})
		var got []string
		for _, training := range plan([]*team.Batch{b}, nil, tt.from, tt.from.AddDays(1)) {
			got = append(got, training.StartsAt().Format("02T15:04")+"-"+training.EndsAt().Format("02T15:04"))
			if training.EndsAt().Before(training.StartsAt()) {
				t.Errorf("%s ends before it starts", training.ID)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s from %s: got %s, want %s", tt.zone, tt.from, strings.Join(got, " "), tt.want)
		}
	}
}

// TestTakePlace: trainings of several time zones are in the order of their start, also on the day when
// clocks change.
func TestTakePlace(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 16, 0, 0, 0, time.UTC) // Saturday; clocks in Berlin change on Sunday
	evening, night := batchIn("Europe/Berlin", team.Slot{Start: 18 * 60, End: 19 * 60}), batchIn("Asia/Kolkata", team.Slot{Start: 22 * 60, End: 23 * 60})
	night.ID = uuid.Must(uuid.NewV7()).String()
	cancelled := record{id: slotID(night.ID, "2026-03-30", 1), batchID: night.ID, version: 1, date: "2026-03-30", kind: Practice, cancelledAt: now}
	var starts []string
	for _, g := range takePlace(plan([]*team.Batch{night, evening}, []record{cancelled}, "2026-03-27", "2026-04-02"), now, 3) {
		starts = append(starts, g.Batch.TimeZone+" "+g.StartsAt().Format(time.RFC3339))
	}
	want := []string{
		"Asia/Kolkata 2026-03-28T16:30:00Z", "Europe/Berlin 2026-03-28T17:00:00Z", "Europe/Berlin 2026-03-29T16:00:00Z", "Asia/Kolkata 2026-03-29T16:30:00Z", "Europe/Berlin 2026-03-30T16:00:00Z",
	}
	if !slices.Equal(starts, want) {
		t.Errorf("got %q, want %q", starts, want)
	}
}

// TestPlanRecords: rows change the days of the schedule. What a row does not say follows the schedule.
func TestPlanRecords(t *testing.T) {
	t.Parallel()
	b := batchIn("UTC", team.Slot{Start: 9 * 60, End: 10 * 60}, team.Slot{Start: 17 * 60, End: 18 * 60})
	single := uuid.Must(uuid.NewV7()).String()
	late, later := team.TimeOfDay(19*60), team.TimeOfDay(20*60)
	records := []record{
		{id: slotID(batchID, "2026-03-02", 1), batchID: batchID, version: 1, date: "2026-03-02", kind: Practice, cancelledAt: time.Unix(1, 0)},
		{id: slotID(batchID, "2026-03-02", 2), batchID: batchID, version: 1, date: "2026-03-02", kind: Practice, venue: "Hall"},
		{id: slotID(batchID, "2026-03-02", 3), batchID: batchID, version: 1, date: "2026-03-02", kind: Practice, venue: "the schedule has no third slot"},
		{id: single, batchID: batchID, version: 1, date: "2026-03-02", kind: Match, start: &late, end: &later},
	}
	want := strings.Join([]string{
		".2026-03-02 02T09:00-02T10:00 cancelled North ground", ".2026-03-02.2 02T17:00-02T18:00 planned Hall", single + " 02T19:00-02T20:00 planned North ground",
	}, "\n")
	if got := describe(plan([]*team.Batch{b}, records, "2026-03-02", "2026-03-02")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// The schedule moves by an hour: the day stays cancelled, and the hall stays.
	for i := range b.Schedule {
		b.Schedule[i].Start, b.Schedule[i].End = b.Schedule[i].Start+60, b.Schedule[i].End+60
	}
	want = strings.ReplaceAll(strings.ReplaceAll(want, "09:00-02T10:00", "10:00-02T11:00"), "17:00-02T18:00", "18:00-02T19:00")
	if got := describe(plan([]*team.Batch{b}, records, "2026-03-02", "2026-03-02")); got != want {
		t.Errorf("after the change of the schedule: got\n%s\nwant\n%s", got, want)
	}
	b.CreatedAt, b.ArchivedAt = time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC), time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	if got := len(plan([]*team.Batch{b}, nil, "2026-03-01", "2026-03-31")); got != 4 {
		t.Errorf("a batch of two days has %d trainings, want 4", got)
	}
}

func TestSlotID(t *testing.T) {
	t.Parallel()
	for _, slot := range []int{1, 2, team.MaxSlots} {
		id := slotID(batchID, "2026-03-02", slot)
		if b, d, n, ok := parseSlotID(id); !ok || b != batchID || d != "2026-03-02" || n != slot {
			t.Errorf("%s is %s, %s, %d, %t", id, b, d, n, ok)
		}
	}
	for _, id := range []string{"", ".", batchID, batchID + ".", batchID + ".2026-02-30", batchID + ".2026-03-02.1", batchID + ".2026-03-02.02", batchID + ".2026-03-02.22", batchID + ".2026-03-02.2.2", "x.2026-03-02"} {
		if _, _, _, ok := parseSlotID(id); ok {
			t.Errorf("%q is an id", id)
		}
	}
}

func FuzzParseSlotID(f *testing.F) {
	f.Add(batchID + ".2026-03-02.2")
	f.Fuzz(func(t *testing.T, id string) {
		if b, d, n, ok := parseSlotID(id); ok && slotID(b, d, n) != id {
			t.Errorf("%q is %s", id, slotID(b, d, n))
		}
	})
}

// TestChecks: what is refused before, during and after a training.
func TestChecks(t *testing.T) {
	t.Parallel()
	training := plan([]*team.Batch{batchIn("UTC", team.Slot{Start: 9 * 60, End: 10 * 60})}, nil, "2026-03-02", "2026-03-02")[0]
	at := func(minutes int) time.Time { return training.StartsAt().Add(time.Duration(minutes) * time.Minute) }
	for _, tt := range []struct {
		minutes        int
		answer, change string
	}{{-1, "", ""}, {0, "training_begun", ""}, {59, "training_begun", ""}, {60, "training_begun", "training_begun"}} {
		if got := fault.CodeOf(training.CheckAnswer(at(tt.minutes))); got != tt.answer {
			t.Errorf("answer after %d min: %q, want %q", tt.minutes, got, tt.answer)
		}
		if got := fault.CodeOf(training.CheckChange(at(tt.minutes))); got != tt.change {
			t.Errorf("change after %d min: %q, want %q", tt.minutes, got, tt.change)
		}
	}
}

// TestFeedText: names that could break a line or a program are safe, and a parser reads the feed.
func TestFeedText(t *testing.T) {
	t.Parallel()
	b := batchIn("Europe/London", team.Slot{Start: 18 * 60, End: 19 * 60})
	b.Name = strings.Repeat("नीला समूह; ", 9) + "\r\nEND:VCALENDAR"
	all := plan([]*team.Batch{b}, nil, "2026-03-28", "2026-03-30")
	all[1].CancelledAt, all[1].Reason = time.Unix(1, 0), "Rain, \\ and \"storm\""
	all[2].Kind, all[2].Opponent = Match, "Tigers\nSTATUS:CONFIRMED"
	f := feed{language: "en", firstName: "Asha", answers: map[string]*Answer{all[0].ID: {Attending: false, Reason: "Fever"}}}
	text := string(f.serialize(all))
	if again := string(f.serialize(all)); again != text {
		t.Error("the same trainings give other bytes")
	}
	for _, secret := range []string{"Fever", "Rao"} {
		if strings.Contains(text, secret) {
			t.Errorf("the feed has %s", secret)
		}
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 75 {
			t.Errorf("a line has %d bytes: %s", len(line), line)
		}
	}
	parsed, err := ics.ParseCalendar(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	events := parsed.Events()
	if len(events) != 3 {
		t.Fatalf("%d events, want 3:\n%s", len(events), text)
	}
	for i, want := range []struct{ start, status, summary string }{
		{"20260328T180000Z", "CONFIRMED", "Asha, नीला समूह"}, {"20260329T170000Z", "CANCELLED", "Cancelled: Asha, "}, {"20260330T170000Z", "CONFIRMED", "Match against Tigers"},
	} {
		get := func(p ics.ComponentProperty) string { return events[i].GetProperty(p).Value }
		if get(ics.ComponentPropertyDtStart) != want.start || get(ics.ComponentPropertyStatus) != want.status || !strings.Contains(get(ics.ComponentPropertySummary), want.summary) {
			t.Errorf("event %d: %s %s %s, want %+v", i, get(ics.ComponentPropertyDtStart), get(ics.ComponentPropertyStatus), get(ics.ComponentPropertySummary), want)
		}
	}
}

// TestFeedKeepsNames: a calendar has each name and address as the schedule shows it, also what looks like a link or a number.
func TestFeedKeepsNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ batch, venue, wantVenue string }{
		{"U12 Mon/Wed/Fri", "Plot 12/4, Sector 21, Pune 411001", ""},
		{"Batch 2: Boys", "Gachibowli Stadium, Old Mumbai Highway, Gachibowli, Hyderabad, Telangana 500032", ""},
		{"Juniors 5.30-6.30pm", "Ground no. 3, opp. Sh.No.4", ""},
		{"U-14 & U-16", "B-12/34 Karol Bagh", ""},
		{"Net practice (A)", "https://maps.app.goo.gl/abc123", ""},
		{`U12; "A"\B, Rs 500`, "*Main* _gate_ +91 98765 43210", ""},
		{"नीला/समूह", "North\r\nEND:VCALENDAR\u202e ground", "North END:VCALENDAR ground"},
		{"U12", strings.Repeat("समूह ", 39) + "समूह", ""},
	} {
		b := batchIn("Asia/Kolkata", team.Slot{Start: 60, End: 120})
		b.Name, b.Venue = tt.batch, tt.venue
		all := plan([]*team.Batch{b}, nil, "2026-03-28", "2026-03-28")
		text := string(feed{language: "en"}.serialize(all))
		parsed, err := ics.ParseCalendar(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		e := parsed.Events()[0]
		summary, venue := ics.FromText(e.GetProperty(ics.ComponentPropertySummary).Value), ics.FromText(e.GetProperty(ics.ComponentPropertyLocation).Value)
		if want := cmp.Or(tt.wantVenue, tt.venue); summary != tt.batch || venue != want {
			t.Errorf("the calendar has %q at %q, want %q at %q", summary, venue, tt.batch, want)
		}
		if strings.Contains(text, "METHOD") || strings.Count(text, "VALUE=DURATION") != 1 || !strings.Contains(text, "\r\nREFRESH-INTERVAL;VALUE=DURATION:PT1H\r\n") {
			t.Errorf("the head of the calendar:\n%.300s", text)
		}
	}
}

// TestSubscribeLink: the link of the page opens a calendar program.
func TestSubscribeLink(t *testing.T) {
	t.Parallel()
	c := Calendar{URL: "https://touchline.example:8443/calendars/abc.ics"}
	if got := c.Subscribe(); got != "webcal://touchline.example:8443/calendars/abc.ics" {
		t.Errorf("got %s", got)
	}
}
