package attendance_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/attendance"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

const today team.Date = "2026-03-02"

var (
	noon     = time.Date(2026, 3, 2, 6, 30, 0, 0, time.UTC)
	marker   = actor.Actor{AccountID: "coach", Role: actor.Coach, SessionID: "session"}
	squadIDs = []string{"p1", "p2", "p3", "p4"}
)

func newSheet() *attendance.Sheet {
	return &attendance.Sheet{Batch: &team.Batch{ID: "b", TimeZone: "UTC"}, Date: today}
}

func squad() map[string]team.Membership {
	all := map[string]team.Membership{}
	for _, id := range squadIDs {
		all[id] = team.Membership{PlayerID: id}
	}
	return all
}

func update(marks ...attendance.NewMark) attendance.SheetUpdate {
	return attendance.SheetUpdate{By: marker, Now: noon, Marks: marks, Members: squad()}
}

// drawMarks draws marks of distinct players, made at different minutes.
func drawMarks(t *rapid.T, name string) []attendance.NewMark {
	var marks []attendance.NewMark
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(squadIDs), 1, len(squadIDs), rapid.ID).Draw(t, name) {
		m := attendance.NewMark{PlayerID: id, Mark: rapid.SampledFrom(team.Marks).Draw(t, "mark")}
		if rapid.Bool().Draw(t, "offline") {
			m.MarkedAt = noon.Add(-time.Duration(rapid.IntRange(1, 600).Draw(t, "minutes")) * time.Minute)
		}
		if rapid.Bool().Draw(t, "noted") {
			note := rapid.SampledFrom([]string{"", "ill", "late bus"}).Draw(t, "note")
			m.Note = &note
		}
		marks = append(marks, m)
	}
	return marks
}

// TestReplaceTwice: the same request again changes nothing, also without If-Match.
func TestReplaceTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSheet()
		if _, err := s.Merge(update(drawMarks(t, "first")...)); err != nil {
			t.Fatal(err)
		}
		u := update(drawMarks(t, "second")...)
		u.IfMatch = attendance.Precondition{Given: true, Versions: []int64{s.Version}}
		if _, err := s.Replace(u); err != nil {
			t.Fatal(err)
		}
		version, marks := s.Version, slices.Clone(s.Marks)
		u.Now = u.Now.Add(time.Hour)
		for _, match := range []attendance.Precondition{{}, {Given: true, Versions: []int64{version - 1}}} {
			u.IfMatch = match
			if c, err := s.Replace(u); err != nil || c.Saves() || s.Version != version || !slices.Equal(s.Marks, marks) {
				t.Fatalf("again: %+v, %v, version %d, want %d", c, err, s.Version, version)
			}
		}
		if len(s.Marks) != len(u.Marks) {
			t.Fatalf("%d marks, want %d", len(s.Marks), len(u.Marks))
		}
	})
}

// TestMergeConverges: marks that were made at different times give the same sheet in every
// order of arrival, and none is lost.
func TestMergeConverges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var sent []attendance.NewMark
		for i := range rapid.IntRange(1, 12).Draw(t, "n") {
			sent = append(sent, attendance.NewMark{
				PlayerID: rapid.SampledFrom(squadIDs).Draw(t, "player"), Mark: rapid.SampledFrom(team.Marks).Draw(t, "mark"),
				MarkedAt: noon.Add(-time.Duration(i+1) * time.Minute),
			})
		}
		want := map[string]team.Mark{}
		for _, m := range slices.Backward(sent) {
			want[m.PlayerID] = m.Mark
		}
		s, kept := newSheet(), 0
		for _, m := range rapid.Permutation(sent).Draw(t, "order") {
			c, err := s.Merge(update(m))
			if err != nil {
				t.Fatal(err)
			}
			kept += len(c.Superseded)
		}
		for _, m := range s.Marks {
			if m.Mark != want[m.PlayerID] || m.Account != "coach" || m.Session != "session" {
				t.Fatalf("%s has %+v, want %s", m.PlayerID, m, want[m.PlayerID])
			}
		}
		if len(s.Marks) != len(want) || len(s.Marks)+kept != len(sent) {
			t.Fatalf("%d marks and %d superseded ones of %d", len(s.Marks), kept, len(sent))
		}
	})
}

