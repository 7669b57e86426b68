package progress

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

func TestChart(t *testing.T) {
	values := func(all ...Measurement) []Measurement { return all }
	at := func(on team.Date, v float64) Measurement { return Measurement{Metric: "m", On: on, Value: v} }
	for _, tt := range []struct {
		name string
		list []Measurement // newest first
		line string
	}{
		{"one value", values(at("2026-03-01", 1)), ""},
		{"rising", values(at("2026-03-03", 20), at("2026-03-02", 15), at("2026-03-01", 10)), "56.0,118.0 180.0,67.0 304.0,16.0"},
		{"equal values", values(at("2026-03-03", 5), at("2026-03-01", 5)), "56.0,67.0 304.0,67.0"},
		{"one day", values(at("2026-03-01", 2), at("2026-03-01", 1)), "56.0,118.0 304.0,16.0"},
		{"extremes", values(at("2026-03-02", maxValue), at("2026-03-01", -maxValue)), "56.0,118.0 304.0,16.0"},
	} {
		c := newChart(tt.list)
		if c == nil {
			if tt.line != "" {
				t.Errorf("%s: no chart", tt.name)
			}
			continue
		}
		if c.Line != tt.line {
			t.Errorf("%s: line %s, want %s", tt.name, c.Line, tt.line)
		}
	}
	if views := newMetricViews(values(at("2026-03-01", 1), Measurement{Metric: "other"}, at("2026-02-01", 2))); len(views) != 2 || len(views[0].Values) != 2 {
		t.Errorf("metrics: %+v", views)
	}
}

func FuzzChart(f *testing.F) {
	f.Add("2026-03-02", 1.5, "2026-03-01", -2.0)
	f.Fuzz(func(t *testing.T, day1 string, v1 float64, day2 string, v2 float64) {
		var faults wire.Faults
		if checkValue(v1, &faults); len(faults) > 0 || math.IsNaN(v2) || math.Abs(v2) > maxValue {
			return
		}
		c := newChart([]Measurement{{On: team.Date(day1), Value: v1}, {On: team.Date(day2), Value: v2}})
		for pair := range strings.SplitSeq(c.Line, " ") {
			x, y, _ := strings.Cut(pair, ",")
			for _, coordinate := range []string{x, y} {
				if n, err := strconv.ParseFloat(coordinate, 64); err != nil || math.IsNaN(n) || n < 0 || n > chartWidth {
					t.Fatalf("%v %v: %s", day1, day2, c.Line)
				}
			}
		}
	})
}
