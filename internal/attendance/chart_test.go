package attendance

import (
	"testing"

	"github.com/touchline/touchline/internal/team"
)

func TestChart(t *testing.T) {
	mark := func(date team.Date, m team.Mark) (a Attended) {
		a.Date, a.Mark = date, m
		return a
	}
	c := newChart([]Attended{
		mark("2026-03-12", team.Absent), mark("2026-03-09", team.Present), // Thursday and Monday
		mark("2026-03-08", team.Late), mark("2026-03-02", team.Present), // Sunday and Monday of the week before
	})
	if c == nil || len(c.Bars) != 2 {
		t.Fatalf("got %+v, want two weeks", c)
	}
	for i, want := range []weekBar{{Monday: "2026-03-02", Percent: 100}, {Monday: "2026-03-09", Percent: 50}} {
		if b := c.Bars[i]; b.Monday != want.Monday || b.Percent != want.Percent || b.Y+b.Height != c.Bottom || b.X < c.Left || b.X+b.Width > c.Right {
			t.Errorf("bar %d: %+v, want %s with %d %%", i, b, want.Monday, want.Percent)
		}
	}
	if c.Bars[0].Y != c.Top {
		t.Errorf("100 %% begins at %d, want %d", c.Bars[0].Y, c.Top)
	}
	if c := newChart([]Attended{mark("2026-03-12", team.Present)}); c != nil {
		t.Errorf("a chart of one week: %+v", c)
	}
}