func TestReplacePrecondition(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		header []string
		exists bool
		want   string
	}{
		{nil, false, ""},
		{nil, true, "precondition_required"},
		{[]string{`"1"`}, true, ""},
		{[]string{`"7", "1"`}, true, ""},
		{[]string{`"7"`, `"1"`}, true, ""},
		{[]string{"*"}, true, ""},
		{[]string{`"2"`}, true, "precondition_failed"},
		{[]string{`W/"1"`}, true, "precondition_failed"},
		{[]string{`1`}, true, ""}, // the version itself
		{[]string{`2`}, true, "precondition_failed"},
		{[]string{`01`}, true, "precondition_failed"},
		{[]string{`"01"`}, true, "precondition_failed"},
		{[]string{""}, true, "precondition_failed"},
		{[]string{"*"}, false, "precondition_failed"},
		{[]string{`"0"`}, false, ""},
		{[]string{`"1"`}, false, "precondition_failed"},
	} {
		s := newSheet()
		if tt.exists {
			if _, err := s.Replace(update(attendance.NewMark{PlayerID: "p1", Mark: team.Present})); err != nil || s.Version != 1 {
				t.Fatal(s.Version, err)
			}
		}
		u := update(attendance.NewMark{PlayerID: "p1", Mark: team.Absent})
		u.IfMatch = attendance.ParsePrecondition(tt.header)
		if _, err := s.Replace(u); fault.CodeOf(err) != tt.want {
			t.Errorf("%q, exists %t: got %v, want %q", tt.header, tt.exists, err, tt.want)
		}
	}
}

func TestWhoMayBeMarked(t *testing.T) {
	t.Parallel()
	left := noon.Add(-time.Hour)
	joined := noon.AddDate(0, 0, -2)
	for _, tt := range []struct {
		name     string
		date     team.Date
		markedAt time.Time
		marked   bool // before the player left
		want     bool
	}{
		{"the day of joining", "2026-02-28", time.Time{}, false, true},
		{"the day before joining", "2026-02-27", time.Time{}, false, false},
		{"the day before joining, made while in the batch", "2026-02-27", left.Add(-time.Minute), false, false},
		{"the day before joining, made then", "2026-02-27", noon.AddDate(0, 0, -3), false, false},
		{"a correction before joining", "2026-02-27", time.Time{}, true, true},
		{"the day after, made before the player left", "2026-03-03", left.Add(-time.Minute), false, false},
		{"now", today, time.Time{}, false, false},
		{"made before the player left", today, left.Add(-time.Minute), false, true},
		{"made after the player left", today, left.Add(time.Minute), false, false},
		{"the day before", "2026-03-01", time.Time{}, false, true},
		{"the day before, made after the player left", "2026-03-01", noon, false, true},
		{"the day after", "2026-03-03", time.Time{}, false, false},
		{"a correction", today, time.Time{}, true, true},
	} {
		s := newSheet()
		s.Date = tt.date
		if tt.marked {
			if _, err := s.Merge(update(attendance.NewMark{PlayerID: "p1", Mark: team.Present})); err != nil {
				t.Fatal(err)
			}
		}
		u := update(attendance.NewMark{PlayerID: "p1", Mark: team.Absent, MarkedAt: tt.markedAt}, attendance.NewMark{PlayerID: "p2", Mark: team.Present})
		u.Members["p1"] = team.Membership{PlayerID: "p1", JoinedAt: joined, LeftAt: left}
		_, err := s.Merge(u)
		if (err == nil) != tt.want || err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: got %v, want allowed %t", tt.name, err, tt.want)
		}
	}
}

// TestMarksOfAPlayerWhoJoinedAgain: there are no new marks between two stays, nor before the first.
func TestMarksOfAPlayerWhoJoinedAgain(t *testing.T) {
	t.Parallel()
	again := team.Membership{
		PlayerID: "p1", JoinedAt: noon.AddDate(0, 0, -1),
		Earlier: []team.Stay{{JoinedAt: noon.AddDate(0, 0, -9), LeftAt: noon.AddDate(0, 0, -7)}, {JoinedAt: noon.AddDate(0, 0, -5), LeftAt: noon.AddDate(0, 0, -4)}},
	}
	for _, left := range []time.Time{{}, noon} {
		again.LeftAt = left
		for date, want := range map[team.Date]bool{
			"2026-02-20": false, "2026-02-21": true, "2026-02-22": true, "2026-02-24": false, "2026-02-25": true, "2026-02-27": false,
			"2026-02-28": false, "2026-03-01": true, "2026-03-03": left.IsZero(),
		} {
			for name, change := range map[string]func(*attendance.Sheet, attendance.SheetUpdate) (attendance.SheetChange, error){"PUT": (*attendance.Sheet).Replace, "PATCH": (*attendance.Sheet).Merge} {
				s := newSheet()
				s.Date = date
				u := update(attendance.NewMark{PlayerID: "p1", Mark: team.Present})
				u.Members["p1"] = again
				if _, err := change(s, u); (err == nil) != want || err != nil && fault.KindOf(err) != fault.Invalid {
					t.Errorf("%s of %s, left at %v: got %v, want allowed %t", name, date, left, err, want)
				}
			}
		}
	}
}

func TestSheetRefusals(t *testing.T) {
	t.Parallel()
	mark := func(id string, at time.Time) attendance.NewMark {
		return attendance.NewMark{PlayerID: id, Mark: team.Present, MarkedAt: at}
	}
	for name, tt := range map[string]struct {
		date  team.Date
		marks []attendance.NewMark
		want  string
	}{
		"the same player twice":  {today, []attendance.NewMark{mark("p1", noon), mark("p1", noon)}, "/marks/1/player_id duplicate"},
		"not in the batch":       {today, []attendance.NewMark{mark("p1", noon), mark("other", noon)}, "/marks/1/player_id not_in_batch"},
		"a clock in next year":   {today, []attendance.NewMark{mark("p1", noon.AddDate(1, 0, 0))}, "/marks/0/marked_at in_future"},
		"a day in two years":     {"2028-03-02", []attendance.NewMark{mark("p1", noon)}, "/date out_of_range"},
		"a clock a zone ahead":   {today, []attendance.NewMark{mark("p1", noon.Add(14*time.Hour))}, ""},
		"a day of the next week": {"2026-03-09", []attendance.NewMark{mark("p1", noon)}, ""},
	} {
		s := newSheet()
		s.Date = tt.date
		_, err := s.Replace(update(tt.marks...))
		got := ""
		if f, ok := err.(*fault.Error); ok {
			got = f.Fields[0].Pointer + " " + f.Fields[0].Code
		}
		if got != tt.want || tt.want != "" && s.Version != 0 {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	s := newSheet()
	s.Batch.ArchivedAt = noon
	if _, err := s.Replace(update(mark("p1", noon))); fault.CodeOf(err) != "batch_archived" {
		t.Errorf("archived: got %v", err)
	}
}

// TestOutsideSchedule: the first save says whether the day was outside the schedule, and
// later changes keep it.
func TestOutsideSchedule(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		day  time.Weekday
		want bool
	}{{time.Monday, false}, {time.Tuesday, true}} {
		s := newSheet()
		s.Batch.Schedule = team.Schedule{{Weekday: tt.day, Start: 600, End: 660}}
		if _, err := s.Merge(update(attendance.NewMark{PlayerID: "p1", Mark: team.Present})); err != nil {
			t.Fatal(err)
		}
		s.Batch.Schedule = nil
		if _, err := s.Merge(update(attendance.NewMark{PlayerID: "p2", Mark: team.Present})); err != nil || s.OutsideSchedule != tt.want || s.Version != 2 {
			t.Errorf("%s: outside %t, version %d, %v", tt.day, s.OutsideSchedule, s.Version, err)
		}
	}
}
